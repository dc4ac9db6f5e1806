"""Made-up conversations, told once and spelled in every provider's own way, as its API would.

The spelling here is independent of the product: it is what a history on disk looks like.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n a picture").decode()
PDF = base64.b64encode(b"%PDF-1.7 a paper").decode()


@dataclass
class Use:
    """One tool call and what came of it."""

    name: str
    arguments: dict[str, Any]
    output: str
    failed: bool = False
    picture: bool = False


@dataclass
class Step:
    uses: list[Use]
    thought: str = ""
    text: str = ""


@dataclass
class Exchange:
    prompt: str
    answer: str
    steps: list[Step] = field(default_factory=list)
    picture: bool = False
    thought: str = ""


Script = list[Exchange]

words = st.one_of(
    st.sampled_from(["テストを直して", "print(1)", "結果: 成功\n次へ", "naïve 🎌"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
).map(lambda text: f"{text}。")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
uses = st.builds(
    Use,
    name=st.sampled_from(["read", "run_shell", "ask_user"]),
    arguments=st.one_of(st.just({"path": "a"}), st.dictionaries(words, values, max_size=2)),
    output=words,
    failed=st.booleans(),
    picture=st.booleans(),
)
steps = st.builds(
    Step,
    uses=st.lists(uses, min_size=1, max_size=3),
    thought=st.just("") | words,
    text=st.just("") | words,
)
exchanges = st.builds(
    Exchange,
    prompt=words,
    answer=words,
    steps=st.lists(steps, max_size=2),
    picture=st.booleans(),
    thought=st.just("") | words,
)
scripts = st.lists(exchanges, min_size=1, max_size=3)


def spell(provider: str, script: Script) -> list[Any]:
    """The history as the provider's users keep it; it ends with a word of the user."""
    speller = _SPELLERS[provider]()
    for exchange in script:
        speller.exchange(exchange)
    speller.prompt("そして?", False)
    return speller.messages


class _Speller:
    id_form = "call_{}"

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.count = 0

    def new_id(self, form: str | None = None) -> str:
        self.count += 1
        return (form or self.id_form).format(self.count)

    def exchange(self, exchange: Exchange) -> None:
        self.prompt(exchange.prompt, exchange.picture)
        for step in exchange.steps:
            self.step(step)
        self.answer(exchange.answer, exchange.thought)

    def prompt(self, text: str, picture: bool) -> None:
        raise NotImplementedError

    def step(self, step: Step) -> None:
        raise NotImplementedError

    def answer(self, text: str, thought: str) -> None:
        raise NotImplementedError


class _Anthropic(_Speller):
    id_form = "toolu_{:04}"

    def prompt(self, text: str, picture: bool) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        block = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        content = [{"type": "image", "source": source}, block] if picture else text
        self.messages.append({"role": "user", "content": content})

    def thought(self, thought: str) -> list[Any]:
        if thought.startswith("テスト"):
            return [{"type": "redacted_thinking", "data": "c2VjcmV0"}]
        block = {"type": "thinking", "thinking": thought, "signature": "sig+/="}
        return [block] if thought else []

    def step(self, step: Step) -> None:
        content = self.thought(step.thought)
        content += [{"type": "text", "text": step.text}] if step.text else []
        results: list[Any] = []
        for use in step.uses:
            call = self.new_id()
            content.append(
                {"type": "tool_use", "id": call, "name": use.name, "input": use.arguments}
            )
            result: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": call,
                "content": use.output,
            }
            if use.picture:
                source = {"type": "base64", "media_type": "image/png", "data": PNG}
                text = {"type": "text", "text": use.output}
                result["content"] = [text, {"type": "image", "source": source}]
            if use.failed:
                result["is_error"] = True
            results.append(result)
        self.messages.append({"role": "assistant", "content": content})
        self.messages.append({"role": "user", "content": results})

    def answer(self, text: str, thought: str) -> None:
        content = [*self.thought(thought), {"type": "text", "text": text}]
        self.messages.append({"role": "assistant", "content": content if thought else text})


class _OpenAI(_Speller):
    def prompt(self, text: str, picture: bool) -> None:
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        content = [{"type": "text", "text": text}, url] if picture else text
        self.messages.append({"role": "user", "content": content})

    def step(self, step: Step) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
        if step.thought:
            message["reasoning_content"] = step.thought
        message["tool_calls"] = []
        results = []
        for use in step.uses:
            call = self.new_id()
            function = {"name": use.name, "arguments": json.dumps(use.arguments)}
            message["tool_calls"].append({"id": call, "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": call, "content": use.output})
        self.messages += [message, *results]

    def answer(self, text: str, thought: str) -> None:
        message = {"role": "assistant", "content": text, "refusal": None}
        if thought:
            message["reasoning_content"] = thought
        self.messages.append(message)


