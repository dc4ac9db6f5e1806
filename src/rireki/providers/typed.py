"""What `render` returns for each provider, with the types of the provider's own package.

The packages are named for type checkers alone: nothing of them is imported when a program runs,
and where one is not installed, its messages are `Any`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from rireki.providers.neutral import Request

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam
    from google.genai.types import ContentDict, ContentUnionDict
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam

__all__ = [
    "AnthropicRequest",
    "BedrockMessage",
    "BedrockRequest",
    "GeminiRequest",
    "OllamaMessage",
    "OllamaRequest",
    "OpenAIRequest",
    "ResponsesRequest",
]


class AnthropicRequest(Request, frozen=True, gc=False):
    """For `client.messages.create(messages=…, system=…)`."""

    messages: list[MessageParam]
    system: str | list[TextBlockParam] | None = None


class OpenAIRequest(Request, frozen=True, gc=False):
    """For `client.chat.completions.create(messages=…)`; instructions are among the messages."""

    messages: list[ChatCompletionMessageParam]
    system: None = None


class ResponsesRequest(Request, frozen=True, gc=False):
    """For `client.responses.create(input=…, instructions=…)`."""

    messages: list[ResponseInputItemParam]
    system: str | None = None


class GeminiRequest(Request, frozen=True, gc=False):
    """For `client.models.generate_content(contents=…, config={"system_instruction": …})`."""

    messages: list[ContentDict]
    system: ContentUnionDict | None = None


class BedrockMessage(TypedDict):
    """A message of Converse; boto3 has no types of its own. Pictures and documents are bytes."""

    role: Literal["user", "assistant"]
    content: list[dict[str, Any]]


class BedrockRequest(Request, frozen=True, gc=False):
    """For `client.converse(messages=…, system=…)` of boto3."""

    messages: list[BedrockMessage]
    system: list[dict[str, Any]] | None = None


class OllamaMessage(TypedDict, total=False):
    """A message as `ollama.chat` takes it."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    thinking: str
    images: list[str]
    tool_calls: list[dict[str, Any]]
    tool_name: str


class OllamaRequest(Request, frozen=True, gc=False):
    """For `client.chat(messages=…)`; instructions are among the messages."""

    messages: list[OllamaMessage]
    system: None = None
