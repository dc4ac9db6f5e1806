"""The lines of one conversation folded into drafts of messages, with everything worth counting.

One light pass: no text is kept, nothing is decoded that a count does not need.
`render` makes full messages out of the drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rireki.model.tally import Tally
from rireki.sources.claude_code import classify
from rireki.sources.claude_code.classify import Case, Rule
from rireki.sources.claude_code.drafts import Draft, What, line_id
from rireki.sources.claude_code.entries import (
    flat,
    has_pictures,
    holds_result,
    is_marked,
    is_silent,
    text_of,
)
from rireki.sources.claude_code.facts import Facts
from rireki.sources.claude_code.kinds import QUIET_SYSTEM, is_metadata
from rireki.sources.claude_code.lines import Line
from rireki.sources.claude_code.order import (
    calls_of,
    name_successors,
    results_after_calls,
    results_of,
)
from rireki.sources.claude_code.queue import Queue
from rireki.sources.claude_code.shapes import Attached, Block, Look
from rireki.sources.claude_code.tags import command_of, context_of
from rireki.sources.claude_code.ties import SPAWNERS, Ties
from rireki.sources.claude_code.titles import Titles
from rireki.sources.claude_code.tree import Tree
from rireki.sources.claude_code.usage import SYNTHETIC, Meter

__all__ = ["Fold"]

#: Lines of people, agents and tools: where the last of them stands, the person is.
_SPOKEN = frozenset(("prompt", "answer", "result"))
#: Tools whose outcome is a person's choice.
_CHOICES = frozenset(("AskUserQuestion", "ExitPlanMode"))
#: What the program lets the agent say when nobody wants an answer.
_FILLERS = (b"No response requested.",)


class Fold:
    """`agent` is true for a sub-agent's conversation: nobody types there."""

    def __init__(self, lines: Iterable[Line], *, agent: bool) -> None:
        self.agent = agent
        self.drafts: list[Draft] = []
        self.tally = Tally()
        self.facts = Facts()
        self.meter = Meter()
        self.titles = Titles()
        self.ties = Ties()
        self.tree = Tree()
        self.queue = Queue()
        self.first_prompt = ""
        #: Uuids of the lines on branches that were left.
        self.left: set[str] = set()
        #: The tool behind each call.
        self.tools: dict[str, str] = {}
        self._answers: dict[str, Draft] = {}
        self._commands: dict[str, str | None] = {}
        self._boundary: Draft | None = None
        self._asks = False
        #: Results that came before their calls, by call.
        self._early: dict[str, list[Draft]] = {}
        for line in lines:
            self._take(line)
        self._close()

    # --- one line ---------------------------------------------------------------------------

    def _take(self, line: Line) -> None:
        look = line.look
        if look is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        if line.version:
            self._replaced(line, look)
            return
        read = _READERS.get(look.type)
        if read is None:
            self._metadata(line, look)
            return
        self.facts.note(look)
        if look.uuid is not None:
            self.tree.add(look.uuid, look.parentUuid, look.logicalParentUuid)
        read(self, line, look)

    def _draft(self, line: Line, what: What, rule: Rule, suffix: str = "") -> Draft:
        """A message in its place, with an id that no other has."""
        name = line_id(line) + suffix
        draft = Draft(name, what, line, rule, self.tally.turns or None)
        self.drafts.append(draft)
        return draft

    def _replaced(self, line: Line, look: Look) -> None:
        """An earlier version of a line, which the source wrote anew."""
        content = look.message.content if look.message is not None else None
        if look.type == "assistant":
            draft = self._draft(line, "answer", classify.ANSWER, f"~{line.version}")
        elif holds_result(content):
            draft = self._draft(line, "result", classify.RESULT, f"~{line.version}")
        elif look.type == "user":
            case = self._case(look, text_of(content), content)
            draft = self._draft(line, "prompt", classify.judge(case), f"~{line.version}")
        else:
            draft = self._draft(line, "strange", classify.CONTEXT, f"~{line.version}")
        draft.replaced_by = look.uuid

    # --- what the model was told ------------------------------------------------------------

    def _user(self, line: Line, look: Look) -> None:
        self.tally.entries += 1
        self.facts.count_flags(look)
        if look.message is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        content = look.message.content
        if len(self.ties.first_users) < 2 and look.uuid is not None:
            self.ties.first_users.append(look.uuid)
        if look.permissionMode is not None:
            self._asks = look.permissionMode != "bypassPermissions"
        if type(content) is list and holds_result(content):
            self._result(line, look, content)
            return
        text = text_of(content)
        case = self._case(look, text, content)
        rule = classify.judge(case)
        if rule.display == "divider" and self._is_summary_of_boundary(line):
            return
        if rule.row == "2":
            self.first_prompt = self.first_prompt or text
        elif rule.act in ("turn", "local"):
            self._prompt(look, rule, text)
        elif (
            rule.author == "harness" and rule.row not in ("3", "14", "15") and look.uuid is not None
        ):
            self.tree.skip(look.uuid)
        if rule.author == "person" and context_of(case.text)[0] and rule.row in ("18", "19", "20"):
            self._draft(line, "context", classify.AROUND, "#context")
        self._draft(line, "prompt" if rule.display != "divider" else "divider", rule)

    def _case(self, look: Look, text: str, content: str | list[Block] | None) -> Case:
        parent = look.parentUuid
        under = parent in self._commands and self._commands[parent] == look.promptId
        return Case(look, text.lstrip(), has_pictures(content), self.agent, under)

    def _prompt(self, look: Look, rule: Rule, text: str) -> None:
        """Something was typed: a new turn, a name for the conversation, a place in the tree."""
        self.tally.typed()
        if look.uuid is not None:
            self.tree.prompt(look.uuid)
        if rule.row in ("13", "S1"):
            command = command_of(text) if rule.row == "13" else text
            if look.uuid is not None:
                self._commands[look.uuid] = look.promptId
            self.titles.command(command)
            self.queue.delivered(command)
        elif rule.row in ("19", "20", "A1"):
            self.titles.prompt(look.uuid or "", context_of(text.lstrip())[1])
            self.queue.delivered(text)
        else:
            self.queue.delivered(text)

    def _result(self, line: Line, look: Look, blocks: list[Block]) -> None:
        drafts = [self._draft(line, "result", classify.RESULT)]
        said = None
        for block in blocks:
            if block.type == "tool_result":
                call = block.tool_use_id or ""
                self.tally.resulted(call)
                said = self._person_in(look, block) or said
                if call not in self.tools:
                    self._early[call] = drafts
        if said is not None:
            drafts.append(self._draft(line, "said", said, "#said"))

    def _person_in(self, look: Look, block: Block) -> Rule | None:
        """What a person did inside a tool's outcome, if anything."""
        tool = self.tools.get(block.tool_use_id or "", "")
        if tool in SPAWNERS:
            self.ties.returned(block, look.toolUseResult)
        if not block.is_error and tool not in _CHOICES and not is_marked(look):
            return None
        error = flat(block.content) if block.is_error else ""
        asked = self._asks and (look.entrypoint or "").startswith("sdk")
        rule = classify.judge_result(look, tool, error, asked)
        return rule if rule is not classify.RESULT else None

    # --- what the model said ----------------------------------------------------------------

    def _assistant(self, line: Line, look: Look) -> None:
        self.tally.entries += 1
        spoken = look.message
        if spoken is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        self.meter.note(line, spoken)
        draft = self._answers.get(spoken.id) if spoken.id else None
        if draft is None or draft.turn != (self.tally.turns or None):
            draft = self._draft(line, "answer", _kind_of_answer(line, look))
            if spoken.id:
                self._answers[spoken.id] = draft
        elif draft.more is None:
            draft.more = [line]
        else:
            draft.more.append(line)
        if isinstance(spoken.content, list):
            for block in spoken.content:
                self._block(draft, block)
        elif spoken.content:
            draft.spoke = True

    def _block(self, draft: Draft, block: Block) -> None:
        kind = block.type
        if kind == "text":
            draft.spoke = True
        elif kind.endswith("tool_use"):
            call, name = block.id or "", block.name or ""
            self.tally.asked(call)
            self.tools[call] = name
            if name in SPAWNERS:
                self.ties.called(block)
        elif kind.endswith("_tool_result"):
            self.tally.resulted(block.tool_use_id or "")

    # --- what the program noted -------------------------------------------------------------

    def _system(self, line: Line, look: Look) -> None:
        if look.subtype == "compact_boundary":
            self._boundary = self._draft(line, "divider", classify.BOUNDARY)
            return
        text = flat(look.content)
        if not text and look.subtype in QUIET_SYSTEM:
            self._skip(look)
            return
        if not text and not bytes(look.error):
            self._skip(look)
            self._draft(line, "system", classify.STRANGE)
            return
        rule = classify.judge_system(Case(look, text.lstrip()))
        if rule.author == "person":
            self._prompt(look, rule, text)
        else:
            self._skip(look)
        self._draft(line, "system", rule)

    def _attachment(self, line: Line, look: Look) -> None:
        attached = look.attachment or Attached()
        prompt = flat(attached.prompt)
        rule = classify.judge_attachment(attached, prompt, self.agent, is_silent(attached))
        if rule.author == "person":
            self._prompt(look, rule, prompt)
        else:
            self._skip(look)
        if rule.row == "A2":
            self.queue.delivered(prompt)
        self._draft(line, "attachment", rule)

    def _progress(self, line: Line, look: Look) -> None:
        """Ticks of a running tool: they only hold the tree together."""
        self._skip(look)

    def _skip(self, look: Look) -> None:
        if look.uuid is not None:
            self.tree.skip(look.uuid)

    def _metadata(self, line: Line, look: Look) -> None:
        if look.type == "queue-operation":
            self._queue(line, look)
        elif not is_metadata(look.type):
            self._draft(line, "strange", classify.STRANGE)
        elif look.continuedInSessionId:
            self.ties.successors.setdefault(look.continuedInSessionId)
        else:
            self.titles.note(look)

    def _queue(self, line: Line, look: Look) -> None:
        if look.operation == "enqueue":
            self.queue.enqueue(line, flat(look.content))
            # Drafted where it stands, and taken out again once it turns out delivered.
            self._draft(line, "queued", classify.NEVER_SENT)
        elif look.operation == "dequeue":
            self.queue.dequeue()

    def _is_summary_of_boundary(self, line: Line) -> bool:
        """A summary right after a compaction belongs to its divider."""
        boundary, self._boundary = self._boundary, None
        if boundary is None or boundary.more is not None:
            return False
        boundary.more = [line]
        return True

    # --- the end ----------------------------------------------------------------------------

    def _close(self) -> None:
        waiting = {id(line) for line in self.queue.never_sent()}
        self.drafts = [d for d in self.drafts if d.what != "queued" or id(d.line) in waiting]
        self._mark_branches()
        if self.agent and self.first_prompt.strip() == "Warmup":
            for draft in self.drafts:
                draft.rule = draft.rule._replace(display="hidden")
        name_successors(self.drafts)
        early = {call: drafts for call, drafts in self._early.items() if call in self.tools}
        for drafts in early.values():
            self._judge_late(drafts)
        self.drafts = results_after_calls(self.drafts, early)
        self.tally.finished = self._finished()
        shown = [d for d in self.drafts if d.rule.display != "hidden" and d.replaced_by is None]
        self.tally.messages = len(shown)

    def _mark_branches(self) -> None:
        if not self.tree.forks():
            return
        words = [d for d in self.drafts if d.what in _SPOKEN or d.rule.row == "A1"]
        spoken = {line_id(line) for draft in words for line in draft.lines}
        self.left = self.tree.abandoned(spoken)
        for draft in self.drafts:
            draft.abandoned = draft.uuid in self.left

    def _judge_late(self, drafts: list[Draft]) -> None:
        """A result that came before its call: now the tool is known."""
        line = drafts[0].line
        for block in results_of(drafts[0]):
            said = self._person_in(line.look, block) if line.look is not None else None
            if said is not None and len(drafts) == 1:
                drafts.append(self._draft(line, "said", said, "#said"))

    def _finished(self) -> bool:
        """Whether the agent had the last word on the branch the person is on.

        Commands the program answers itself, notices and prompts never sent say nothing about it.
        """
        for draft in reversed(self.drafts):
            rule = draft.rule
            if draft.abandoned or draft.replaced_by is not None or rule.row in ("A3", "filler"):
                continue
            if draft.what == "answer":
                asked = [call for call in calls_of(draft) if call not in self.tally.results]
                return rule.row == "answer" and draft.spoke and not asked
            if draft.what in ("result", "said") or rule.act in ("turn", "act"):
                return False
        return False


#: Outside the class: a fold that held its own methods would be a circle, freed late.
_READERS: dict[str, Callable[[Fold, Line, Look], None]] = {
    "user": Fold._user,
    "assistant": Fold._assistant,
    "system": Fold._system,
    "attachment": Fold._attachment,
    "progress": Fold._progress,
}


def _kind_of_answer(line: Line, look: Look) -> Rule:
    if look.isApiErrorMessage:
        return classify.API_ERROR
    synthetic = look.message is not None and look.message.model == SYNTHETIC
    if synthetic and any(filler in line.data for filler in _FILLERS):
        return classify.FILLER
    return classify.ANSWER
