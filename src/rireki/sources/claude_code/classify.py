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
from rireki.sources.claude_code.shapes import Attached, LineHead
from rireki.sources.claude_code.words import (
    CAVEATS,
    FILES,
    HOOKS,
    INTERRUPTED,
    SKILL_BODY,
    SUMMARY,
    SYNTHETIC,
    context_of,
    output_of,
    persons_reason,
)
from rireki.sources.claude_code.words import CONTEXT as CONTEXTS

__all__ = [
    "AuthorRule",
    "RuleInput",
    "judge",
    "judge_answer",
    "judge_attachment",
    "judge_result",
    "judge_system",
]

Act: TypeAlias = Literal["turn", "local", "act", ""]


class RuleInput(Struct, gc=False):
    """What the rules look at."""

    look: LineHead
    text: str
    pictures: bool = False
    #: The entry stands in a sub-agent's conversation.
    agent: bool = False
    #: Its parent is a slash command of the same prompt.
    under_command: bool = False


class AuthorRule(NamedTuple):
    row: str
    hits: Callable[[RuleInput], bool]
    author: Author
    display: Display
    act: Act = ""


def _meta(*starts: str) -> Callable[[RuleInput], bool]:
    return lambda case: bool(case.look.isMeta) and case.text.startswith(starts)


def _starts(*starts: str) -> Callable[[RuleInput], bool]:
    return lambda case: case.text.startswith(starts)


def _is_flagged_summary(case: RuleInput) -> bool:
    return bool(case.look.isCompactSummary or case.look.isVisibleInTranscriptOnly)


def _is_summary(case: RuleInput) -> bool:
    return _is_flagged_summary(case) or case.text.startswith(SUMMARY)


def _from_elsewhere(case: RuleInput) -> bool:
    look = case.look
    if look.origin is not None and look.origin.kind is not None:
        return look.origin.kind != "human"
    return look.promptSource == "system" or look.turnOrigin == "task_notification"


def _is_skill_of_model(case: RuleInput) -> bool:
    return bool(case.look.isMeta and case.look.sourceToolUseID)


def _is_command(case: RuleInput) -> bool:
    return case.text.startswith("<command-") and "<command-name>" in case.text


def _is_local_command(case: RuleInput) -> bool:
    return case.text.startswith("<command-name>")


def _only_context(case: RuleInput) -> bool:
    context, rest = context_of(case.text)
    return bool(context) and not rest and not case.pictures


_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")
_SHELL_OUTPUT = ("<bash-stdout>", "<bash-stderr>")


def _empty(*starts: str) -> Callable[[RuleInput], bool]:
    return lambda case: case.text.startswith(starts) and not output_of(case.text)


