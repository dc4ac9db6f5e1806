"""Tools that Responses has items of its own for: custom ones, the shell, patches.

To others they are calls and results like any; here a call and its result must be of one kind.
Calls of the computer stay what they are: what answers them is a picture of the screen.
Knows no rules and no other provider.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rireki.providers.kit import items, mapping, result_text, string
from rireki.providers.neutral import Call, NeutralText, Opaque, Part, Result, Turn
from rireki.providers.notes import Notes

__all__ = ["OUTPUTS", "output_like", "own_call", "own_result", "without_halves"]

#: What answers a call, by the kind of the call.
OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}


def own_call(item: dict[str, Any]) -> Call:
    identity, kind = string(item.get("call_id")) or None, item.get("type")
    if kind == "custom_tool_call":
        return Call(identity, string(item.get("name")), {"input": item.get("input")}, raw=item)
    asked = item.get("operation" if kind == "apply_patch_call" else "action")
    return Call(identity, string(kind).removesuffix("_call"), mapping(asked), raw=item)


def own_result(item: dict[str, Any]) -> Result:
    """What the shell printed, or how a patch went."""
    identity, output = string(item.get("call_id")) or None, item.get("output")
    if item.get("type") == "local_shell_call_output":
        # OpenAI's types have the call's id in `id` alone, its other packages in `call_id`.
        identity = identity or string(item.get("id")) or None
        said, failed = string(output), False
    elif item.get("type") == "apply_patch_call_output":
        said, failed = string(output), item.get("status") == "failed"
    else:
        runs = [mapping(run) for run in items(output)]
        said = "\n".join(filter(None, map(_printed, runs)))
        failed = any(mapping(run.get("outcome")).get("type") == "timeout" for run in runs)
    return Result(identity, None, [NeutralText(said)] if said else [], failed, raw=item)


def _printed(run: dict[str, Any]) -> str:
    outcome = mapping(run.get("outcome"))
    code = outcome.get("exit_code")
    ended = (
        f"[exit code {code}]" if code else "[timeout]" if outcome.get("type") == "timeout" else ""
    )
    said = [string(run.get("stdout")), string(run.get("stderr")), ended]
    return "\n".join(text.rstrip("\n") for text in said if text)


def output_like(kind: str, result: Result, output: Any) -> dict[str, Any]:
    """The result as an item of the kind that answers its call."""
    item: dict[str, Any] = {"type": kind, "call_id": result.id}
    said = result_text(result)
    failed = result.is_error or said.startswith("Error")
    if kind == "shell_call_output":
        outcome = {"type": "exit", "exit_code": int(failed)}
        return {**item, "output": [{"stdout": said, "stderr": "", "outcome": outcome}]}
    if kind == "local_shell_call_output":
        return {**item, "id": result.id, "output": said}
    if kind == "apply_patch_call_output":
        return {**item, "status": "failed" if failed else "completed", "output": said}
    return {**item, "output": output if isinstance(output, str | list) else said}


def without_halves(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Without calls of the computer that have no output, and outputs that have no call."""
    kept = list(turns)
    for place, half in _halves(turns):
        notes.add("opaque-dropped", place, "a computer_call and its screenshot come together only")
        turn = kept[place]
        kept[place] = Turn(turn.role, [p for p in turn.parts if p is not half], turn.provider)
    return kept


def _halves(turns: Sequence[Turn]) -> Iterator[tuple[int, Part]]:
    open_calls: dict[str, tuple[int, Part]] = {}
    for place, turn in enumerate(turns):
        for part in turn.parts:
            if type(part) is not Opaque:
                continue
            item = mapping(part.raw)
            identity = string(item.get("call_id"))
            if item.get("type") == "computer_call":
                open_calls[identity] = place, part
            elif item.get("type") == "computer_call_output" and not open_calls.pop(identity, None):
                yield place, part
    yield from open_calls.values()
