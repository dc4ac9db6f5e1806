"""Values beside a name that says secret: `password=…`, `"apiKey": "…"`, `export DB_TOKEN=…`.

Alone such a value tells nothing, so it must look like a secret; and how much is asked of it
depends on the name. Cookies are the same under another roof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rireki.masking.checks import is_chosen, is_password, is_random

__all__ = ["COOKIES", "NAMES", "TOKENS", "Value", "cookies_at", "token_at", "value_at"]

_LOWER = """password passwd passphrase secret api_key api-key apikey access_key access-key accesskey
    private_key private-key privatekey auth_key auth-key authkey credential signing_key signing-key
    encryption_key encryption-key master_key master-key subscription_key subscription-key shared_key
    license_key account_key service_key"""
_OTHERS = """apiKey ApiKey Api-Key API-Key APIKey accessKey AccessKey privateKey PrivateKey authKey AuthKey
    signingKey encryptionKey masterKey subscriptionKey sharedKey licenseKey accountKey serviceKey
    _KEY -KEY -Key _PASS _PWD pass" _pass _auth _AUTH DSN uthorization
    パスワード トークン 秘密鍵 APIキー アクセスキー シークレット"""
#: With a space in them, as headings and sentences have them.
_SPACED = ("API key", "API Key", "api key", "Api key", "access key", "Access key", "Access Key")
#: Agents count tokens in every message: only what may follow the name of one is looked for.
_TOKENS = [
    f"{token}{end}"
    for token in ("token", "Token", "TOKEN")
    for end in "\"'`=:_-]\\> ,AKSV0123456789"
] + ["PWD=", "Pwd=", "pwd=", "PSK=", "psk=", "pass=", "pass:", "psk:"]
#: What a name may hold, as it may be written; `find` looks for these.
NAMES: tuple[bytes, ...] = (
    tuple(
        dict.fromkeys(
            name.encode()
            for word in _LOWER.split()
            for name in (word, word.capitalize(), word.upper())
        )
    )
    + tuple(_OTHERS.encode().split())
    + tuple(name.encode() for name in _SPACED)
)
TOKENS: tuple[bytes, ...] = tuple(token.encode() for token in _TOKENS)

_VALUE = re.compile(
    rb"""(?P<rest>[\w-]{0,40}+)
    (?:
        (?:\\*["'`])? \]? \*{0,2} [ \t]{0,8}
        (?: => | := | [=:] | \xef\xbc\x9a | (?<=>) ) \*{0,2} [ \t]{0,8}
        (?: (?:str|string|String) [ ]? = [ ]? )?
      | \\*["'] \s* , (?:\s|\\n){0,20} \\*["']value\\*["'] \s* : \s*       # {"name": .., "value": ..}
      | (?:\\*["'])? (?:\s|\\+[nr]){1,20} value: [ \t]*                    # - name: .. value: ..
      | (?P<comma> \\*["'] , [ ]? (?= \\*["'] ) )                                      # setenv("..", "..")
      | (?P<says> [ ](?:is|was)[ ]+ | [ ]?\xe3\x81\xaf[ ]?(?:\xe3\x80\x8c)? | \\*\( (?= \\*["'] ) )
      | (?P<cell> [ \t]* \| [ \t]* )
      | </key>(?:\s|\\+[nrt]){0,40}<string>                                       # a property list
      | (?P<element> > )
      | (?P<space> [ \t]{1,4} )
    )
    (?P<scheme> (?:Bearer|bearer|Basic|basic|Token|token) [ ] | [@$bfru]{1,2}(?=\\*["']) )?
    (?:
        (?P<quote> \\*["'`] ) (?P<quoted> [^\s"'`\\<>\x00-\x1f\x80-\xff]{8,512}+ ) (?= \\*["'`] )
      | (?P<bare> [^\s"'`\\<>,;(){}\[\]|&\x00-\x1f\x80-\xff]{8,512}+ ) (?! [(\[{] )
      | (?P<line> [^\s"'`\\<>\x00-\x1f\x80-\xff]{8,512}+ )
    )""",
    re.VERBOSE,
)
_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.-]*\Z")
#: What stands before a name at the beginning of a line of an .env file, a shell, a Dockerfile.
_LINE_BEFORE = re.compile(
    rb"(?:\A|[\n\r]|\\n|\\r|[\"'`]|^)[ \t>+-]{0,8}(?:[0-9]+(?:\t|\xe2\x86\x92))?[ \t+-]{0,4}"
    rb"(?:export |ENV |ARG |set |SET |setx |-e |--env |env |- |\$env:)*\Z"
)
#: Where a shell or a Dockerfile assigns without a sign between.
_SPACE_ASSIGNS = re.compile(rb"(?:ENV|setenv|set(?: -[a-zA-Z]+){1,3})[ ]+\Z")
#: A cell of a table is the last of its row; in code there are more to choose from.
_CELL_END = re.compile(rb"[`\"']?[ \t]*\|[ \t]*(?:[\r\n\"]|\\+[rn]|\Z)")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_ASIDE = """public pub max min num count total length len size limit budget type kind name names path file
    files filename dir url uri endpoint expires expiry expire expiration expired ttl age header field column
    prefix suffix regex regexp pattern format placeholder label hint title description policy algorithm alg
    version rotation cache sort partition primary foreign idempotency index input output usage used completion
    completions prompt cached tokens class func handler provider manager service reset arn ref next page
    cursor continuation sync pagination fingerprint digest checksum sha etag stop start end eos bos pad unk
    special batch id ids env var variable scopes scope mode method status error message enabled required
    valid invalid ring rings board boards store keyid issuer audience tokenizer created updated at
    verification strength by idx pos position range span ast node stream per rate
    socket surrogate routing host event group row object"""
#: A name with one of these says something about a secret, or is of another kind of key or token.
_OTHER = frozenset(_ASIDE.split())
_ENDS = ("password", "passwd", "passphrase", "secret", "token", "credential")
_STRONG = frozenset(
    ["password", "passwd", "passphrase", "pwd", "pass", "secret", "credential", "psk"]
)
#: A token or key of that kind is one, also where it is a UUID.
_GIVEN = frozenset(("api", "access", "auth"))


#: More of them than base64 may end with, and a name beside them, are several assignments.
_PADDING = 4


class Value(NamedTuple):
    start: int
    end: int
    kind: str


def value_at(data: bytes, start: int, end: int) -> Iterable[Value]:
    """The secret beside the name that holds `data[start:end]`, if there is one."""
    found = _VALUE.match(data, end)
    if found is None or data[start - 1 : start] == data[end : end + 1] == b":":
        # Between two colons it is part of an address, as AWS has them.
        return ()
    before = _NAME_BEFORE.search(data[max(0, start - 60) : start])
    first = before[0] if before else b""
    name = (first + data[start:end] + found["rest"]).decode("utf-8", "replace")
    words = [_known(word.lower()) for word in _HUMPS.findall(name)]
    is_option = name.startswith("--")
    if _OTHER.intersection(words):
        return ()
    is_given = bool(
        _SPACE_ASSIGNS.search(data[max(0, start - len(first) - 40) : start - len(first)])
    )
    if found["space"] and not (is_option or is_given or _is_netrc(data, start)):
        return ()
    is_line = is_given or _is_line(data, start - len(first), name)
    group = next(group for group in ("quoted", "bare", "line") if found[group])
    value = found[group]
    if value.count(b"=") > _PADDING:
        return ()
    if found["element"] and not data.startswith((b"</", b"<\\/"), found.end()):
        return ()
    if found["comma"] and not (len(value) >= 16 and is_random(value)):
        return ()
    if (found["says"] or found["cell"]) and not (len(value) >= 12 and is_random(value)):
        return ()
    if found["cell"] and not _CELL_END.match(data, found.end()):
        return ()
    if not is_line and (group == "line" or (group == "bare" and _ATTRIBUTE.fullmatch(value))):
        return ()
    if not _accepts(words, value, group == "quoted", is_line or is_option):
        return ()
    return (Value(*found.span(group), _kind(words, value)),)


def _known(word: str) -> str:
    """What it ends with, where somebody wrote several words as one: PGPASSWORD, clientsecret."""
    return next((end for end in _ENDS if word.endswith(end)), word)


def token_at(data: bytes, start: int, end: int) -> Iterable[Value]:
    """The same, where the name is followed by one character of `data[start:end]`."""
    return value_at(data, start, end - 1)


def _is_line(data: bytes, start: int, name: str) -> bool:
    """Whether the name stands where a shell or an .env file assigns."""
    if not name.replace("_", "").replace("-", "").isupper():
        return False
    return bool(_LINE_BEFORE.search(data[max(0, start - 40) : start]))


def _is_netrc(data: bytes, start: int) -> bool:
    return bool(re.search(rb"login[ \t]+\S+(?:\s|\\n)+\Z", data[max(0, start - 80) : start]))


def _accepts(words: list[str], value: bytes, is_quoted: bool, is_assigned: bool) -> bool:
    if words and _STRONG.isdisjoint(words):
        if _UUID.fullmatch(value):
            return not _GIVEN.isdisjoint(words) or (is_assigned and "token" in words)
        return len(value) >= 12 and is_random(value)
    if is_assigned:
        return is_chosen(value)
    # Without quotes it may be code: the name of something is no password.
    return is_password(value) if is_quoted or not _IDENTIFIER.fullmatch(value) else is_random(value)


_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: In code what stands beside a name is another name.
_ATTRIBUTE = re.compile(rb"[A-Za-z_]\w{0,30}(?:\.[A-Za-z_]\w{0,30})+")
_IDENTIFIER = re.compile(rb"[A-Za-z_][\w.]*[:]?")


def _kind(words: list[str], value: bytes) -> str:
    if "secret" in words and ("aws" in words or "access" in words) and len(value) == 40:
        return "aws-secret-key"
    if "session" in words and "token" in words and len(value) > 100:
        return "aws-session-token"
    if _STRONG.isdisjoint(words):
        return next((kind for kind in ("token", "key", "dsn") if kind in words), "credential")
    return next((kind for kind in ("secret", "credential") if kind in words), "password")


# ── cookies ──

COOKIES: tuple[bytes, ...] = (b"ookie:", b'ookie":', b"OOKIE:", b"OOKIE=", b"ookie ")
_COOKIES = re.compile(
    rb"(?:ookie|OOKIE)2?\\*[\"']?[ \t]*[:=]?[ \t]*\\*[\"']?(?P<pairs>[^\"'`\n\r\\<>]{10,8192})"
)
_PAIR = re.compile(rb"(?:^|;[ ]?)(?P<name>[\w.%-]{1,80})=(?P<value>[^\s;,]{8,4096})")
_SESSION = re.compile(
    rb"sess|sid|auth|token|jwt|csrf|xsrf|secret|login|remember|key", re.IGNORECASE
)


#: Another one before it, with nothing between that would end it, has looked at this already.
_SAME_HEADER = re.compile(rb"(?:ookie|OOKIE)[^\"'`\n\r\\<>]*\Z")


def cookies_at(data: bytes, start: int, end: int) -> Iterator[Value]:
    """The values of a header's cookies."""
    if _SAME_HEADER.search(data[max(0, start - 64) : start]):
        return
    found = _COOKIES.match(data, start)
    for pair in _PAIR.finditer(found["pairs"]) if found else ():
        value = pair["value"]
        if is_random(value) if not _SESSION.search(pair["name"]) else is_password(value):
            at = found.start("pairs") if found else 0
            yield Value(at + pair.start("value"), at + pair.end("value"), "cookie")
