"""What an agent of the protocol asks, in our words; and our answers, in its own.

Permissions come with options; plans are permissions whose call carries the plan; questions are
forms. Pure: from values to values.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from rireki.drive.acp.updates import diffs_of
from rireki.drive.driver import Reply
from rireki.drive.values import Ask, AskedQuestion, Choice, Option

__all__ = ["permission", "permission_reply", "question", "question_reply", "tool_call"]

_KINDS: dict[str, Literal["allow_once", "allow_always", "reject_once", "reject_always"]] = {
    "allow_once": "allow_once",
    "allow_always": "allow_always",
    "reject_once": "reject_once",
    "reject_always": "reject_always",
}
#: The field of a form that takes an answer of one's own to the question before it.
_OWN = "_custom"
#: Where Claude Code's adapter says more about an option.
_MORE = "_claude/askUserQuestionOption"
_YES, _NO = "Yes", "No"


# ── permissions and plans ──


def tool_call(params: dict[str, Any]) -> dict[str, Any]:
    call = params.get("toolCall")
    # Its status is that of the asking, not the end of the call.
    return {k: v for k, v in call.items() if k != "status"} if isinstance(call, dict) else {}


def permission(params: dict[str, Any]) -> Ask:
    call = tool_call(params)
    arguments = call.get("rawInput")
    plan = arguments.get("plan") if isinstance(arguments, dict) else None
    is_plan = isinstance(plan, str) and call.get("kind") == "switch_mode"
    diffs = diffs_of(call.get("content"))
    id = call.get("toolCallId")
    return Ask(
        id="",
        what="plan" if is_plan else "permission",
        title=_text(call.get("title")) or "The agent asks for permission",
        detail=_text(plan) if is_plan else _exactly(arguments, diffs),
        call=id if isinstance(id, str) else None,
        arguments=arguments,
        diffs=diffs,
        options=[_option(option) for option in _dicts(params.get("options"))],
    )


def permission_reply(params: dict[str, Any], reply: Reply) -> dict[str, Any]:
    if reply.outcome in ("selected", "refused") and reply.answer.option is not None:
        return {"outcome": {"outcome": "selected", "optionId": reply.answer.option}}
    return {"outcome": {"outcome": "cancelled"}}


def _option(option: dict[str, Any]) -> Option:
    id = _text(option.get("optionId"))
    return Option(
        id, _text(option.get("name")) or id, _KINDS.get(_text(option.get("kind")), "choice")
    )


def _exactly(arguments: Any, diffs: list[dict[str, Any]]) -> str:
    """What would be done, to the letter."""
    if isinstance(arguments, dict) and isinstance(arguments.get("command"), str):
        return str(arguments["command"])
    if isinstance(arguments, dict) and list(arguments) == ["commands"]:
        commands = arguments["commands"]
        if isinstance(commands, list) and all(isinstance(one, str) for one in commands):
            return "\n".join(commands)
    if diffs:
        return "\n".join(str(diff["path"]) for diff in diffs)
    if arguments in (None, {}, ""):
        return ""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, indent=2)


# ── questions ──


def question(params: dict[str, Any]) -> Ask:
    message = _text(params.get("message"))
    fields = _fields(params)
    asked = [name for name in fields if not _is_own(name, fields)]
    call = params.get("toolCallId")
    return Ask(
        id="",
        what="question",
        title=message or "The agent asks",
        call=call if isinstance(call, str) else None,
        questions=[_question(name, fields, message, params) for name in asked],
    )


def question_reply(params: dict[str, Any], reply: Reply) -> dict[str, Any]:
    if reply.outcome == "refused":
        return {"action": "decline"}
    if reply.outcome != "answered":
        return {"action": "cancel"}
    fields = _fields(params)
    content: dict[str, Any] = {}
    for name, values in (reply.answer.values or {}).items():
        values = [value for value in values if value.strip()]
        field = fields.get(name)
        if field is None or not values:
            continue
        consts = _consts(field)
        own = [value for value in values if consts and value not in consts]
        if own and name + _OWN in fields:
            # One answer counts per question: what was chosen beside it is said with it.
            content[name + _OWN] = ", ".join(values)
        else:
            content[name] = _typed(field, [consts.get(value, value) for value in values])
    return {"action": "accept", "content": content}


def _fields(params: dict[str, Any]) -> dict[str, dict[str, Any]]:
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    items = properties.items() if isinstance(properties, dict) else []
    return {name: field for name, field in items if isinstance(field, dict)}


def _is_own(name: str, fields: dict[str, Any]) -> bool:
    return name.endswith(_OWN) and name.removesuffix(_OWN) in fields


def _question(
    name: str, fields: dict[str, dict[str, Any]], message: str, params: dict[str, Any]
) -> AskedQuestion:
    field = fields[name]
    required = params["requestedSchema"].get("required")
    title, text = _text(field.get("title")), _text(field.get("description"))
    return AskedQuestion(
        id=name,
        question=text
        or (message if len(_dicts(list(fields.values()))) <= 2 else "")
        or title
        or name,
        header=title,
        options=_choices(field),
        multiple=field.get("type") == "array",
        free=name + _OWN in fields,
        required=isinstance(required, list) and name in required,
    )


def _choices(field: dict[str, Any]) -> list[Choice]:
    if field.get("type") == "boolean":
        return [Choice(_YES), Choice(_NO)]
    return [Choice(_label(option), _about(option)) for option in _offered(field)]


def _offered(field: dict[str, Any]) -> list[Any]:
    items = field.get("items")
    within = items if isinstance(items, dict) else field
    for key in ("oneOf", "anyOf", "enum"):
        if isinstance(within.get(key), list):
            return list(within[key])
    return []


def _label(option: Any) -> str:
    if not isinstance(option, dict):
        return str(option)
    # The adapter repeats the description in the title.
    return (
        str(option.get("const"))
        if _more(option)
        else _text(option.get("title")) or str(option.get("const"))
    )


def _about(option: Any) -> str:
    return _text(_more(option).get("description")) if isinstance(option, dict) else ""


def _more(option: dict[str, Any]) -> dict[str, Any]:
    meta = option.get("_meta")
    more = meta.get(_MORE) if isinstance(meta, dict) else None
    return more if isinstance(more, dict) else {}


def _consts(field: dict[str, Any]) -> dict[str, Any]:
    """By label, what the agent wants to hear."""
    if field.get("type") == "boolean":
        return {_YES: True, _NO: False}
    return {
        _label(option): option.get("const") if isinstance(option, dict) else option
        for option in _offered(field)
    }


def _typed(field: dict[str, Any], values: list[Any]) -> Any:
    kind = field.get("type")
    if kind == "array":
        return values
    value = values[0]
    if kind in ("integer", "number"):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
    return value


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