class _Responses(_Speller):
    def prompt(self, text: str, picture: bool) -> None:
        content: list[Any] = [{"type": "input_text", "text": text}]
        if picture:
            url = f"data:image/png;base64,{PNG}"
            content.append({"type": "input_image", "image_url": url, "detail": "auto"})
        self.messages.append({"type": "message", "role": "user", "content": content})

    def thought(self, thought: str) -> None:
        if thought:
            self.messages.append(
                {
                    "type": "reasoning",
                    "id": self.new_id("rs_{}"),
                    "summary": [{"type": "summary_text", "text": thought}],
                    "encrypted_content": "gAAAA",
                }
            )

    def said(self, text: str) -> None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        self.messages.append(
            {
                "type": "message",
                "role": "assistant",
                "id": self.new_id("msg_{}"),
                "status": "completed",
                "content": content,
            }
        )

    def step(self, step: Step) -> None:
        self.thought(step.thought)
        if step.text:
            self.said(step.text)
        results: list[Any] = []
        for use in step.uses:
            call = self.new_id()
            self.messages.append(
                {
                    "type": "function_call",
                    "id": self.new_id("fc_{}"),
                    "call_id": call,
                    "name": use.name,
                    "arguments": json.dumps(use.arguments),
                    "status": "completed",
                }
            )
            output: Any = use.output
            if use.picture:
                url = f"data:image/png;base64,{PNG}"
                output = [
                    {"type": "input_text", "text": use.output},
                    {"type": "input_image", "image_url": url, "detail": "auto"},
                ]
            results.append({"type": "function_call_output", "call_id": call, "output": output})
        # Outputs may come in any order.
        self.messages += reversed(results)

    def answer(self, text: str, thought: str) -> None:
        self.thought(thought)
        self.said(text)


class _Gemini(_Speller):
    def prompt(self, text: str, picture: bool) -> None:
        parts: list[Any] = [{"text": text}]
        if picture:
            parts.append({"inlineData": {"mimeType": "image/png", "data": PNG}})
        self.messages.append({"role": "user", "parts": parts})

    def step(self, step: Step) -> None:
        parts: list[Any] = [{"text": step.thought, "thought": True}] if step.thought else []
        parts += [{"text": step.text}] if step.text else []
        results = []
        for index, use in enumerate(step.uses):
            part: dict[str, Any] = {"functionCall": {"name": use.name, "args": use.arguments}}
            if index == 0:
                part["thoughtSignature"] = "c2lnbmVk"
            parts.append(part)
            key = "error" if use.failed else "output"
            response = {"name": use.name, "response": {key: use.output}}
            results.append({"functionResponse": response})
        self.messages.append({"role": "model", "parts": parts})
        self.messages.append({"role": "user", "parts": results})

    def answer(self, text: str, thought: str) -> None:
        parts: list[Any] = [{"text": thought, "thought": True}] if thought else []
        parts.append({"text": text, "thoughtSignature": "c2lnbmVk"} if thought else {"text": text})
        self.messages.append({"role": "model", "parts": parts})


class _Bedrock(_Speller):
    id_form = "tooluse_{:04}.a:b"

    def prompt(self, text: str, picture: bool) -> None:
        image = {"image": {"format": "png", "source": {"bytes": PNG}}}
        content = [{"text": text}, image] if picture else [{"text": text}]
        self.messages.append({"role": "user", "content": content})

    def thought(self, thought: str) -> list[Any]:
        text = {"text": thought, "signature": "sig"}
        return [{"reasoningContent": {"reasoningText": text}}] if thought else []

    def step(self, step: Step) -> None:
        content = self.thought(step.thought)
        content += [{"text": step.text}] if step.text else []
        results: list[Any] = []
        for use in step.uses:
            call = self.new_id()
            asked = {"toolUseId": call, "name": use.name, "input": use.arguments}
            content.append({"toolUse": asked})
            inner: list[Any] = [{"text": use.output}]
            if use.picture:
                inner.append({"image": {"format": "png", "source": {"bytes": PNG}}})
            status = "error" if use.failed else "success"
            told = {"toolUseId": call, "content": inner, "status": status}
            results.append({"toolResult": told})
        self.messages.append({"role": "assistant", "content": content})
        self.messages.append({"role": "user", "content": results})

    def answer(self, text: str, thought: str) -> None:
        content = [*self.thought(thought), {"text": text}]
        self.messages.append({"role": "assistant", "content": content})


class _Ollama(_Speller):
    def prompt(self, text: str, picture: bool) -> None:
        message: dict[str, Any] = {"role": "user", "content": text}
        self.messages.append(message | ({"images": [PNG]} if picture else {}))

    def step(self, step: Step) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": step.text}
        if step.thought:
            message["thinking"] = step.thought
        message["tool_calls"] = [
            {"function": {"name": use.name, "arguments": use.arguments}} for use in step.uses
        ]
        self.messages.append(message)
        for use in step.uses:
            self.messages.append({"role": "tool", "content": use.output, "tool_name": use.name})

    def answer(self, text: str, thought: str) -> None:
        message = {"role": "assistant", "content": text}
        self.messages.append(message | ({"thinking": thought} if thought else {}))


_SPELLERS: dict[str, Callable[[], _Speller]] = {
    "anthropic": _Anthropic,
    "openai": _OpenAI,
    "responses": _Responses,
    "gemini": _Gemini,
    "bedrock": _Bedrock,
    "ollama": _Ollama,
}
