"""What the providers' own packages accept: their types, asked whether a request is one of theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from rireki.providers import Request


@cache
def checker(provider: str) -> Callable[[Request], None]:
    """Raises where the package would; the packages are slow to import, so one at a time."""
    return _MAKERS[provider]()


def _anthropic() -> Callable[[Request], None]:
    from anthropic.types import MessageParam, TextBlockParam
    from pydantic import TypeAdapter

    messages: TypeAdapter[Any] = TypeAdapter(list[MessageParam])
    system: TypeAdapter[Any] = TypeAdapter(str | list[TextBlockParam] | None)

    def check(request: Request) -> None:
        _exhaust(messages.validate_python(request.messages))
        system.validate_python(request.system)

    return check


def _openai() -> Callable[[Request], None]:
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])

    def check(request: Request) -> None:
        _exhaust(adapter.validate_python(request.messages))
        assert request.system is None

    return check


def _responses() -> Callable[[Request], None]:
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(list[ResponseInputItemParam])

    def check(request: Request) -> None:
        _exhaust(adapter.validate_python(request.messages))
        assert request.system is None or isinstance(request.system, str)

    return check


def _gemini() -> Callable[[Request], None]:
    from google.genai import types

    def check(request: Request) -> None:
        for content in request.messages:
            types.Content.model_validate(content)
        if isinstance(request.system, dict):
            types.Content.model_validate(request.system)

    return check


def _bedrock() -> Callable[[Request], None]:
    from botocore.loaders import Loader  # type: ignore[import-untyped]
    from botocore.model import ServiceModel  # type: ignore[import-untyped]
    from botocore.validate import ParamValidator  # type: ignore[import-untyped]

    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = service.operation_model("Converse").input_shape

    def check(request: Request) -> None:
        asked = {"modelId": "any.model", "messages": request.messages}
        if request.system is not None:
            asked["system"] = request.system
        report = ParamValidator().validate(asked, shape)
        assert not report.has_errors(), report.generate_report()

    return check


def _ollama() -> Callable[[Request], None]:
    from ollama._client import _copy_messages

    def check(request: Request) -> None:
        # What the client does with messages before it sends them.
        assert len(list(_copy_messages(request.messages))) == len(request.messages)
        assert request.system is None

    return check


def _exhaust(value: Any) -> None:
    """Iterables of pydantic check their items only when they are walked."""
    if isinstance(value, dict):
        for inner in value.values():
            _exhaust(inner)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            _exhaust(inner)


_MAKERS: dict[str, Callable[[], Callable[[Request], None]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
}
