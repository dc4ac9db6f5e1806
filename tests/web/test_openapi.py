"""The OpenAPI document is complete, and what it promises holds for whatever is asked."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.show.json import line
from rireki.web.api import ROUTES
from rireki.web.api.openapi import document
from rireki.web.serve import Server
from tests.web.conftest import BEARER, client_at

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
#: A stream never ends: tests/web/test_events.py listens to it.
SCHEMA = schemathesis.openapi.from_dict(document()).exclude(path="/api/v1/events")


def test_every_address_is_described() -> None:
    told = set(document()["paths"])
    plain = {
        route.path for route in ROUTES if "{" not in route.path and "openapi" not in route.path
    }
    assert plain < told
    assert {path for path in told if "{" not in path} == plain


def test_the_page_for_people_tells_every_address_and_parameter() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for path, methods in document()["paths"].items():
        assert f"`{path.removeprefix('/api/v1')}`" in text
        for parameter in [each for told in methods.values() for each in told["parameters"]]:
            assert f"`{parameter['name']}`" in text, (path, parameter["name"])


def test_the_document_is_served_and_needs_nothing_else(web: httpx.Client) -> None:
    answer = web.get("/api/v1/openapi.json")
    assert answer.json() == json.loads(line(document()))
    named = set(re.findall(r'"#/components/schemas/(\w+)"', answer.text))
    assert named <= document()["components"]["schemas"].keys()


def there(shown: Server) -> dict[str, str]:
    """What a path says of a conversation that is there, and of a message in it."""
    with closing(open_archive(shown.archive)) as archive:
        newest = next(one for one in archive.conversations() if one.messages)
        message = read_conversation(archive, archive.find(newest.id)).messages()[0]
        return {"source": newest.source, "native_id": newest.native_id, "message": message.id}


@SCHEMA.parametrize()
@hypothesis.settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_asked_the_answer_is_as_promised(case: Any, shown: Server) -> None:
    ask(case, shown)
    if named := case.path_parameters:
        # Made-up ids lead nowhere: the same again for a conversation that is there.
        real = there(shown)
        case.path_parameters = {name: real.get(name, value) for name, value in named.items()}
        ask(case, shown)


def ask(case: Any, shown: Server) -> None:
    answer = case.call(base_url=f"http://127.0.0.1:{shown.port}", headers=BEARER)
    case.validate_response(
        answer,
        checks=(
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ),
    )


@pytest.mark.parametrize("path", sorted(document()["paths"]))
def test_nothing_is_answered_without_the_token(shown: Server, path: str) -> None:
    address = re.sub(r"\{\w+\}", "x", path)
    with client_at(shown.port) as stranger:
        answer = stranger.get(address)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthorized"
