"""Every kind of secret is found, wherever it stands, and named for what it is."""

from __future__ import annotations

import json

import pytest

from rireki.masking.find import finder
from tests.support.secrets import Secret, secrets

MANY = secrets(400)
KINDS = {secret.kind: secret for secret in MANY}


def left_of(text: str) -> str:
    """What is left when the findings are taken out."""
    data = text.encode()
    for finding in reversed(finder().find(data)):
        data = data[: finding.start] + b"[*]" + data[finding.end :]
    return data.decode()


def is_gone(secret: str, text: str) -> bool:
    """Nothing of it that would help somebody is left."""
    return not any(secret[at : at + 12] in text for at in range(0, max(1, len(secret) - 12), 4))


@pytest.mark.parametrize("secret", KINDS.values(), ids=KINDS)
def test_each_is_named_for_what_it_is(secret: Secret) -> None:
    assert [finding.kind for finding in finder().find(secret.text.encode())] == [secret.kind]


def test_there_are_many_kinds() -> None:
    assert len(KINDS) > 80


@pytest.mark.parametrize("secret", MANY, ids=[f"{s.kind}-{n}" for n, s in enumerate(MANY)])
def test_nothing_of_it_is_left(secret: Secret) -> None:
    text = secret.text
    assert is_gone(secret.value, left_of(text))
    in_json = json.dumps({"output": f"first\n{text}\nlast", "lines": text.split("\n")})
    twice = json.dumps({"arguments": in_json})
    for spelled in (in_json, twice, twice.replace("/", "\\/"), in_json.replace("-", "\\u002d")):
        masked = left_of(spelled)
        json.loads(masked)
        # Of a private key its lines; between them stands what tells that there is one.
        for line in secret.value.split("\n"):
            assert line.startswith("-----") or is_gone(line[1:], masked), spelled


@pytest.mark.parametrize("mark", ["\t", "→", "| ", ": "])
def test_a_private_key_with_line_numbers_is_gone_also_from_a_raw_record(mark: str) -> None:
    """As `cat -n` and the tools that read files write it: in JSON the tab is an escape."""
    key = KINDS["private-key"].value
    text = "\n".join(f"{n:6}{mark}{line}" for n, line in enumerate(key.split("\n"), 1))
    for spelled in (text, json.dumps({"output": text}), json.dumps({"a": json.dumps([text])})):
        masked = left_of(spelled)
        for line in key.split("\n")[1:-1]:
            assert is_gone(line[1:], masked), masked


def test_a_static_key_of_openvpn_is_a_private_key() -> None:
    body = "\n".join(f"{n:04x}9f53ad3f1c8bd1b2bfe7a23b6ce3" for n in range(7, 23))
    name = "OpenVPN Static key V1"
    text = f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"
    assert left_of(text) == "[*]"
