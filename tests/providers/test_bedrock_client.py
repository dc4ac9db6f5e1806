"""What the agent's client for Bedrock declares to Converse."""

from __future__ import annotations

from typing import Any

from rireki.agent.clients.bedrock import Bedrock
from rireki.agent.tools import Tool, tool
from rireki.providers import Request

CALLED: list[Any] = [
    {"role": "user", "content": [{"text": "go"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "ls", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "a"}]}}]},
]


class Sdk:
    """Takes what Converse would take, says nothing."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def converse_stream(self, **asked: Any) -> dict[str, Any]:
        from botocore.loaders import Loader  # type: ignore[import-untyped]
        from botocore.model import ServiceModel  # type: ignore[import-untyped]
        from botocore.validate import ParamValidator  # type: ignore[import-untyped]

        service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
        shape = service.operation_model("ConverseStream").input_shape
        report = ParamValidator().validate(asked, shape)
        assert not report.has_errors(), report.generate_report()
        self.asked = asked
        return {"stream": []}


def declared(messages: list[Any], *tools: Tool, **options: Any) -> list[str] | None:
    sdk = Sdk()
    Bedrock("any.model", client=sdk, **options).ask(Request(messages), tools, lambda event: None)
    config = sdk.asked.get("toolConfig")
    return config and [one["toolSpec"]["name"] for one in config["tools"]]


def test_tools_that_the_history_calls_are_declared_if_no_others_are() -> None:
    """Converse takes calls and results only in a request that declares tools."""
    assert declared(CALLED * 2) == ["ls"]
    assert declared(CALLED[:1]) is None


def test_what_is_declared_anyway_stays_alone() -> None:
    def add(a: int) -> int:
        """Adds."""
        return a

    assert declared(CALLED, tool(add)) == ["add"]
    spec = {"toolSpec": {"name": "own", "inputSchema": {"json": {"type": "object"}}}}
    assert declared(CALLED, toolConfig={"tools": [spec]}) == ["own"]
