"""A stranger's reader, guarded: whatever it raises costs its own source, and is told.

Knows no reader by name. What is returned instead is what a reader that found nothing returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rireki.errors import RirekiError, SourceTrouble, Wording
from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.model.record import Origin, Roll, Update
from rireki.model.strand import Strand
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Known, Reader, Scanned

__all__ = ["Guarded", "mistakes"]

T = TypeVar("T")
#: Verbs that a reader may have, and what stands for their answer when they fail.
_LIVELY = ("watched", "locate", "activity")
_mistakes: dict[str, Trouble] = {}


def mistakes() -> list[tuple[str, Trouble]]:
    """The last mistake of each reader that made one in this process outside of `discover` and `read`,
    which tell of theirs themselves."""
    return list(_mistakes.items())


class Guarded:
    def __init__(self, inner: Reader, name: str, owner: str) -> None:
        if inner.name != name:
            raise ValueError(f"it calls itself {inner.name!r}, not {name!r}")
        self.name: str = name
        self.family: str = str(inner.family)
        self.anywhere = bool(getattr(inner, "anywhere", False))
        self._inner = inner
        self._owner = owner

    def __getattr__(self, verb: str) -> Any:
        if verb == "grouping":
            inner = self._inner.grouping  # type: ignore[attr-defined]
            return lambda id: self._or_else(verb, lambda: str(inner(id)), id)
        if verb not in _LIVELY:
            raise AttributeError(verb)
        return self._answering(getattr(self._inner, verb), verb)

    def discover(self, places: Places) -> Discovery:
        try:
            found = self._inner.discover(places)
            return Discovery(self._own(found.origins), list(found.looked), list(found.troubles))
        except Exception as error:  # noqa: BLE001
            trouble = self._trouble("discover", error)
            return Discovery(
                looked=[Scanned(self.name, trouble.place, False, trouble.message)],
                troubles=[trouble],
            )

    def recognise(self, path: Path) -> list[Origin]:
        return self._or_else("recognise", lambda: self._own(self._inner.recognise(path)), [])

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        try:
            for update in self._inner.read(origin, known):
                if not isinstance(update, Update | Roll):
                    raise TypeError(f"it gave a {type(update).__name__}")
                yield update
        except SourceTrouble:
            raise
        except Exception as error:
            raise SourceTrouble("reader-failed", **self._failure("read", error)) from error

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        try:
            readings = list(self._inner.interpret(conversation, strands))
            for reading in readings:
                self._guard(reading)
        except Exception as error:
            self._remember("interpret", error)
            hint = Wording("tell-its-author")
            values = self._failure("interpret", error)
            raise RirekiError("reader-failed", hint=hint, **values) from error
        return readings

    def resume(self, conversation: Conversation) -> str | None:
        return self._or_else("resume", lambda: self._inner.resume(conversation), None)

    def revive(self, conversation: Conversation) -> str | None:
        return self._or_else("revive", lambda: self._inner.revive(conversation), None)

    # ── inside ──

    def _own(self, origins: Sequence[Origin]) -> list[Origin]:
        """Its own origins only: what is called otherwise would be read by another reader."""
        foreign = next((o for o in origins if o.source != self.name), None)
        if foreign is not None:
            raise ValueError(f"it found something of the source {foreign.source!r}")
        return list(origins)

    def _guard(self, reading: Reading) -> None:
        """What is built only when it is asked for may fail then."""
        messages, records, attachment = reading.messages, reading.records, reading.attachment
        reading.messages = lambda: self._messages(messages)
        reading.stream = None
        reading.records = lambda: self._or_else("interpret", lambda: dict(records()), {})
        reading.attachment = lambda digest: self._or_else(
            "interpret", lambda: attachment(digest), None
        )

    def _messages(self, build: Callable[[], list[Message]]) -> list[Message]:
        try:
            return list(build())
        except Exception as error:  # noqa: BLE001
            said = Text(text=self._remember("interpret", error).message)
            return [Message(id="trouble", author="harness", display="chip", parts=[said])]

    def _answering(self, inner: Callable[..., list[Any]], verb: str) -> Callable[..., list[Any]]:
        def answer(*given: Any) -> list[Any]:
            return self._or_else(verb, lambda: list(inner(*given)), [])

        return answer

    def _or_else(self, verb: str, answer: Callable[[], T], otherwise: T) -> T:
        try:
            return answer()
        except Exception as error:  # noqa: BLE001
            self._remember(verb, error)
            return otherwise

    def _remember(self, verb: str, error: Exception) -> Trouble:
        trouble = _mistakes[self.name] = self._trouble(verb, error)
        return trouble

    def _trouble(self, verb: str, error: Exception) -> Trouble:
        return Trouble.of(f"reader {self.name}", "reader-failed", **self._failure(verb, error))

    def _failure(self, verb: str, error: Exception) -> dict[str, object]:
        return {"owner": self._owner, "verb": verb, "kind": type(error).__name__, "why": error}
