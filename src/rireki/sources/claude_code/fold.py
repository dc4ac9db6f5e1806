"""The lines of one conversation folded into drafts of messages, with everything worth counting.

One light pass: no text is kept, nothing is decoded that a count does not need.
`render` makes full messages out of the drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rireki.model.conversation import Tally
from rireki.model.times import from_iso
from rireki.sources.claude_code import classify
from rireki.sources.claude_code.classify import AuthorRule, RuleInput
from rireki.sources.claude_code.content import says_refused
from rireki.sources.claude_code.facts import Meter, Queue, SessionFacts, Titles
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.links import SPAWNERS, Ties
from rireki.sources.claude_code.messages import (
    TranscriptMessage,
    Tree,
    What,
    is_finished,
    line_id,
    mark_branches,
    name_successors,
    results_after_calls,
    results_of,
)
from rireki.sources.claude_code.shapes import (
    Attached,
    ContentItem,
    LineHead,
    flat,
    has_pictures,
    holds_result,
    is_marked,
    is_silent,
    says_nothing,
    sessions_named,
    text_of,
)
from rireki.sources.claude_code.words import (
    QUIET_SYSTEM,
    SILENT_SYSTEM,
    context_of,
    is_metadata,
    typed_command,
)

__all__ = ["Fold"]

#: What people type to have something done.
_COMMANDS = frozenset(("13", "15", "18", "S1"))
#: Tools whose outcome is a person's choice.
_CHOICES = frozenset(("AskUserQuestion", "ExitPlanMode"))


class Fold:
    """`agent` is true for a sub-agent's conversation: nobody types there."""

    def __init__(self, lines: Iterable[TranscriptLine], *, agent: bool) -> None:
        self.agent = agent
        self.drafts: list[TranscriptMessage] = []
        self.tally = Tally()
        self.facts = SessionFacts()
        self.meter = Meter()
        self.titles = Titles()
        self.link_tokens = Ties()
        self.tree = Tree()
        self.queue = Queue()
        self.first_prompt = ""
        #: A sub-agent that older versions started ahead, with nothing to do.
        self.warmup = False
        #: Uuids of the lines on branches that were left.
        self.left: set[str] = set()
        #: The tool behind each call.
        self.tools: dict[str, str] = {}
        self._answers: dict[str, TranscriptMessage] = {}
        self._commands: dict[str, str | None] = {}
        self._boundary: TranscriptMessage | None = None
        self._asks = False
        #: When the last entry of role "user" was written.
        self._asked_at: str | None = None
        #: Results that came before their calls, by call: paired while the lines are read, because who
        #: is behind a result depends on the tool.
        self._early: dict[str, list[TranscriptMessage]] = {}
        for line in lines:
            self._take(line)
        self._close()

    # --- one line ---------------------------------------------------------------------------

    def _take(self, line: TranscriptLine) -> None:
        look = line.look
        if look is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        if line.version:
            self._replaced(line, look)
            return
        read = _READERS.get(look.type)
        if read is None:
            if look.uuid and look.parentUuid:
                # Whatever it says, what hangs below it must not hang in the air.
                self.tree.add(look.uuid, look.parentUuid, look.logicalParentUuid)
                self.tree.skip(look.uuid)
            self._metadata(line, look)
            return
        self.facts.note(look)
        if look.uuid:
            self.tree.add(look.uuid, look.parentUuid, look.logicalParentUuid)
        read(self, line, look)

    def _draft(
        self, line: TranscriptLine, what: What, rule: AuthorRule, suffix: str = ""
    ) -> TranscriptMessage:
        """A message in its place, with an id that no other has."""
        name = line_id(line) + suffix
        draft = TranscriptMessage(name, what, line, rule, self.tally.turns or None)
        self.drafts.append(draft)
        return draft

    def _replaced(self, line: TranscriptLine, look: LineHead) -> None:
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

    def _user(self, line: TranscriptLine, look: LineHead) -> None:
        self.tally.entries += 1
        self.facts.count_flags(look)
        if look.message is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        content = look.message.content
        self.link_tokens.entered(look)
        self._asked_at = look.timestamp
        if look.permissionMode is not None:
            self._asks = look.permissionMode != "bypassPermissions"
        if type(content) is list and holds_result(content):
            self._result(line, look, content)
            return
        case = self._case(look, text_of(content), content)
        rule = classify.judge(case)
        if rule.display == "divider":
            self._summary(line, rule)
        elif rule.row == "20" and not content:
            self._skip(look)
            self._draft(line, "strange", classify.STRANGE)
        else:
            self._entry(line, case, rule)

    def _entry(self, line: TranscriptLine, case: RuleInput, rule: AuthorRule) -> None:
        """Something said in role "user", by whomever."""
        look = case.look
        if rule.act == "act":
            self.meter.interrupted(look.interruptedMessageId)
        elif rule.row == "2":
            self.first_prompt = self.first_prompt or case.text
        elif rule.act:
            self._prompt(look, rule, case.text)
        elif rule.row not in ("14", "15"):
            self._skip(look)
            self.queue.appeared(case.text)
        if rule.author == "person" and context_of(case.text)[0] and rule.row in ("18", "19", "20"):
            self._draft(line, "context", classify.AROUND, "#context")
        self._draft(line, "prompt", rule)

    def _case(
        self, look: LineHead, text: str, content: str | list[ContentItem] | None
    ) -> RuleInput:
        parent = look.parentUuid
        under = parent in self._commands and self._commands[parent] == look.promptId
        return RuleInput(look, text.lstrip(), has_pictures(content), self.agent, under)

    def _prompt(self, look: LineHead, rule: AuthorRule, text: str) -> None:
        """Something was typed: a new turn, a name for the conversation, a place in the tree."""
        self.tally.typed(from_iso(look.timestamp))
        if look.uuid:
            self.tree.prompt(look.uuid, local=rule.act == "local")
        if rule.row in _COMMANDS:
            text = typed_command(text)
            self.titles.command(text)
        else:
            self.titles.prompt(look.uuid or "", context_of(text)[1])
        if rule.row == "13" and look.uuid:
            self._commands[look.uuid] = look.promptId
        self.queue.delivered(text)

    def _result(self, line: TranscriptLine, look: LineHead, blocks: list[ContentItem]) -> None:
        drafts = [self._draft(line, "result", classify.RESULT)]
        said = None
        for block in blocks:
            if block.type == "tool_result":
                call = block.tool_use_id or ""
                person = self._person_in(look, block)
                self.tally.resulted(call, person is None and _has_failed(look, block))
                said = person or said
                if call not in self.tools:
                    self._early[call] = drafts
        if said is not None:
            drafts.append(self._draft(line, "said", said, "#said"))

    def _person_in(self, look: LineHead, block: ContentItem) -> AuthorRule | None:
        """What a person did inside a tool's outcome, if anything."""
        tool = self.tools.get(block.tool_use_id or "", "")
        if tool in SPAWNERS:
            self.link_tokens.returned(block, look.toolUseResult)
        if not block.is_error and tool not in _CHOICES and not is_marked(look):
            return None
        error = flat(block.content) if block.is_error else ""
        asked = self._asks and (look.entrypoint or "").startswith("sdk")
        rule = classify.judge_result(look, tool, error, asked)
        return rule if rule is not classify.RESULT else None

    # --- what the model said ----------------------------------------------------------------

    def _assistant(self, line: TranscriptLine, look: LineHead) -> None:
        self.tally.entries += 1
        spoken = look.message
        if spoken is None:
            self._draft(line, "strange", classify.STRANGE)
            return
        self.meter.note(line, spoken)
        draft = self._answers.get(spoken.id) if spoken.id else None
        if draft is None or draft.turn != (self.tally.turns or None):
            draft = self._draft(line, "answer", classify.judge_answer(look, line.data))
            if spoken.id:
                self._answers[spoken.id] = draft
                if self._asked_at and look.timestamp == self._asked_at:
                    self.link_tokens.took_over(draft)
        elif draft.more is None:
            draft.more = [line]
        else:
            draft.more.append(line)
        if isinstance(spoken.content, list):
            for block in spoken.content:
                self._block(draft, block)
        elif spoken.content:
            draft.spoke = True

    def _block(self, draft: TranscriptMessage, block: ContentItem) -> None:
        kind = block.type
        if kind == "text":
            draft.spoke = True
        elif kind.endswith("tool_use"):
            call, name = block.id or "", block.name or ""
            self.tally.asked(call, name)
            self.tools[call] = name
            if name in SPAWNERS:
                self.link_tokens.called(block)
        elif kind.endswith("tool_result"):
            self.tally.resulted(block.tool_use_id or "", bool(block.is_error))

    # --- what the program noted -------------------------------------------------------------

    def _system(self, line: TranscriptLine, look: LineHead) -> None:
        if look.subtype == "compact_boundary":
            self.link_tokens.compacted(look)
            self._boundary = self._draft(line, "divider", classify.BOUNDARY)
            return
        text = flat(look.content)
        silent = not text and says_nothing(look.hookErrors)
        if silent and look.subtype in QUIET_SYSTEM:
            self._skip(look)
            return
        if silent and not bytes(look.error):
            self._skip(look)
            known = look.subtype in SILENT_SYSTEM
            self._draft(line, "system", classify.CONTEXT if known else classify.STRANGE)
            return
        rule = classify.judge_system(RuleInput(look, text.lstrip()))
        if rule.author == "person":
            self._prompt(look, rule, text)
        else:
            self._skip(look)
        self._draft(line, "system", rule)

    def _attachment(self, line: TranscriptLine, look: LineHead) -> None:
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

    def _progress(self, line: TranscriptLine, look: LineHead) -> None:
        """Ticks of a running tool: they only hold the tree together."""
        self._skip(look)

    def _skip(self, look: LineHead) -> None:
        if look.uuid:
            self.tree.skip(look.uuid)

    def _metadata(self, line: TranscriptLine, look: LineHead) -> None:
        if look.type == "queue-operation":
            self._queue(line, look)
        elif not is_metadata(look.type):
            self._draft(line, "strange", classify.STRANGE)
        elif look.type == "continued-in":
            for session in sessions_named(line.data):
                self.link_tokens.successors.setdefault(session)
        elif look.type == "derived-from":
            for session in sessions_named(line.data):
                self.link_tokens.origins.setdefault(session)
        else:
            self.titles.note(look)

    def _queue(self, line: TranscriptLine, look: LineHead) -> None:
        if not self.tally.entries and self.link_tokens.begun is None:
            self.link_tokens.begun = look.timestamp
        if look.operation == "enqueue":
            self.queue.enqueue(line, flat(look.content))
            # Drafted where it stands, and taken out again once it turns out delivered.
            self._draft(line, "queued", classify.NEVER_SENT)
        elif look.operation == "dequeue":
            self.queue.dequeue()

    def _summary(self, line: TranscriptLine, rule: AuthorRule) -> None:
        """A summary right after a compaction belongs to its divider."""
        boundary, self._boundary = self._boundary, None
        if boundary is None or boundary.more is not None:
            self._draft(line, "divider", rule)
        else:
            boundary.more = [line]

    # --- the end ----------------------------------------------------------------------------

    def _close(self) -> None:
        waiting = {id(line) for line in self.queue.never_sent()}
        self.drafts = [d for d in self.drafts if d.what != "queued" or id(d.line) in waiting]
        self.left = mark_branches(self.drafts, self.tree)
        self.warmup = self.agent and self.first_prompt.strip() == "Warmup"
        if self.warmup:
            for draft in self.drafts:
                draft.rule = draft.rule._replace(display="hidden")
        name_successors(self.drafts)
        early = {call: drafts for call, drafts in self._early.items() if call in self.tools}
        for drafts in early.values():
            self._judge_late(drafts)
        self.drafts = results_after_calls(self.drafts, early)
        self.tally.finished = is_finished(self.drafts, self.tally.results)
        shown = [d for d in self.drafts if d.rule.display != "hidden" and d.replaced_by is None]
        self.tally.messages = len(shown)

    def _judge_late(self, drafts: list[TranscriptMessage]) -> None:
        """A result that came before its call: now the tool is known."""
        line = drafts[0].line
        for block in results_of(drafts[0]):
            said = self._person_in(line.look, block) if line.look is not None else None
            if said is not None and len(drafts) == 1:
                drafts.append(self._draft(line, "said", said, "#said"))


#: Outside the class: a fold that held its own methods would be a circle, freed late.
_READERS: dict[str, Callable[[Fold, TranscriptLine, LineHead], None]] = {
    "user": Fold._user,
    "assistant": Fold._assistant,
    "system": Fold._system,
    "attachment": Fold._attachment,
    "progress": Fold._progress,
}


def _has_failed(look: LineHead, block: ContentItem) -> bool:
    """Whether a call went wrong by itself, no person having refused or stopped it."""
    if not block.is_error or look.toolDenialKind or look.holdsPersonsWords:
        return False
    return not says_refused(flat(block.content))
