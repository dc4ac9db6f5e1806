"""Turns brought into the order a provider wants: calls with their results, neighbours, edges.

Takes turns that are fit one by one (fit.py) and changes as few as it can: a turn that stays as it
was keeps its own JSON. Knows rules, no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rireki.providers.ids import new_ids
from rireki.providers.kit import result_text
from rireki.providers.neutral import Call, NeutralText, NeutralThinking, Part, Result, Turn
from rireki.providers.notes import Notes
from rireki.providers.pairing import Spot, pair
from rireki.providers.repair import interrupted
from rireki.providers.rules import Rules

__all__ = ["UNSIGNED", "WHOLE", "HistorySlice", "shape"]

#: What Gemini takes as the signature of a call that it did not make.
UNSIGNED = "skip_thought_signature_validator"
_START = "(The conversation begins with the assistant.)"


class HistorySlice(NamedTuple):
    """Which part of a history some turns are."""

    #: The place of the first turn.
    start: int = 0
    #: Whether nothing comes before them, or behind.
    begins: bool = True
    ends: bool = True
    #: Ids that the calls before them have; those of their own calls are added.
    ids: set[str] | None = None


WHOLE = HistorySlice()


def shape(
    turns: list[Turn],
    rules: Rules,
    notes: Notes,
    nudge: str | None = None,
    piece: HistorySlice = WHOLE,
) -> list[Turn]:
    """Fit turns as the provider's messages, in order; `nudge` is said where the user must be last."""
    if rules.thinking_leads:
        turns = _without_loose_thinking(turns, notes)
    if not rules.ends_with_thinking:
        turns = _without_last_thinking(turns, notes)
    steps = _Steps(turns, rules, notes, piece).arrange()
    shaped = _neighbours(steps, rules, notes)
    if piece.begins:
        shaped = _first_edge(shaped, rules, notes)
    return _last_edge(shaped, rules, notes, nudge) if piece.ends else shaped


