"""Invented secrets of every kind, made when they are needed: none stands in a file of ours."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

__all__ = ["Secret", "secrets"]

ANY = ascii_letters + digits
URL = ANY + "-_"
BASE64 = ANY + "+/"
HEX = "0123456789abcdef"
BASE32 = ascii_uppercase + "234567"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


class Secret(NamedTuple):
    """`text` is how somebody would come upon it; `value` must not be left in it."""

    kind: str
    value: str
    text: str


class _Maker:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def of(self, letters: str, size: int) -> str:
        return "".join(self._random.choices(letters, k=size))

    def github(self, begin: str) -> str:
        body = self.of(ANY, 30)
        return begin + body + _base62(zlib.crc32(body.encode()))

    def jwt(self) -> str:
        head = _base64({"alg": "HS256", "typ": "JWT"})
        body = _base64({"sub": self.of(HEX, 12), "iat": self._random.randrange(10**9)})
        return f"{head}.{body}.{self.of(URL, 43)}"

    def pypi(self) -> str:
        data = b"\x02\x01\x08pypi.org\x02\x24" + self._random.randbytes(100)
        return "pypi-" + base64.urlsafe_b64encode(data).decode().rstrip("=")

    def grafana(self) -> str:
        body = "glsa_" + self.of(ANY, 32)
        return f"{body}_{zlib.crc32(body.encode()):08x}"

    def age(self) -> str:
        data = [self._random.randrange(32) for _ in range(52)]
        name = "age-secret-key-"
        values = [ord(c) >> 5 for c in name] + [0] + [ord(c) & 31 for c in name] + data
        total = _polymod(values + [0] * 6) ^ 1
        data += [total >> 5 * (5 - at) & 31 for at in range(6)]
        return (name + "1" + "".join(_BECH32[value] for value in data)).upper()

    def pem(self, what: str, lines: int = 6) -> str:
        body = "\n".join(self.of(BASE64, 64) for _ in range(lines))
        tail = self.of(BASE64, 14) + "=="
        return f"-----BEGIN {what}-----\nMII{body}\n{tail}\n-----END {what}-----"

    def uuid(self) -> str:
        return "-".join(self.of(HEX, size) for size in (8, 4, 4, 4, 12))

    def basic(self) -> str:
        return base64.b64encode(f"deploy:{self.of(ANY, 18)}".encode()).decode()


def _base62(number: int) -> str:
    letters = digits + ascii_uppercase + ascii_lowercase
    text = ""
    while number:
        number, digit = divmod(number, 62)
        text = letters[digit] + text
    return text.rjust(6, "0")


def _base64(value: object) -> str:
    data = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _polymod(values: list[int]) -> int:
    total = 1
    for value in values:
        top = total >> 25
        total = (total & 0x1FFFFFF) << 5 ^ value
        for at, factor in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            total ^= factor if top >> at & 1 else 0
    return total


#: What is recognised wherever it stands.
_TOKENS: dict[str, Callable[[_Maker], str]] = {
    "github-token": lambda m: m.github("ghp_"),
    "github-fine-grained-token": lambda m: f"github_pat_{m.of(ANY, 22)}_{m.of(ANY, 59)}",
    "gitlab-token": lambda m: "glpat-" + m.of(URL, 20),
    "bitbucket-token": lambda m: "ATBB" + m.of(ANY, 32),
    "atlassian-token": lambda m: f"ATATT3xFfGF0{m.of(URL, 170)}={m.of('0123456789ABCDEF', 8)}",
    "npm-token": lambda m: m.github("npm_"),
    "pypi-token": lambda m: m.pypi(),
    "rubygems-key": lambda m: "rubygems_" + m.of(HEX, 48),
    "crates-token": lambda m: "cio" + m.of(ANY, 32),
    "nuget-key": lambda m: "oy2" + m.of(ascii_lowercase + digits, 43),
    "docker-token": lambda m: "dckr_pat_" + m.of(URL, 27),
    "circleci-token": lambda m: f"CCIPAT_{m.of(ANY, 22)}_{m.of(HEX, 40)}",
    "linear-key": lambda m: "lin_api_" + m.of(ANY, 40),
    "postman-key": lambda m: f"PMAK-{m.of(HEX, 24)}-{m.of(HEX, 34)}",
    "aws-access-key-id": lambda m: "AKIA" + m.of(BASE32, 16),
    "google-api-key": lambda m: "AIza" + m.of(URL, 35),
    "google-oauth-token": lambda m: "ya29." + m.of(URL, 60),
    "google-oauth-secret": lambda m: "GOCSPX-" + m.of(URL, 28),
    "azure-client-secret": lambda m: m.of(ANY, 3) + "8Q~" + m.of(ANY + "-_.~", 33) + "a",
    "azure-devops-token": lambda m: m.of(ANY, 76) + "AZDO" + m.of(ANY, 4),
    "azure-openai-key": lambda m: m.of(ANY, 52) + "JQQJ9" + m.of(ANY, 27),
    "digitalocean-token": lambda m: "dop_v1_" + m.of(HEX, 64),
    "alibaba-key-id": lambda m: "LTAI" + m.of(ANY, 20),
    "heroku-key": lambda m: "HRKU-AA" + m.of(URL, 58),
    "netlify-token": lambda m: "nfp_" + m.of(ANY, 36),
    "supabase-key": lambda m: "sbp_" + m.of(HEX, 40),
    "planetscale-token": lambda m: "pscale_tkn_" + m.of(URL, 43),
    "databricks-token": lambda m: "dapi" + m.of(HEX, 32),
    "terraform-token": lambda m: m.of(ANY, 14) + ".atlasv1." + m.of(URL, 66) + "a",
    "vault-token": lambda m: "hvs." + m.of(URL, 90),
    "pulumi-token": lambda m: "pul-" + m.of(HEX, 40),
    "doppler-token": lambda m: "dp.pt." + m.of(ANY, 43),
    "tailscale-key": lambda m: f"tskey-auth-{m.of(ANY, 12)}CNTRL-{m.of(ANY, 32)}",
    "anthropic-key": lambda m: f"sk-ant-api03-{m.of(URL, 93)}AA",
    "openai-key": lambda m: "sk-proj-" + m.of(URL, 120) + "a",
    "openrouter-key": lambda m: "sk-or-v1-" + m.of(HEX, 64),
    "langfuse-key": lambda m: "sk-lf-" + m.uuid(),
    "model-key": lambda m: "sk-" + m.of(HEX, 32),
    "huggingface-token": lambda m: "hf_" + m.of(ascii_letters, 34),
    "replicate-token": lambda m: "r8_" + m.of(ANY, 37),
    "groq-key": lambda m: "gsk_" + m.of(ANY, 52),
    "xai-key": lambda m: "xai-" + m.of(ANY, 80),
    "perplexity-key": lambda m: "pplx-" + m.of(ANY, 48),
    "nvidia-key": lambda m: "nvapi-" + m.of(URL, 63) + "a",
    "tavily-key": lambda m: "tvly-" + m.of(ANY, 32),
    "langsmith-key": lambda m: f"lsv2_pt_{m.of(HEX, 32)}_{m.of(HEX, 10)}",
    "slack-token": lambda m: f"xoxb-{m.of(digits, 12)}-{m.of(digits, 12)}-{m.of(ANY, 24)}",
    "telegram-bot-token": lambda m: f"{m.of('123456789', 10)}:AA{m.of(URL, 32)}a",
    "sendgrid-key": lambda m: f"SG.{m.of(URL, 22)}.{m.of(URL, 42)}a",
    "mailgun-key": lambda m: "key-" + m.of(HEX, 32),
    "mailchimp-key": lambda m: m.of(HEX, 32) + "-us12",
    "brevo-key": lambda m: f"xkeysib-{m.of(HEX, 64)}-{m.of(ANY, 16)}",
    "twilio-key": lambda m: "SK" + m.of(HEX, 32),
    "figma-token": lambda m: "figd_" + m.of(URL, 40),
    "notion-token": lambda m: "ntn_" + m.of(ANY, 46),
    "stripe-key": lambda m: "sk_live_" + m.of(ANY, 99),
    "webhook-secret": lambda m: "whsec_" + m.of(ANY, 32),
    "shopify-token": lambda m: "shpat_" + m.of(HEX, 32),
    "square-token": lambda m: "sq0csp-" + m.of(URL, 42) + "a",
    "shippo-key": lambda m: "shippo_live_" + m.of(HEX, 40),
    "newrelic-key": lambda m: "NRAK-" + m.of(ascii_uppercase + digits, 27),
    "grafana-token": lambda m: m.grafana(),
    "sentry-token": lambda m: "sntryu_" + m.of(HEX, 64),
    "dynatrace-token": lambda m: f"dt0c01.{m.of(BASE32, 24)}.{m.of(BASE32, 64)}",
    "clojars-token": lambda m: "CLOJARS_" + m.of(HEX, 60),
    "octopus-key": lambda m: "API-" + m.of(ascii_uppercase + digits, 26),
    "harness-token": lambda m: f"pat.{m.of(ANY, 22)}.{m.of(HEX, 24)}.{m.of(ANY, 20)}",
    "infracost-key": lambda m: "ico-" + m.of(ANY, 32),
    "cloudflare-key": lambda m: f"v1.0-{m.of(HEX, 24)}-{m.of(HEX, 146)}",
    "scalingo-token": lambda m: "tk-us-" + m.of(ANY, 48),
    "yandex-key": lambda m: "AQVN" + m.of(ANY, 36),
    "yandex-token": lambda m: f"t1.{m.of(ANY, 120)}.{m.of(ANY, 86)}",
    "render-key": lambda m: "rnd_" + m.of(ANY, 28),
    "firecrawl-key": lambda m: "fc-" + m.of(HEX, 32),
    "e2b-key": lambda m: "e2b_" + m.of(HEX, 40),
    "jina-key": lambda m: "jina_" + m.of(ANY, 60),
    "voyage-key": lambda m: "pa-" + m.of(ANY, 43),
    "brave-key": lambda m: "BSA" + m.of(ANY, 28),
    "wandb-key": lambda m: "wandb_v1_" + m.of(ANY, 60),
    "airtable-token": lambda m: f"patK{m.of(ANY, 13)}.{m.of(HEX, 64)}",
    "asana-token": lambda m: f"2/12{m.of(digits, 14)}/12{m.of(digits, 14)}:{m.of(HEX, 32)}",
    "mapbox-token": lambda m: (
        f"sk.{_base64({'u': m.of(HEX, 8), 'a': m.of(HEX, 24)})}.{m.of(ANY, 22)}"
    ),
    "mailersend-token": lambda m: "mlsn." + m.of(HEX, 64),
    "frameio-token": lambda m: "fio-u-" + m.of(ANY, 64),
    "adafruit-key": lambda m: "aio_" + m.of(ANY, 28),
    "plaid-token": lambda m: "access-production-" + m.uuid(),
    "braintree-token": lambda m: f"access_token$production${m.of(HEX, 16)}${m.of(HEX, 32)}",
    "flutterwave-key": lambda m: f"FLWSECK-{m.of(HEX, 32)}-X",
    "duffel-token": lambda m: "duffel_live_" + m.of(ANY, 43),
    "launchdarkly-key": lambda m: "sdk-" + m.uuid(),
    "maxmind-key": lambda m: f"{m.of(ANY, 6)}_{m.of(ANY, 29)}_mmk",
    "age-key": lambda m: m.age(),
    "jwt": lambda m: m.jwt(),
}
#: What is recognised by what stands around it.
_PLACES: dict[str, tuple[Callable[[_Maker], str], str]] = {
    "aws-secret-key": (lambda m: m.of(BASE64, 40), "aws_secret_access_key = {}"),
    "azure-key": (
        lambda m: m.of(BASE64, 86) + "==",
        "DefaultEndpointsProtocol=https;AccountName=pictures;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    "azure-sas": (
        lambda m: m.of(ANY, 40) + "%2Bx%3D",
        "https://pictures.blob.core.windows.net/c?sv=2024-11-04&sig={}",
    ),
    "slack-webhook": (
        lambda m: f"T{m.of(BASE32, 8)}/B{m.of(BASE32, 10)}/{m.of(ANY, 24)}",
        "https://hooks.slack.com/services/{}",
    ),
    "discord-webhook": (
        lambda m: m.of(URL, 68),
        "https://discord.com/api/webhooks/" + "11873" * 4 + "/{}",
    ),
    "url-password": (lambda m: m.of(ANY, 14), "postgresql://shop:{}@db.internal:5432/shop"),
    "basic-auth": (lambda m: m.basic(), "Authorization: Basic {}"),
    "bearer-token": (
        lambda m: m.of(ANY, 40),
        "curl -H 'Authorization: Bearer {}' https://api.internal/v1",
    ),
    "cookie": (lambda m: m.of(ANY, 40), "Cookie: theme=dark; sessionid={}; lang=ja"),
    "password": (lambda m: m.of(ANY, 9) + "!7", "DB_PASSWORD={}"),
    "secret": (lambda m: m.of(ANY, 32), 'client_secret: "{}"'),
    "token": (lambda m: m.of(HEX, 40), '{{"access_token": "{}", "expires_in": 3600}}'),
    "key": (lambda m: m.of(ANY, 32), "const client = new Client({{ apiKey: '{}' }})"),
    "zapier-webhook": (
        lambda m: m.of(ascii_lowercase, 3) + "7k2x",
        "https://hooks.zapier.com/hooks/catch/7266131/{}/",
    ),
    "authorization": (lambda m: "00" + m.of(ANY, 40), "Authorization: SSWS {}"),
    "django-key": (
        lambda m: "django-insecure-" + m.of(ANY + "!@#$%^&*(-_=+)", 50),
        "SECRET_KEY = '{}'",
    ),
    "wordpress-key": (
        lambda m: m.of(ANY + "!@#%^&*()_+ ", 63) + "x",
        "define( 'SECURE_AUTH_KEY',  '{}' );",
    ),
    "password-hash": (lambda m: "$2b$12$" + m.of(ANY + "./", 53), "admin:{}:1000"),
    "command-password": (lambda m: m.of(ANY, 16), "curl -u deploy:{} https://files.internal/x"),
    "private-key": (lambda m: m.pem("RSA PRIVATE KEY"), "{}"),
    "ssh-private-key": (lambda m: m.pem("OPENSSH PRIVATE KEY"), "cat id_ed25519\n{}\n"),
    "pgp-private-key": (lambda m: m.pem("PGP PRIVATE KEY BLOCK", 20), "{}"),
}


def secrets(count: int, seed: int = 1) -> list[Secret]:
    """As many as wanted, of every kind in turn."""
    maker = _Maker(seed)
    made: list[Secret] = []
    while len(made) < count:
        made += [
            Secret(kind, value := make(maker), f"use {value} here")
            for kind, make in _TOKENS.items()
        ]
        for kind, (make, place) in _PLACES.items():
            made.append(Secret(kind, value := make(maker), place.format(value)))
    # Not only the first kinds of the table.
    step = next(step for step in (37, 41, 43) if len(made) % step)
    return [made[at * step % len(made)] for at in range(count)]
