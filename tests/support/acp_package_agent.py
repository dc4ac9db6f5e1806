"""An agent on the agent side of the protocol's own package: what we send has to be right for it, too."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from acp import PROTOCOL_VERSION, run_agent
from acp.helpers import start_tool_call, update_agent_message_text, update_tool_call
from acp.schema import (
    AcceptElicitationResponse,
    AgentCapabilities,
    AllowedOutcome,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptCapabilities,
    PromptResponse,
    ToolCallUpdate,
)


class Agent:
    def on_connect(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=False, prompt_capabilities=PromptCapabilities(image=True)
            ),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=str(uuid.uuid4()))

    async def cancel(self, session_id: str, **_: Any) -> None: ...

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        kinds = ",".join(type(block).__name__ for block in prompt)
        await self._say(session_id, f"got {kinds}; ")
        await self.client.session_update(session_id, start_tool_call("call-1", "Run it"))
        allowed = await self.client.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="call-1", raw_input={"command": "run"}),
            options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        assert isinstance(allowed.outcome, AllowedOutcome)
        update = update_tool_call("call-1", status="completed", raw_output={"lines": 3})
        await self.client.session_update(session_id, update)
        colour = ElicitationStringPropertySchema(
            type="string",
            title="Colour",
            one_of=[EnumOption(const="b", title="Blue"), EnumOption(const="r", title="Red")],
        )
        schema = ElicitationSchema(properties={"colour": colour}, required=["colour"])
        chosen = await self.client.create_elicitation(
            message="Which colour?",
            mode=ElicitationFormSessionMode(session_id=session_id, requested_schema=schema),
        )
        assert isinstance(chosen, AcceptElicitationResponse)
        await self._say(session_id, f"{allowed.outcome.option_id}, {chosen.content}")
        return PromptResponse(stop_reason="end_turn")

    async def _say(self, session: str, text: str) -> None:
        await self.client.session_update(session, update_agent_message_text(text))


if __name__ == "__main__":
    asyncio.run(run_agent(Agent(), use_unstable_protocol=True))  # type: ignore[arg-type]
