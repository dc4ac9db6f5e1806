"""The forms of the keys that vendors give out: how each begins, and what has to follow.

One row per form. A form is tried only where one of its beginnings stands, so that a long text
costs little; what must hold beyond its form is checked by `checks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_letters, digits
from typing import NamedTuple

from rireki.masking import checks
from rireki.masking.checks import is_placeholder, is_random, is_secret

__all__ = ["SHAPES", "Shape"]

#: Nothing of a word stands before: neither the end of an escape, nor of a colour of the terminal,
#: nor of a percent-encoded character is one.
LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=[0-9]m)|(?<=%[0-9A-F]{2}))"
RIGHT = r"(?![A-Za-z0-9])"


class Shape(NamedTuple):
    kind: str
    #: What stands where it begins.
    begins: tuple[bytes, ...]
    #: Its group `secret` is masked; `check` is given the group `body`, where there is one.
    pattern: re.Pattern[bytes]
    check: Callable[[bytes], bool] = is_secret
    #: How many bytes before its beginning the pattern starts.
    back: int = 0


def _token(kind: str, begins: str, rest: str, check: Callable[[bytes], bool] = is_secret) -> Shape:
    """Masked is one of `begins` and the `rest`; checked the rest."""
    start = "|".join(map(re.escape, begins.split()))
    return _part(kind, begins, rf"{LEFT}(?P<secret>(?:{start})(?P<body>{rest})){RIGHT}", check)


def _whole(kind: str, begins: str, rest: str, check: Callable[[bytes], bool]) -> Shape:
    """Masked and checked are both together."""
    start = "|".join(map(re.escape, begins.split()))
    return _part(kind, begins, rf"{LEFT}(?P<secret>(?:{start}){rest}){RIGHT}", check)


def _around(kind: str, back: int, letters: str, begins: str, rest: str) -> Shape:
    """Recognised by what stands in its middle, `back` of `letters` behind its beginning."""
    middle = "|".join(map(re.escape, begins.split()))
    pattern = rf"{LEFT}(?P<secret>{letters}{{{back}}}(?:{middle}){rest}){RIGHT}"
    return _part(kind, begins, pattern)._replace(back=back)


def _part(
    kind: str, begins: str, pattern: str, check: Callable[[bytes], bool] = is_secret
) -> Shape:
    """Masked is only the group `secret` of the pattern."""
    return Shape(kind, tuple(begins.encode().split()), re.compile(pattern.encode()), check)


def _command(
    programs: str, option: str, check: Callable[[bytes], bool] = checks.is_password
) -> Shape:
    """What an option of a command is given, in the same line."""
    names = "|".join(programs.split())
    pattern = rf"(?:{names})[ ][^\n\r;&|]{{0,120}}?(?<=[ ]){option}\\*[\"']?(?P<secret>[^\s\"'`\\]{{8,128}})"
    return _part("command-password", programs, pattern, check)


def _not_example(value: bytes) -> bool:
    """For forms so narrow that words cannot have them."""
    return not is_placeholder(value)


# ── addresses ──

#: What stands for a password in addresses of examples.
_EXAMPLES = frozenset(
    b"pass passwd password pwd secret token x-oauth-basic pw user username mypassword mypass userpass "
    b"postgres root admin guest test testing local localhost dev changeme foo bar baz hunter2 pass123 "
    b"password123 p4ssw0rd 123456 12345678 12345 1234 123 xxx dbpass dbpassword redis mysql rabbitmq "
    b"minio minioadmin mongo app apikey api_key key login credentials port 80 443 8080 email".split()
)


def _is_in_address(user_and_password: bytes) -> bool:
    user, _, password = user_and_password.partition(b":")
    lower = password.lower()
    if lower in _EXAMPLES or lower == user.lower() or checks.is_elsewhere(password):
        return False
    return bool(password.strip(b"*x.#")) and not checks.says_placeholder(password)


# ── the table ──

_HEX = "[0-9a-f]"
_ANY = "[A-Za-z0-9]"
_URL = "[A-Za-z0-9_-]"
#: Not before the letters of "path" and "pattern", which every line of an agent has.
_PAT = " ".join(f"pat{letter}" for letter in ascii_letters + digits if letter not in "ht")
_GUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_JWT = rf"{_URL}{{8,}}\.{_URL}{{8,}}(?:\.{_URL}*){{1,3}}"

SHAPES: tuple[Shape, ...] = (
    # Where code is kept and built.
    _token(
        "github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ANY}{{36,251}}", checks.fits_base62_sum
    ),
    _token("github-fine-grained-token", "github_pat_", rf"{_ANY}{{22}}_{_ANY}{{59}}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glimt- gloas- glffct-",
        rf"{_URL}{{20,300}}(?:\.[0-9a-z]{{2,9}}){{0,2}}",
    ),
    _token("bitbucket-token", "ATBB", rf"{_ANY}{{32}}"),
    _token("atlassian-token", "ATATT3 ATCTT3", rf"{_URL}{{100,}}(?:=[0-9A-F]{{8}})?"),
    _token("npm-token", "npm_", rf"{_ANY}{{36}}", checks.fits_base62_sum),
    _token("pypi-token", "pypi-", rf"{_URL}{{60,}}", checks.fits_pypi),
    _token("rubygems-key", "rubygems_", rf"{_HEX}{{48}}"),
    _token("crates-token", "cio", rf"{_ANY}{{32}}"),
    _token("nuget-key", "oy2", r"[a-z0-9]{43}"),
    _token("docker-token", "dckr_pat_ dckr_oat_", rf"{_URL}{{27,40}}"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", rf"{_ANY}{{22}}_{_HEX}{{40}}"),
    _token("buildkite-token", "bkua_", rf"{_HEX}{{40}}"),
    _token("sonar-token", "sqp_ squ_ sqa_", rf"{_HEX}{{40}}"),
    _token("sourcegraph-token", "sgp_", rf"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    _token("artifactory-key", "AKCp", rf"{_ANY}{{69}}"),
    _token("artifactory-token", "cmVmdGtuOj", rf"{_ANY}{{54}}"),
    _token("readme-key", "rdme_", r"[a-z0-9]{70}"),
    _token("deno-token", "ddp_ ddo_", rf"{_ANY}{{36}}"),
    _token("clojars-token", "CLOJARS_", rf"{_HEX}{{60}}"),
    _token("octopus-key", "API-", r"[A-Z0-9]{26}"),
    _token("harness-token", "pat. sat.", rf"{_URL}{{22}}\.{_HEX}{{24}}\.{_ANY}{{20}}"),
    _token("infracost-key", "ico-", rf"{_ANY}{{32}}"),
    _token("linear-key", "lin_api_ lin_oauth_", rf"{_ANY}{{40,64}}"),
    _token("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    _token("trello-token", "ATTA", r"[0-9a-f]{64}[0-9A-F]{8}"),
    # Clouds.
    _token("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}", _not_example),
    _part(
        "aws-secret-key",
        "AKIA ASIA",
        rf"{LEFT}A[KS]IA[A-Z2-7]{{16}}[\s,:;|\"']{{1,6}}(?P<secret>[A-Za-z0-9+/]{{40}})(?![A-Za-z0-9+/=])",
        is_random,
    ),
    _token("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,}={0,2}"),
    _token("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{60,}"),
    _token(
        "aws-mws-key", "amzn.mws.", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}", _not_example
    ),
    _token("google-api-key", "AIza", rf"{_URL}{{35}}"),
    _token("google-api-key", "AQ.Ab", rf"{_URL}{{40,}}"),
    _token("google-oauth-token", "ya29.", r"[A-Za-z0-9_.-]{20,}"),
    _token("google-oauth-secret", "GOCSPX-", rf"{_URL}{{28}}"),
    _token("google-refresh-token", "1//0", rf"{_URL}{{40,}}"),
    _part(
        "azure-key",
        "AccountKey= SharedAccessKey= AccessKey=",
        r"\w+Key=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
        is_random,
    ),
    _part("azure-sas", "sig=", r"sig=(?P<secret>[A-Za-z0-9%+/_-]{43,}=?)", is_random),
    _around(
        "azure-client-secret",
        3,
        r"[\w.~-]",
        " ".join(f"{n}Q~" for n in range(10)),
        r"[\w.~-]{31,34}",
    ),
    _around("azure-devops-token", 76, _ANY, "AZDO", rf"{_ANY}{{4}}"),
    _around("azure-openai-key", 52, _ANY, "JQQJ9", rf"{_ANY}{{27}}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    _token("alibaba-key-id", "LTAI", rf"{_ANY}{{16,20}}"),
    _token("heroku-key", "HRKU-", rf"{_URL}{{36,60}}", _not_example),
    _token("fly-token", "fo1_", rf"{_URL}{{43}}"),
    _token("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/_-]{100,}={0,3}"),
    _token("netlify-token", "nfp_ nfc_ nfu_", rf"{_ANY}{{36}}"),
    _token("supabase-key", "sbp_ sb_secret_", rf"{_URL}{{31,44}}"),
    _token("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,64}"),
    _token("neon-key", "napi_", r"[a-z0-9]{60,}"),
    _token("databricks-token", "dapi", rf"{_HEX}{{32}}(?:-\d)?"),
    _token("terraform-token", "hcp.", rf"{_ANY}{{14}}\.{_URL}{{60,}}"),
    _around("terraform-token", 14, _ANY, ".atlasv1.", rf"{_URL}{{60,70}}"),
    _token("vault-token", "hvs. hvb. hvr.", rf"{_URL}{{24,}}"),
    _token("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    _token(
        "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.]{40,}"
    ),
    _token("prefect-key", "pnu_ pnb_", rf"{_ANY}{{36}}"),
    _token(
        "tailscale-key",
        "tskey-",
        rf"(?:auth|api|client|scim|webhook)-{_ANY}{{8,}}(?:-{_ANY}{{16,}})?",
    ),
    _token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,}={0,3}"),
    _token(
        "1password-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    _token("cloudflare-key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{146}}"),
    _token("scalingo-token", "tk-us- tk-eu-", rf"{_URL}{{48}}"),
    _token("yandex-key", "AQVN", rf"{_URL}{{35,38}}"),
    _token("yandex-token", "t1.", rf"[A-Z0-9a-z_-]{{20,}}=*\.{_URL}{{86}}=*"),
    _token("render-key", "rnd_", rf"{_ANY}{{28,40}}"),
    # Models.
    _token("anthropic-key", "sk-ant-", rf"{_URL}{{24,}}"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_URL}{{20,}}"),
    _token("openai-key", "sk-", rf"{_ANY}{{20}}T3BlbkFJ{_ANY}{{20}}"),
    _token("openrouter-key", "sk-or-v1-", rf"{_HEX}{{64}}"),
    _token(
        "langfuse-key", "sk-lf-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}", _not_example
    ),
    _token("model-key", "sk-", rf"{_ANY}{{32,64}}"),
    _token("huggingface-token", "hf_ api_org_", r"[A-Za-z]{34}|[A-Za-z0-9]{34,40}"),
    _token("replicate-token", "r8_", rf"{_ANY}{{37}}"),
    _token("groq-key", "gsk_", rf"{_ANY}{{52}}"),
    _token("xai-key", "xai-", rf"{_ANY}{{70,90}}"),
    _token("perplexity-key", "pplx-", rf"{_ANY}{{40,64}}"),
    _token("pinecone-key", "pcsk_", rf"{_ANY}{{5,6}}_{_ANY}{{50,80}}"),
    _token("nvidia-key", "nvapi-", rf"{_URL}{{60,80}}"),
    _token("tavily-key", "tvly-", rf"(?:dev-|prod-)?{_URL}{{30,60}}"),
    _token("cerebras-key", "csk-", r"[a-z0-9]{48}"),
    _token("fireworks-key", "fw_", rf"{_ANY}{{22,24}}"),
    _token("elevenlabs-key", "sk_", rf"{_HEX}{{48}}"),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    _token("together-key", "tgp_v1_", rf"{_URL}{{40,}}"),
    _token("firecrawl-key", "fc-", rf"{_HEX}{{32}}"),
    _token("e2b-key", "e2b_", rf"{_HEX}{{40}}"),
    _token("jina-key", "jina_", rf"{_URL}{{60}}"),
    _token("voyage-key", "pa-", rf"{_URL}{{43}}"),
    _token("brave-key", "BSA", rf"{_URL}{{28}}"),
    _token("wandb-key", "wandb_v1_", rf"{_URL}{{40,}}"),
    # Talking with people.
    _token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe. xapp-",
        r"[A-Za-z0-9%.-]{20,}",
    ),
    _part(
        "slack-webhook",
        "hooks.slack.com/",
        rf"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Z0-9]+/[A-Z0-9]+/(?P<body>{_ANY}{{16,}})(?:/{_ANY}+)?)",
    ),
    _part(
        "discord-webhook",
        "/api/webhooks/",
        rf"/api/webhooks/[0-9]{{17,20}}/(?P<secret>{_URL}{{60,}})",
    ),
    _part(
        "teams-webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/(?P<secret>webhookb2/[\w@/-]{60,})",
        _not_example,
    ),
    _part("telegram-bot-token", ":AA", rf"(?<=[0-9]{{8}})(?P<secret>:AA{_URL}{{33}}){RIGHT}"),
    _token("sendgrid-key", "SG.", rf"{_URL}{{22}}\.{_URL}{{43}}"),
    _token("mailgun-key", "key-", rf"{_HEX}{{32}}"),
    _around("mailchimp-key", 32, _HEX, " ".join(f"-us{n}" for n in range(1, 10)), r"[0-9]?"),
    _token("brevo-key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ANY}{{16}}"),
    _token("resend-key", "re_", rf"{_ANY}{{8}}_{_ANY}{{24}}"),
    _token("twilio-key", " ".join(f"SK{digit}" for digit in "0123456789abcdef"), rf"{_HEX}{{31}}"),
    _token("figma-token", "figd_ figo_ figu_", rf"{_URL}{{40,}}"),
    _token("notion-token", "ntn_ secret_", rf"{_ANY}{{43,50}}"),
    _token("typeform-token", "tfp_", r"[\w.-]{40,60}"),
    _token("contentful-token", "CFPAT-", rf"{_URL}{{43}}"),
    _token("dropbox-token", "sl.u. sl.B sl.A", rf"{_URL}{{120,}}"),
    _token("facebook-token", "EAA", rf"{_ANY}{{80,}}"),
    _around("firebase-key", 11, _URL, ":APA91b", rf"{_URL}{{100,}}"),
    _part("zapier-webhook", "/hooks/catch/", r"/hooks/catch/[0-9]+/(?P<secret>[a-z0-9]{6,10})\b"),
    _token("airtable-token", _PAT, rf"{_ANY}{{13}}\.{_HEX}{{64}}"),
    _token("asana-token", "1/1 2/1", rf"[0-9]{{10,18}}(?:/[0-9]{{10,18}})?:{_HEX}{{32}}"),
    _token("mapbox-token", "sk.eyJ", rf"{_URL}{{40,}}\.{_URL}{{20,}}"),
    _token("mailersend-token", "mlsn.", rf"{_HEX}{{64}}"),
    _token("frameio-token", "fio-u-", rf"{_URL}{{64}}"),
    _token("adafruit-key", "aio_", rf"{_ANY}{{28}}"),
    # Money and shops.
    _token("plaid-token", "access-", rf"(?:sandbox|development|production)-{_GUID}", _not_example),
    _token("braintree-token", "access_token$", rf"production\$[0-9a-z]{{16}}\${_HEX}{{32}}"),
    _token("flutterwave-key", "FLWSECK-", rf"{_HEX}{{32}}-X"),
    _token("flutterwave-key", "FLWSECK_TEST-", rf"{_HEX}{{32}}-X"),
    _token("duffel-token", "duffel_live_ duffel_test_", rf"{_URL}{{43}}"),
    _token(
        "stripe-key",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ sk_org_",
        rf"{_ANY}{{16,247}}",
    ),
    _token("webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", r"[0-9a-fA-F]{32}"),
    _token("square-token", "sq0atp- sq0csp- EAAAE EAAAl", rf"{_URL}{{22,64}}"),
    _token("easypost-key", "EZAK EZTK", rf"{_ANY}{{54}}"),
    _token("shippo-key", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    # Watching machines.
    _token("newrelic-key", "NRAK- NRII- NRRA- NRJS- NRAL-", rf"{_URL}{{19,32}}"),
    _whole("grafana-token", "glsa_", rf"{_ANY}{{32}}_{_HEX}{{8}}", checks.fits_grafana),
    _token("grafana-cloud-token", "glc_eyJ", r"[A-Za-z0-9+/_-]{40,}={0,2}"),
    _token("sentry-token", "sntrys_ sntryu_ sntrya_", r"[A-Za-z0-9+/=_-]{60,}"),
    _token("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("posthog-key", "phx_", rf"{_ANY}{{43,}}"),
    _token("launchdarkly-key", "sdk- api-", _GUID, _not_example),
    _around("maxmind-key", 36, r"[A-Za-z0-9_]", "_mmk", ""),
    # Of no vendor.
    _whole("jwt", "eyJ", _JWT, checks.fits_jwt),
    _whole(
        "age-key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", checks.fits_age
    ),
    _whole("private-key", "LS0tLS1CRUdJTi", r"[A-Za-z0-9+/]{60,}={0,2}", checks.fits_pem_in_base64),
    _part(
        "url-password",
        "://",
        r"://(?P<body>[^\s:/@\"'`<>\\?#]{0,80}:(?P<secret>[^\s/@\"'`<>\\]{4,128}))@(?=[\w\[.$-])",
        _is_in_address,
    ),
    _part("url-token", "://", rf"://(?P<secret>{_URL}{{20,}})@(?=[\w-]+\.)", is_random),
    _part(
        "basic-auth",
        "Basic basic",
        r"[Bb]asic[ ]+(?P<secret>[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/=])",
        checks.fits_basic,
    ),
    _part(
        "docker-auth",
        'auth" auth\\"',
        r"auth\\*\"\s*:\s*\\*\"(?P<secret>[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/=])",
        checks.fits_basic,
    ),
    _part(
        "bearer-token",
        "Bearer bearer BEARER",
        r"[Bb](?:earer|EARER)[ ]+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)",
        is_random,
    ),
    _part(
        "authorization",
        "SSWS GenieKey",
        r"(?:SSWS|GenieKey)[ ]+(?P<secret>[A-Za-z0-9_-]{30,64})(?![A-Za-z0-9_-])",
        _not_example,
    ),
    _part(
        "password-hash",
        "$apr1$ $1$",
        r"(?P<secret>\$(?:apr1|1)\$[A-Za-z0-9./]{2,8}\$(?P<body>[A-Za-z0-9./]{22}))(?![A-Za-z0-9./])",
    ),
    _part(
        "password-hash",
        "$2a$ $2b$ $2y$",
        r"(?P<secret>\$2[aby]\$[0-9]{2}\$(?P<body>[A-Za-z0-9./]{53}))",
    ),
    _part(
        "password-hash",
        "$argon2",
        r"(?P<secret>\$argon2(?:id|i|d)\$[\w=,$]+\$(?P<body>[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}))",
    ),
    _part(
        "password-hash",
        "$6$ $5$ $y$",
        r"(?P<secret>\$[65y]\$[A-Za-z0-9./$=]{1,40}\$(?P<body>[A-Za-z0-9./]{43,}))",
    ),
    _part(
        "command-password",
        "-u --user sshpass",
        r"(?:-u|--user|--proxy-user)[ =]\\*[\"']?[\w.@+-]{1,64}:(?P<secret>[^\s\"'`\\:]{8,128})",
        checks.is_password,
    ),
    _part(
        "command-password",
        "sshpass",
        r"sshpass[ ]+-p[ ]*\\*[\"']?(?P<secret>[^\s\"'`\\]{6,128})",
        checks.is_chosen,
    ),
    # Options of commands that take a password, without a word that says so.
    _command("mysql mysqldump mysqladmin mariadb 7z 7za", "-p"),
    _command("redis-cli valkey-cli", "-a[ ]+"),
    _command("login", "-p[ ]+"),
    _command("openssl", "-(?:k|K)[ ]+"),
    _command("zip unzip", "-P[ ]+"),
    _command("secret", "(?:--body|-b)[ =]+", is_random),
    # The keys that frameworks make up for a project: of any signs, also spaces.
    _part(
        "django-key",
        "django-insecure-",
        r"(?P<secret>django-insecure-[^\s\"'`\\]{30,64})",
        _not_example,
    ),
    _part(
        "wordpress-key",
        "_KEY' _SALT'",
        r"_(?:KEY|SALT)',\s{1,20}'(?P<secret>[^'\n\\]{60,70})'\s{0,4}\)",
        _not_example,
    ),
)