class _Steps:
    """Every call gets its result, in the place where the provider looks for it."""

    def __init__(self, turns: list[Turn], rules: Rules, notes: Notes, piece: HistorySlice) -> None:
        self.turns = turns
        self.rules = rules
        self.notes = notes
        self.pairs = pair(turns)
        self.ids = new_ids(turns, self.pairs, rules, notes, piece.start, piece.ids)
        self.calls: dict[int, list[Spot]] = {}
        for spot in self.pairs.calls:
            self.calls.setdefault(spot[0], []).append(spot)
        #: Turns in which something may have to change.
        self.busy = {spot[0] for spot in (*self.pairs.asked, *self.pairs.orphans, *self.ids)}
        #: Results that were put after their calls and so no longer stand where they stood.
        self.moved: set[Spot] = set()
        self.orphans = set(self.pairs.orphans)
        self.out: list[tuple[int, Turn]] = []

    def arrange(self) -> list[tuple[int, Turn]]:
        turns = self.turns
        place, count = 0, len(turns)
        while place < count:
            if turns[place].role != "assistant":
                self._emit(place, self._rest(place))
                place += 1
                continue
            end = place + 1
            while end < count and self._belongs(end):
                end += 1
            place = self._step(place, end)
        return self.out

    def _belongs(self, place: int) -> bool:
        turn = self.turns[place]
        return turn.role == "assistant" or not turn.parts

    def _emit(self, place: int, turn: Turn) -> None:
        if turn.parts:
            self.out.append((place, turn))

    def _step(self, start: int, end: int) -> int:
        """A run of assistant turns and what answers it; the place to go on from."""
        if end == start + 1 and start not in self.calls:
            self._emit(start, self._rest(start))
            return end
        calls = [spot for place in range(start, end) for spot in self.calls.get(place, ())]
        if self.rules.results == "anywhere" or not calls:
            for place in range(start, end):
                self._emit(place, self._rest(place))
            missing = [call for call in calls if call not in self.pairs.answers]
            self._emit(end - 1, Turn("user", [self._answer(call) for call in missing]))
            return end
        ready = self._ready(calls, end)
        if ready is None:
            self._note_moves(calls, end)
            self.moved.update(self.pairs.answers[c] for c in calls if c in self.pairs.answers)
        said = [self._rest(place) for place in range(start, end)]
        self._emit(start, self._signed(_merged([turn for turn in said if turn.parts]), calls[0]))
        if ready is None:
            self._emit(end - 1, Turn("user", [self._answer(call) for call in calls]))
            return end
        for place in range(end, ready):
            self._emit(place, self._rest(place))
        return ready

    def _ready(self, calls: list[Spot], end: int) -> int | None:
        """The end of the turns that already answer the calls as the provider wants it."""
        expected = [self.pairs.answers[c] for c in calls if c in self.pairs.answers]
        if len(expected) < len(calls) and (expected or self._must_answer(calls[0])):
            return None
        if expected == [(end, 0)] and len(self.turns[end].parts) == 1:
            # By far the most: one call, and its result in the turn behind it.
            return end + 1 if self.turns[end].role == "user" else None
        found: list[Spot] = []
        place = end
        while len(found) < len(expected) and place < len(self.turns):
            parts = self.turns[place].parts
            if parts and self.turns[place].role != "user":
                return None
            count = min(len(parts), len(expected) - len(found))
            found += [(place, index) for index in range(count)]
            place += 1
            if len(found) < len(expected) and len(parts) and self.rules.results != "consecutive":
                return None
            if self.rules.results != "next" and count < len(parts):
                return None
        same = found == expected if self.rules.in_order else set(found) == set(expected)
        return place if same else None

    def _note_moves(self, calls: list[Spot], end: int) -> None:
        """Results that stand behind something else."""
        wall = end
        while wall < len(self.turns) and _only_results(self.turns[wall]):
            wall += 1
        for call in calls:
            place, index = self.pairs.answers.get(call, (0, 0))
            before = self.turns[place].parts[:index]
            if place > wall or (place == wall and not _only_results(Turn("user", before))):
                self.notes.add("result-moved", place, "the result stood away from its call")

    def _must_answer(self, call: Spot) -> bool:
        return self.rules.answered or self.turns[call[0]].provider is None

    def _answer(self, call: Spot) -> Result:
        found = self.pairs.answers.get(call)
        asked = self._call_at(call)
        if found is not None:
            return self._result_at(found)
        self.notes.add("call-interrupted", call[0], f"the call of {asked.name} has no result")
        told = interrupted(asked)
        if self.rules.error_flag:
            return told
        return Result(told.id, told.name, [NeutralText(f"Error: {result_text(told)}")])

    def _rest(self, place: int) -> Turn:
        """A turn without the results that were moved, its calls and results with their new ids."""
        turn = self.turns[place]
        if place not in self.busy:
            return turn
        parts: list[Part] = []
        same = True
        for index, part in enumerate(turn.parts):
            spot = (place, index)
            new: Part = part
            if type(part) is Call:
                new = self._call_at(spot)
            elif type(part) is Result:
                if spot in self.moved:
                    same = False
                    continue
                new = self._told(spot, part) if spot in self.orphans else self._result_at(spot)
            same = same and new is part
            parts.append(new)
        return turn if same else Turn(turn.role, parts, turn.provider)

    def _told(self, spot: Spot, orphan: Result) -> NeutralText:
        name = orphan.name or "a tool"
        self.notes.add("orphan-result", spot[0], f"a result of {name} has no call before it")
        return NeutralText(f"[result of {name}]\n{result_text(orphan)}".strip())

    def _call_at(self, spot: Spot) -> Call:
        call = self.turns[spot[0]].parts[spot[1]]
        assert isinstance(call, Call)
        identity = self.ids.get(spot)
        if identity is None:
            return call
        return Call(identity, call.name, call.arguments, call.signature)

    def _result_at(self, spot: Spot) -> Result:
        """The result with the id and name of its call, as far as the provider needs them."""
        turn = self.turns[spot[0]]
        result = turn.parts[spot[1]]
        assert isinstance(result, Result)
        asked = self.pairs.asked.get(spot)
        if asked is None:
            return result
        call = self._call_at(asked)
        own = turn.provider is not None
        identity, name = result.id, result.name
        if self.rules.call_id is not None and not (own and self.rules.id_optional and not identity):
            identity = call.id
        if self.rules.result_name and not (own and not self.rules.answered):
            name = call.name
        if identity == result.id and name == result.name:
            return result
        return Result(identity, name, result.content, result.is_error)

    def _signed(self, step: Turn, first: Spot) -> Turn:
        """The step with a signature on its first call, where Gemini wants one."""
        foreign = self.turns[first[0]].provider is None
        if self.rules.sign == "none" or (self.rules.sign == "foreign" and not foreign):
            return step
        index = next(index for index, part in enumerate(step.parts) if isinstance(part, Call))
        call = step.parts[index]
        assert isinstance(call, Call)
        if call.signature:
            return step
        self.notes.add("signed-by-nobody", first[0], f"the call of {call.name} has no signature")
        signed = Call(call.id, call.name, call.arguments, UNSIGNED)
        parts = [*step.parts[:index], signed, *step.parts[index + 1 :]]
        return Turn(step.role, parts, step.provider)


