"""The lines of one Claude Code transcript, main or sub-agent, as version 2.1.197 writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rireki.intake.demo.steps import (
    Clock,
    DemoAnswer,
    DemoCall,
    DemoConversation,
    Ids,
    Json,
    SubAgent,
)

__all__ = ["AgentLines", "DemoTranscript", "usage_of"]

#: What a fresh session already costs: the instructions and the tools.
_BASE_CONTEXT = 14_200


class DemoTranscript:
    """Lines that hang on one another. Knows answers and tools; what people type is told elsewhere."""

    sidechain = False

    def __init__(self, story: DemoConversation, ids: Ids, clock: Clock) -> None:
        self.story = story
        self.ids = ids
        self.clock = clock
        self.lines: list[Json] = []
        #: The line the next one hangs on.
        self.leaf: str | None = None
        self.prompt_id = ""
        #: What lines of a sub-agent, and answers under a skill, say besides.
        self.agent: Json = {}
        self.attribution: Json = {}
        #: How many tokens the model has before it.
        self.context = 0
        self.queued_at = ""
        self.agents: list[AgentLines] = []

    def write(self, body: Json, tail: Json | None = None, parent: str | None = None) -> str:
        """A transcript line below the leaf, or below `parent`; it becomes the leaf."""
        uuid = self.ids.uuid()
        self.lines.append(
            {
                "parentUuid": parent or self.leaf,
                "isSidechain": self.sidechain,
                **self.agent,
                **body,
                "uuid": uuid,
                "timestamp": self.clock.iso(),
                **(tail or {}),
                **self._envelope(),
            }
        )
        self.leaf = uuid
        return uuid

    def note(self, kind: str, **facts: object) -> None:
        """A metadata line: on no branch, without an id."""
        self.lines.append({"type": kind, **facts, "sessionId": self.ids.session})

    def user(self, content: str | list[Json], tail: Json | None = None, **meta: bool) -> str:
        message = {"role": "user", "content": content}
        return self.write(
            {"promptId": self.prompt_id, "type": "user", "message": message, **meta}, tail
        )

    def attach(self, attachment: Json) -> str:
        return self.write({"attachment": attachment, "type": "attachment"})

    def answer(self, step: DemoAnswer) -> None:
        """One answer: a line per block, all with the id and the usage of the whole."""
        used = [(call, self.ids.token("toolu_01")) for call in step.calls]
        blocks = self._blocks(step, used)
        message = self.ids.token("msg_01")
        request = self.ids.token("req_011C")
        usage = self._usage(blocks)
        places: list[str] = []
        for block in blocks:
            self.clock.wait(2 + _tokens(block) / 30)
            places.append(self._block(message, request, block, bool(used), usage))
        self._results(used, places[len(blocks) - len(used) :])

    def _block(self, message: str, request: str, block: Json, tools: bool, usage: Json) -> str:
        body: Json = {
            "id": message,
            "type": "message",
            "role": "assistant",
            "model": self.story.model,
            "content": [block],
            "stop_reason": "tool_use" if tools else "end_turn",
            "stop_sequence": None,
            "usage": usage,
            "stop_details": None,
        }
        return self.write(
            {"message": body, "requestId": request, **self.attribution, "type": "assistant"}
        )

    def _blocks(self, step: DemoAnswer, used: Sequence[tuple[DemoCall, str]]) -> list[Json]:
        blocks: list[Json] = []
        if step.thinking:
            signature = self.ids.token("Eq") + "=="
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": signature})
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        for call, id in used:
            blocks.append({"type": "tool_use", "id": id, "name": call.tool, "input": call.input})
        return blocks

    def _results(self, used: Sequence[tuple[DemoCall, str]], places: Sequence[str]) -> None:
        """The outcomes. Each hangs on its own call, and what follows hangs on the last of them."""
        for (call, id), place in zip(used, places, strict=True):
            self._enqueue(call)
            agent = self._run(call, id)
            self.clock.wait(6.4)
            self._result(call, id, place, agent)
        for call, _ in used:
            self._deliver(call)

    def _result(self, call: DemoCall, id: str, place: str, agent: AgentLines | None) -> None:
        result: Json = {"tool_use_id": id, "type": "tool_result", "content": call.output}
        rich = call.rich
        if agent is not None:
            result["content"], rich = agent.report(call.output), agent.summary()
        if call.error or call.tool == "Bash":
            result["is_error"] = call.error
        tail: Json = {} if self.sidechain else {"toolUseResult": rich}
        tail["sourceToolAssistantUUID"] = place
        body = {"role": "user", "content": [result]}
        self.write({"promptId": self.prompt_id, "type": "user", "message": body}, tail, place)
        self.context += _tokens(call.output)

    def _run(self, call: DemoCall, id: str) -> AgentLines | None:
        if call.agent is None:
            return None
        agent = AgentLines(self, call.agent, id)
        self.agents.append(agent)
        self.clock.wait((agent.clock.now - self.clock.now).total_seconds())
        return agent

    def _enqueue(self, call: DemoCall) -> None:
        """What was typed while a tool ran waits in a queue."""
        if call.meanwhile:
            self.clock.wait(1.2)
            self.queued_at = self.clock.iso()
            self.typed(call.meanwhile)
            self.note(
                "queue-operation",
                operation="enqueue",
                timestamp=self.queued_at,
                content=call.meanwhile,
            )

    def _deliver(self, call: DemoCall) -> None:
        """And reaches the model as an attachment: there is no line of a user for it."""
        if call.meanwhile:
            self.note("queue-operation", operation="remove", timestamp=self.clock.iso())
            self.attach(
                {
                    "type": "queued_command",
                    "prompt": call.meanwhile,
                    "commandMode": "prompt",
                    "timestamp": self.queued_at,
                }
            )

    def typed(self, text: str) -> None:
        """Something was typed in the terminal; a main transcript remembers it for history.jsonl."""

    def _usage(self, blocks: Sequence[Json]) -> Json:
        fresh = 180 if self.context else _BASE_CONTEXT
        output = 12 + sum(_tokens(block) for block in blocks)
        usage = usage_of(4, fresh, self.context, output)
        self.context += fresh + output
        return usage

    def _envelope(self) -> Json:
        return {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.story.project,
            "sessionId": self.ids.session,
            "version": "2.1.197",
            "gitBranch": self.story.branch,
        }


class AgentLines(DemoTranscript):
    """A sub-agent's own file, beside its parent's."""

    sidechain = True

    def __init__(self, parent: DemoTranscript, agent: SubAgent, tool_use: str) -> None:
        super().__init__(parent.story, parent.ids, Clock(parent.clock.now))
        self.id = "a" + self.ids.hexadecimal(16)
        self.agent = {"agentId": self.id}
        self.attribution = {"attributionAgent": agent.kind}
        self.told = agent
        self.prompt_id = parent.prompt_id
        self.started = self.clock.now
        self.meta: Json = {
            "agentType": agent.kind,
            "description": agent.description,
            "toolUseId": tool_use,
            "spawnDepth": 1,
        }
        self.user(agent.prompt)
        for step in agent.steps:
            self.answer(step)

    def report(self, text: str | Json) -> list[Json]:
        """What the parent's model gets back."""
        again = (
            f"agentId: {self.id} (use SendMessage with to: '{self.id}', "
            "summary: '<5-10 word recap>' to continue this agent)\n"
            f"<usage>subagent_tokens: {self.context}\ntool_uses: {self._tool_uses()}\n"
            f"duration_ms: {self._duration()}</usage>"
        )
        return [{"type": "text", "text": text}, {"type": "text", "text": again}]

    def summary(self) -> Json:
        """What the parent's program keeps beside it."""
        return {
            "status": "completed",
            "prompt": self.told.prompt,
            "agentId": self.id,
            "agentType": self.told.kind,
            "content": [{"type": "text", "text": self.told.steps[-1].text}],
            "resolvedModel": self.story.model,
            "totalDurationMs": self._duration(),
            "totalTokens": self.context,
            "totalToolUseCount": self._tool_uses(),
            "usage": self.lines[-1]["message"]["usage"],
        }

    def _tool_uses(self) -> int:
        return sum(len(step.calls) for step in self.told.steps)

    def _duration(self) -> int:
        return round((self.clock.now - self.started).total_seconds() * 1000)


def usage_of(given: int, fresh: int, cached: int, output: int) -> Json:
    return {
        "input_tokens": given,
        "cache_creation_input_tokens": fresh,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard" if output else None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": fresh},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
    }


def _tokens(value: object) -> int:
    """A guess at how many tokens something has."""
    return len(json.dumps(value, ensure_ascii=False).encode()) // 4
