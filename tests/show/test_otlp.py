"""Traces as OpenTelemetry's own types read them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rireki.archive.base import Archive, Filter
from rireki.export.documents import Wish, document
from rireki.intake.sweep import import_history
from rireki.model.conversation import Link
from rireki.model.message import Usage
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall
from rireki.show.formats import FormatOptions, write
from rireki.show.otlp import LARGEST, SCHEMA, requests
from rireki.show.transcript import Transcript
from rireki.sources.kit.places import Places
from tests.show.made import call, conversation, message, result
from tests.support.homes import NAMES, lay_out

#: How OTLP/JSON differs from the JSON of protocol buffers: ids are hex.
IDS = ("traceId", "spanId", "parentSpanId")


def read(body: str | bytes) -> ExportTraceServiceRequest:
    """What a collector makes of it; a field that the types do not know is an error."""

    def in_base64(value: dict[str, Any]) -> dict[str, Any]:
        for name in IDS:
            if name in value:
                data = bytes.fromhex(value[name])
                assert len(data) == (16 if name == "traceId" else 8) and any(data)
                value[name] = base64.b64encode(data).decode()
        return value

    spelled = json.dumps(json.loads(body, object_hook=in_base64))
    return json_format.Parse(spelled, ExportTraceServiceRequest())


def spans_of(body: str | bytes) -> list[Any]:
    (resource,) = read(body).resource_spans
    (scope,) = resource.scope_spans
    assert resource.schema_url == scope.schema_url == SCHEMA
    return list(scope.spans)


def facts(span: Any) -> dict[str, Any]:
    found = {}
    for each in span.attributes:
        assert each.key not in found
        value = each.value
        kind = value.WhichOneof("value")
        told = getattr(value, kind)
        found[each.key] = (
            [one.string_value for one in told.values] if kind == "array_value" else told
        )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_is_what_a_collector_takes(name: str, archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(lay_out(name, home)))
    for each in archive.conversations(Filter()):
        made = document(archive, each.id, Wish("otlp"))
        spans = spans_of("".join(made.pieces()))
        ids = [(span.trace_id, span.span_id) for span in spans]
        assert len(set(ids)) == len(ids)
        traces = {span.trace_id for span in spans}
        roots = [span for span in spans if not span.parent_span_id]
        assert len(roots) == len(traces)
        for span in spans:
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            assert not span.parent_span_id or (span.trace_id, span.parent_span_id) in ids
            told = facts(span)
            assert told["gen_ai.operation.name"] == span.name.split()[0]
            assert told["gen_ai.conversation.id"] and told["gen_ai.provider.name"]
            for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
                for one in json.loads(told.get(key, "[]")):
                    assert one["role"] in ("user", "assistant", "tool", "system")
                    assert all(isinstance(part["type"], str) for part in one["parts"])
        sent = [span for body in requests(made.transcript, made.options) for span in spans_of(body)]
        assert sent == spans


def story() -> Transcript:
    at = "2026-11-15T18:0{}:00.000Z"
    parts: list[Part] = [Thinking("hm"), Text("I look."), ToolCall("A", "Bash", {"command": "ls"})]
    usage = Usage(5, 7, cache_read_tokens=100)
    return Transcript(
        conversation(models=["claude-x"]),
        [
            message("1", "person", "読んで", at=at.format(1), turn=1),
            message("2", parts=parts, at=at.format(2), turn=1, model="claude-x", usage=usage),
            result("3", "A", "a b", status="error", at=at.format(3), turn=1),
            message("4", text="done", at=at.format(4), turn=1, model="claude-x"),
            message("5", "person", "more", at=at.format(5), turn=2),
        ],
    )


def test_a_turn_is_a_trace_with_its_answers_and_calls_in_it() -> None:
    spans = spans_of("".join(write("otlp", story(), FormatOptions())))
    assert [span.name for span in spans] == [
        "invoke_agent toy",
        "chat claude-x",
        "execute_tool Bash",
        "chat claude-x",
        "invoke_agent toy",
    ]
    turn, first, tool, second, other = spans
    assert {span.trace_id for span in (turn, first, tool, second)} != {other.trace_id}
    assert {span.parent_span_id for span in (first, tool, second)} == {turn.span_id}
    assert facts(first)["gen_ai.provider.name"] == "anthropic"
    assert facts(first)["gen_ai.usage.input_tokens"] == 105
    assert facts(first)["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert json.loads(facts(first)["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "読んで"}]}
    ]
    assert json.loads(facts(second)["gen_ai.input.messages"]) == [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "A", "response": "a b"}]}
    ]
    assert json.loads(facts(first)["gen_ai.output.messages"])[0]["parts"] == [
        {"type": "reasoning", "content": "hm"},
        {"type": "text", "content": "I look."},
        {"type": "tool_call", "id": "A", "name": "Bash", "arguments": {"command": "ls"}},
    ]
    told = facts(tool)
    assert (told["gen_ai.tool.call.id"], told["gen_ai.tool.call.result"]) == ("A", "a b")
    assert tool.status.code == 2 and told["error.type"] == "error"
    assert (tool.end_time_unix_nano - tool.start_time_unix_nano) == 60 * 10**9


def test_a_sub_agent_works_within_the_call_that_started_it() -> None:
    child = Transcript(
        conversation(id="toy/child", native_id="child"), [message("c", text="looked")]
    )
    about = conversation(links=[Link("subagent", "toy/child", "child", "A")])
    whole = Transcript(about, [call("1", "A", "look"), result("2", "A", "done")], [child])
    spans = spans_of("".join(write("otlp", whole, FormatOptions())))
    tool = next(span for span in spans if span.name.startswith("execute_tool"))
    inner = next(span for span in spans if span.parent_span_id == tool.span_id)
    assert facts(inner)["gen_ai.conversation.id"] == "toy/child"
    assert len({span.trace_id for span in spans}) == 1


def test_what_the_program_said_is_an_event_of_the_turn() -> None:
    said = message("1", "harness", "compacted", display="divider", label="summary")
    lost = result("2", "nobody", "lost")
    (turn,) = spans_of(
        "".join(write("otlp", Transcript(conversation(), [said, lost]), FormatOptions()))
    )
    assert [event.name for event in turn.events] == ["rireki.notice", "rireki.result_without_call"]
    assert facts(turn.events[1])["rireki.message.text"] == "lost"


def test_where_the_source_notes_no_times_the_span_says_so() -> None:
    about = conversation(started_at="2026-11-15T18:00:00.000Z")
    (turn, chat) = spans_of(
        "".join(write("otlp", Transcript(about, [message("1", text="hi")]), FormatOptions()))
    )
    assert chat.start_time_unix_nano == turn.start_time_unix_nano == 1794765600 * 10**9
    assert facts(chat)["rireki.times"] == "not told by the source"


def test_pictures_are_inside_and_the_rest_is_named() -> None:
    parts: list[Part] = [Attachment("image/png", "d"), Attachment("application/pdf", "e", "p.pdf")]
    options = FormatOptions(attachment_bytes=lambda part: b"x" if part.digest == "d" else None)
    told = Transcript(conversation(), [message("1", "person", parts=parts)])
    (turn,) = spans_of("".join(write("otlp", told, options)))
    ((blob, file),) = [one["parts"] for one in json.loads(facts(turn)["gen_ai.input.messages"])]
    assert blob == {
        "type": "blob",
        "modality": "image",
        "mime_type": "image/png",
        "content": "eA==",
    }
    assert file["file_id"] == "p.pdf" and file["modality"] == "document"


def test_a_long_conversation_goes_out_in_several_requests() -> None:
    long = Transcript(conversation(), [message(str(n), text="x" * 500_000) for n in range(9)])
    bodies = list(requests(long, FormatOptions()))
    assert len(bodies) > 2 and max(map(len, bodies)) < 2 * LARGEST
    assert sum(len(spans_of(body)) for body in bodies) == 10


def test_sent_twice_it_is_the_same() -> None:
    assert [*write("otlp", story(), FormatOptions())] == [*write("otlp", story(), FormatOptions())]