def _only_results(turn: Turn) -> bool:
    return all(isinstance(part, Result) for part in turn.parts)


def _has(turn: Turn, kind: type) -> bool:
    return any(isinstance(part, kind) for part in turn.parts)


def _merged(turns: Sequence[Turn]) -> Turn:
    if len(turns) == 1:
        return turns[0]
    providers = {turn.provider for turn in turns}
    provider = providers.pop() if len(providers) == 1 else None
    return Turn(turns[0].role, [part for turn in turns for part in turn.parts], provider)


def _without_loose_thinking(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Reasoning items stand only before what they led to."""
    kept = list(turns)
    led = False
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        if not turn.parts:
            continue
        if not led and _has(turn, NeutralThinking):
            notes.add("thinking-leads-nowhere", place, "reasoning that nothing followed")
            parts = [part for part in turn.parts if not isinstance(part, NeutralThinking)]
            kept[place] = Turn(turn.role, parts, turn.provider)
            continue
        led = turn.role == "assistant" and turn.provider is not None
    return kept


def _without_last_thinking(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Turns of the assistant whose thinking nothing of its own follows end before it."""
    kept = list(turns)
    followed = False
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        if not turn.parts:
            continue
        if turn.role == "assistant" and not followed and type(turn.parts[-1]) is NeutralThinking:
            notes.add("thinking-dropped", place, "thinking that nothing followed")
            turn = Turn(turn.role, _without_end(turn.parts, NeutralThinking), turn.provider)
            kept[place] = turn
        followed = turn.role == "assistant" and bool(turn.parts)
    return kept


def _without_end(parts: Sequence[Part], kind: type) -> list[Part]:
    end = len(parts)
    while end and type(parts[end - 1]) is kind:
        end -= 1
    return list(parts[:end])


def _neighbours(turns: list[tuple[int, Turn]], rules: Rules, notes: Notes) -> list[Turn]:
    """Neighbours of one role put together, where the provider or tidiness asks for it."""
    groups: list[list[Turn]] = []
    for place, turn in turns:
        last = groups[-1][-1] if groups else None
        if last is None or last.role != turn.role or turn.role == "system":
            groups.append([turn])
        elif _may_join(groups[-1][0], last, turn, rules):
            if last.raw is not None and turn.raw is not None:
                notes.add("same-role", place, f"two turns of the {turn.role} in a row")
            groups[-1].append(turn)
        else:
            if rules.alternate:
                groups.append([Turn("assistant", [NeutralText(".")])])
            groups.append([turn])
    return [_merged(group) for group in groups]


def _may_join(head: Turn, last: Turn, turn: Turn, rules: Rules) -> bool:
    if rules.results == "alone" and (_has(head, Result) or _has(turn, Result)):
        return False
    respelled = last.raw is None and turn.raw is None
    return rules.alternate or (respelled and turn.role in rules.join)


def _first_edge(turns: list[Turn], rules: Rules, notes: Notes) -> list[Turn]:
    if not turns:
        return turns
    head = turns[0]
    wrong_start = {
        "any": False,
        "user": head.role != "user",
        "not a call": head.role == "assistant" and _has(head, Call),
    }
    if wrong_start[rules.starts]:
        notes.add("starts-with-assistant", 0, "the first turn is not the user's")
        return [Turn("user", [NeutralText(_START)]), *turns]
    return turns


def _last_edge(turns: list[Turn], rules: Rules, notes: Notes, nudge: str | None) -> list[Turn]:
    if not turns or turns[-1].role != "assistant":
        return turns
    last = turns[-1]
    if rules.ends_with_user:
        if nudge is not None:
            return [*turns, Turn("user", [NeutralText(nudge)])]
        notes.add("ends-with-assistant", len(turns) - 1, "the last turn is the assistant's")
    text = last.parts[-1]
    if (
        not rules.trailing_space
        and isinstance(text, NeutralText)
        and text.text != text.text.rstrip()
    ):
        notes.add("trailing-space", len(turns) - 1, "the last turn ends with a space")
        parts = [*last.parts[:-1], NeutralText(text.text.rstrip())]
        turns = [*turns[:-1], Turn(last.role, parts, last.provider)]
    return turns
