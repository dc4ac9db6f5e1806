"""Who is behind an entry of role "user", and how to show it: the table, in order, first hit decides.

The rows are numbered as in docs/sources/claude-code.md. `act` says what a
person did: `turn` starts something the agent works on, `local` is a command
that the program answers itself, `act` is an answer or an interruption.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from rireki.model.message import Author, Display
from rireki.sources.claude_code.kinds import CONTEXT as CONTEXTS
from rireki.sources.claude_code.kinds import FILES, HOOKS, SYNTHETIC
from rireki.sources.claude_code.shapes import Attached, Look
from rireki.sources.claude_code.tags import (
    CAVEATS,
    INTERRUPTED,
    SKILL_BODY,
    SUMMARY,
    context_of,
    output_of,
    persons_reason,
)

__all__ = [
    "Act",
    "Case",
    "Rule",
    "judge",
    "judge_answer",
    "judge_attachment",
    "judge_result",
    "judge_system",
]

Act: TypeAlias = Literal["turn", "local", "act", ""]


class Case(Struct, gc=False):
    """What the rules look at."""

    look: Look
    text: str
    pictures: bool = False
    #: The entry stands in a sub-agent's conversation.
    agent: bool = False
    #: Its parent is a slash command of the same prompt.
    under_command: bool = False


class Rule(NamedTuple):
    row: str
    hits: Callable[[Case], bool]
    author: Author
    display: Display
    act: Act = ""


def _meta(*starts: str) -> Callable[[Case], bool]:
    return lambda case: bool(case.look.isMeta) and case.text.startswith(starts)


def _starts(*starts: str) -> Callable[[Case], bool]:
    return lambda case: case.text.startswith(starts)


def _is_flagged_summary(case: Case) -> bool:
    return bool(case.look.isCompactSummary or case.look.isVisibleInTranscriptOnly)


def _is_summary(case: Case) -> bool:
    return _is_flagged_summary(case) or case.text.startswith(SUMMARY)


def _from_elsewhere(case: Case) -> bool:
    look = case.look
    if look.origin is not None and look.origin.kind is not None:
        return look.origin.kind != "human"
    return look.promptSource == "system" or look.turnOrigin == "task_notification"


def _is_skill_of_model(case: Case) -> bool:
    return bool(case.look.isMeta and case.look.sourceToolUseID)


def _is_command(case: Case) -> bool:
    return case.text.startswith("<command-") and "<command-name>" in case.text


def _is_local_command(case: Case) -> bool:
    return case.text.startswith("<command-name>")


def _only_context(case: Case) -> bool:
    context, rest = context_of(case.text)
    return bool(context) and not rest and not case.pictures


_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")
_SHELL_OUTPUT = ("<bash-stdout>", "<bash-stderr>")


def _empty(*starts: str) -> Callable[[Case], bool]:
    return lambda case: case.text.startswith(starts) and not output_of(case.text)


#: Told by how they begin, in old files that mark nothing. A person may quote such a text: where
#: the entry says that a human wrote it, they do not count.
_SUMMARY = Rule("3", _starts(SUMMARY), "harness", "divider")
_SKILL = Rule("4", _starts(SKILL_BODY), "harness", "chip")
_CAVEAT = Rule("6", _starts(*CAVEATS), "harness", "hidden")
#: Flags decide before text does.
MARKED = (
    Rule("2", lambda c: c.agent and c.text.strip() == "Warmup", "harness", "hidden"),
    Rule("2", lambda c: c.agent and _is_summary(c), "harness", "divider"),
    Rule("2", lambda c: c.agent and c.text.startswith(INTERRUPTED), "harness", "chip", "act"),
    Rule("2", lambda c: c.agent and bool(c.look.isMeta), "harness", "fold"),
    Rule("2", lambda c: c.agent, "harness", "bubble", "turn"),
    Rule("3", _is_flagged_summary, "harness", "divider"),
    _SUMMARY,
    Rule("4", _is_skill_of_model, "harness", "chip"),
    _SKILL,
    Rule("5", lambda c: bool(c.look.isMeta) and c.under_command, "harness", "fold"),
    _CAVEAT,
    Rule("7", _meta("[Image: source:"), "harness", "fold"),
    Rule("8", _meta("Stop hook feedback:"), "harness", "chip"),
    Rule("9", lambda c: bool(c.look.isMeta), "harness", "hidden"),
    Rule("10", _from_elsewhere, "harness", "chip"),
)
#: Texts that the program wrote into a user entry; where the entry says that a human wrote it,
#: only those count that stand for something a person does.
TAGGED = (
    Rule("11", _starts("<task-notification>"), "harness", "chip"),
    Rule("12", _starts("<teammate-message", "<agent-message"), "harness", "chip"),
    Rule("13", _is_local_command, "person", "chip", "local"),
    Rule("13", _is_command, "person", "chip", "turn"),
    Rule("14", _empty(*_OUTPUT), "harness", "hidden"),
    Rule("14", _starts(*_OUTPUT), "harness", "fold"),
    Rule("15", _starts("<bash-input>"), "person", "bubble", "local"),
    Rule("15", _empty(*_SHELL_OUTPUT), "harness", "hidden"),
    Rule("15", _starts(*_SHELL_OUTPUT), "harness", "fold"),
)
#: What an editor or a loop adds around a prompt.
AROUND = Rule("17", _only_context, "harness", "chip")
TYPED = (
    Rule("16", _starts(INTERRUPTED), "person", "chip", "act"),
    AROUND,
    Rule("18", _starts("<user-memory-input>"), "person", "chip", "local"),
    Rule("19", lambda c: c.pictures or "[Image #" in c.text, "person", "bubble", "turn"),
    Rule("20", lambda c: True, "person", "bubble", "turn"),
)
ALL = MARKED + TAGGED + TYPED
#: What people do by typing is spelled in tags as well.
HUMAN = (
    *(rule for rule in MARKED if rule not in (_SUMMARY, _SKILL, _CAVEAT)),
    *(rule for rule in TAGGED if rule.author == "person"),
    *TYPED,
)
#: All that can hit a text without marks: most entries, so the others are not asked.
PLAIN = tuple(rule for rule in ALL if rule.row in ("10", "19", "20"))
#: What the texts begin with that any other rule asks for.
_OPENINGS = ("<", "[", SKILL_BODY, SUMMARY, *CAVEATS)


def judge(case: Case) -> Rule:
    for rule in rules_for(case):
        if rule.hits(case):
            return rule
    return TYPED[-1]


def rules_for(case: Case) -> tuple[Rule, ...]:
    look = case.look
    marked = case.agent or look.isMeta or look.isCompactSummary or look.isVisibleInTranscriptOnly
    if not marked and not case.text.startswith(_OPENINGS):
        return PLAIN
    return HUMAN if look.origin is not None and look.origin.kind == "human" else ALL


RESULT = Rule("1", bool, "tool", "fold")
REFUSED = Rule("1a", bool, "person", "bubble", "act")
ANSWERED = Rule("1b", bool, "person", "bubble", "act")
PLANNED = Rule("1c", bool, "person", "chip", "act")

#: Tools that ask a person.
_CHOSEN = {"AskUserQuestion": ANSWERED, "ExitPlanMode": PLANNED}
#: Deciders of a permission that are no person.
_MACHINES = ("config", "hook", "rule", "policy", "classifier", "mode")
#: How errors begin that no person had a part in, whatever the tool.
_MISHAPS = ("<tool_use_error>", "InputValidationError", "Exit code", "Hook ", "PreToolUse")
#: Tools whose own failures are recognisable, so that any other error text is a refusal's.
_PLAIN_TOOLS = frozenset(("Bash", "Write", "Edit", "MultiEdit", "NotebookEdit"))
_FAILURES = (
    *_MISHAPS,
    "Error",
    "Command ",
    "Permission to use ",
    "Claude requested permission",
    "The user doesn't want",
    "[Request interrupted",
    "File ",
    "String ",
)


def judge_result(look: Look, tool: str, error: str, asked: bool) -> Rule:
    """Whether a person's words are in a tool's outcome.

    `error` is the text of a failed result; `asked` says that permissions were asked
    for over the SDK, where a refusal leaves nothing but its text.
    """
    if _was_refused(look):
        return REFUSED
    if not error and tool in _CHOSEN:
        return _CHOSEN[tool]
    if look.holdsPersonsWords:
        return REFUSED
    if error.startswith(_MISHAPS):
        return RESULT
    if persons_reason(error) or tool == "AskUserQuestion":
        return REFUSED
    if tool == "ExitPlanMode":
        return PLANNED
    if asked and error and tool in _PLAIN_TOOLS and not error.startswith(_FAILURES):
        return REFUSED
    return RESULT


def _was_refused(look: Look) -> bool:
    """Whether a newer version noted that a person said no; rules and hooks say no as well."""
    decision, kind = look.permissionDecision, look.toolDenialKind
    by_machine = decision is not None and decision.source in _MACHINES
    if kind:
        return "user" in kind or not by_machine
    return decision is not None and decision.decision == "reject" and not by_machine


def judge_attachment(attached: Attached, prompt: str, agent: bool, empty: bool) -> Rule:
    kind = attached.type
    if kind == "queued_command":
        by_person = _typed_meanwhile(attached, agent) and not prompt.startswith(
            "<task-notification>"
        )
        return TYPED_MEANWHILE if by_person else QUEUED_BY_OTHERS
    if kind.startswith(HOOKS):
        return QUIET_HOOK if empty else HOOK
    if kind in FILES:
        return MENTIONED
    return CONTEXT if kind in CONTEXTS or not kind else STRANGE


def _typed_meanwhile(attached: Attached, agent: bool) -> bool:
    origin = attached.origin.kind if attached.origin is not None else None
    if attached.commandMode not in (None, "prompt", "bash"):
        return False
    if origin == "human" or attached.humanTurn:
        return True
    return origin is None and not agent


TYPED_MEANWHILE = Rule("A1", bool, "person", "bubble", "turn")
QUEUED_BY_OTHERS = Rule("A2", bool, "harness", "chip")
NEVER_SENT = Rule("A3", bool, "person", "bubble", "act")
HOOK = Rule("A4", bool, "harness", "chip")
QUIET_HOOK = Rule("A4", bool, "harness", "hidden")
MENTIONED = Rule("A5", bool, "harness", "fold")
CONTEXT = Rule("A6", bool, "harness", "hidden")


def judge_system(case: Case) -> Rule:
    """A `system` line that says something."""
    if case.look.subtype == "local_command":
        for rule in TAGGED:
            if rule.row in ("13", "14") and rule.hits(case):
                return rule
        if case.text.startswith("/"):
            return UNKNOWN_COMMAND
    return NOTICE


UNKNOWN_COMMAND = Rule("S1", bool, "person", "chip", "local")
NOTICE = Rule("S2", bool, "harness", "chip")
BOUNDARY = Rule("3", bool, "harness", "divider")
#: What is not in the table: kept, shown folded.
STRANGE = Rule("unknown", bool, "harness", "fold")
ANSWER = Rule("answer", bool, "agent", "bubble")
API_ERROR = Rule("api error", bool, "harness", "chip")
FILLER = Rule("filler", bool, "harness", "hidden")
#: What the program lets the agent say when nobody wants an answer.
_FILLERS = (b"No response requested.",)


def judge_answer(look: Look, data: bytes) -> Rule:
    """An entry of role "assistant"; `data` is the whole line."""
    if look.isApiErrorMessage:
        return API_ERROR
    synthetic = look.message is not None and look.message.model == SYNTHETIC
    return FILLER if synthetic and any(filler in data for filler in _FILLERS) else ANSWER