#: Told by how they begin, in old files that mark nothing. A person may quote such a text: where
#: the entry says that a human wrote it, they do not count.
_SUMMARY = AuthorRule("3", _starts(SUMMARY), "harness", "divider")
_SKILL = AuthorRule("4", _starts(SKILL_BODY), "harness", "chip")
_CAVEAT = AuthorRule("6", _starts(*CAVEATS), "harness", "hidden")
#: Flags decide before text does.
MARKED = (
    AuthorRule("2", lambda c: c.agent and c.text.strip() == "Warmup", "harness", "hidden"),
    AuthorRule("2", lambda c: c.agent and _is_summary(c), "harness", "divider"),
    AuthorRule("2", lambda c: c.agent and c.text.startswith(INTERRUPTED), "harness", "chip", "act"),
    AuthorRule("2", lambda c: c.agent and bool(c.look.isMeta), "harness", "fold"),
    AuthorRule("2", lambda c: c.agent, "harness", "bubble", "turn"),
    AuthorRule("3", _is_flagged_summary, "harness", "divider"),
    _SUMMARY,
    AuthorRule("4", _is_skill_of_model, "harness", "chip"),
    _SKILL,
    AuthorRule("5", lambda c: bool(c.look.isMeta) and c.under_command, "harness", "fold"),
    _CAVEAT,
    AuthorRule("7", _meta("[Image: source:"), "harness", "fold"),
    AuthorRule("8", _meta("Stop hook feedback:"), "harness", "chip"),
    AuthorRule("9", lambda c: bool(c.look.isMeta), "harness", "hidden"),
    AuthorRule("10", _from_elsewhere, "harness", "chip"),
)
#: Texts that the program wrote into a user entry; where the entry says that a human wrote it,
#: only those count that stand for something a person does.
TAGGED = (
    AuthorRule("11", _starts("<task-notification>"), "harness", "chip"),
    AuthorRule("12", _starts("<teammate-message", "<agent-message"), "harness", "chip"),
    AuthorRule("13", _is_local_command, "person", "chip", "local"),
    AuthorRule("13", _is_command, "person", "chip", "turn"),
    AuthorRule("14", _empty(*_OUTPUT), "harness", "hidden"),
    AuthorRule("14", _starts(*_OUTPUT), "harness", "fold"),
    AuthorRule("15", _starts("<bash-input>"), "person", "bubble", "local"),
    AuthorRule("15", _empty(*_SHELL_OUTPUT), "harness", "hidden"),
    AuthorRule("15", _starts(*_SHELL_OUTPUT), "harness", "fold"),
)
#: What an editor or a loop adds around a prompt.
AROUND = AuthorRule("17", _only_context, "harness", "chip")
TYPED = (
    AuthorRule("16", _starts(INTERRUPTED), "person", "chip", "act"),
    AROUND,
    AuthorRule("18", _starts("<user-memory-input>"), "person", "chip", "local"),
    AuthorRule("19", lambda c: c.pictures or "[Image #" in c.text, "person", "bubble", "turn"),
    AuthorRule("20", lambda c: True, "person", "bubble", "turn"),
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


def judge(case: RuleInput) -> AuthorRule:
    for rule in rules_for(case):
        if rule.hits(case):
            return rule
    return TYPED[-1]


def rules_for(case: RuleInput) -> tuple[AuthorRule, ...]:
    look = case.look
    marked = case.agent or look.isMeta or look.isCompactSummary or look.isVisibleInTranscriptOnly
    if not marked and not case.text.startswith(_OPENINGS):
        return PLAIN
    return HUMAN if look.origin is not None and look.origin.kind == "human" else ALL


RESULT = AuthorRule("1", bool, "tool", "fold")
REFUSED = AuthorRule("1a", bool, "person", "bubble", "act")
ANSWERED = AuthorRule("1b", bool, "person", "bubble", "act")
PLANNED = AuthorRule("1c", bool, "person", "chip", "act")

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


def judge_result(look: LineHead, tool: str, error: str, asked: bool) -> AuthorRule:
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


def _was_refused(look: LineHead) -> bool:
    """Whether a newer version noted that a person said no; rules and hooks say no as well."""
    decision, kind = look.permissionDecision, look.toolDenialKind
    by_machine = decision is not None and decision.source in _MACHINES
    if kind:
        return "user" in kind or not by_machine
    return decision is not None and decision.decision == "reject" and not by_machine


def judge_attachment(attached: Attached, prompt: str, agent: bool, empty: bool) -> AuthorRule:
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


TYPED_MEANWHILE = AuthorRule("A1", bool, "person", "bubble", "turn")
QUEUED_BY_OTHERS = AuthorRule("A2", bool, "harness", "chip")
NEVER_SENT = AuthorRule("A3", bool, "person", "bubble", "act")
HOOK = AuthorRule("A4", bool, "harness", "chip")
QUIET_HOOK = AuthorRule("A4", bool, "harness", "hidden")
MENTIONED = AuthorRule("A5", bool, "harness", "fold")
CONTEXT = AuthorRule("A6", bool, "harness", "hidden")


def judge_system(case: RuleInput) -> AuthorRule:
    """A `system` line that says something."""
    if case.look.subtype == "local_command":
        for rule in TAGGED:
            if rule.row in ("13", "14") and rule.hits(case):
                return rule
        if case.text.startswith("/"):
            return UNKNOWN_COMMAND
    return NOTICE


UNKNOWN_COMMAND = AuthorRule("S1", bool, "person", "chip", "local")
NOTICE = AuthorRule("S2", bool, "harness", "chip")
BOUNDARY = AuthorRule("3", bool, "harness", "divider")
#: What is not in the table: kept, shown folded.
STRANGE = AuthorRule("unknown", bool, "harness", "fold")
ANSWER = AuthorRule("answer", bool, "agent", "bubble")
API_ERROR = AuthorRule("api error", bool, "harness", "chip")
FILLER = AuthorRule("filler", bool, "harness", "hidden")
#: What the program lets the agent say when nobody wants an answer.
_FILLERS = (b"No response requested.",)


def judge_answer(look: LineHead, data: bytes) -> AuthorRule:
    """An entry of role "assistant"; `data` is the whole line."""
    if look.isApiErrorMessage:
        return API_ERROR
    synthetic = look.message is not None and look.message.model == SYNTHETIC
    return FILLER if synthetic and any(filler in data for filler in _FILLERS) else ANSWER
