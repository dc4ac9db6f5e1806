"""Each turn made fit for one provider by itself: what it has no form for is retold or left out.

Works part by part and never changes the number of turns, so a note's place is the index of the
turn. Calls and their results are brought together elsewhere (shape.py).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from rireki.providers.codec import Codec
from rireki.providers.kit import dumps
from rireki.providers.neutral import (
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Opaque,
    Part,
    Result,
    Role,
    Turn,
)
from rireki.providers.notes import Notes
from rireki.providers.rules import Rules

__all__ = ["NO_OUTPUT", "Fitter"]

NO_OUTPUT = "(no output)"


class Fitter:
    def __init__(
        self, provider: str, rules: Rules, codecs: Mapping[str, Codec], notes: Notes
    ) -> None:
        self.provider = provider
        self.rules = rules
        self.codecs = codecs
        self.notes = notes
        self.names: dict[str, str] = {}
        # The turn at hand.
        self.place = 0
        self.own = False
        self.role: Role = "user"
        self.fitters: dict[type, Callable[[Any], list[Part]]] = {
            NeutralText: self._text,
            NeutralThinking: self._thinking,
            Call: self._call,
            Result: self._result,
            Media: self._media,
            Opaque: self._opaque,
        }

    def fit(self, place: int, turn: Turn, on_top: bool = False) -> Turn:
        """The same turn, if the provider takes it as it is; else one that is spelled anew.

        What stands `on_top` goes where the provider takes its system prompt.
        """
        self.place, self.own, self.role = place, turn.provider == self.provider, turn.role
        fitters = self.fitters
        parts: list[Part] = []
        for part in turn.parts:
            parts += fitters[type(part)](part)
        same = self.own and len(parts) == len(turn.parts) and all(map(_is, parts, turn.parts))
        spoken = turn.role in ("user", "assistant")
        retold = not (spoken or on_top) and self.rules.system == "outside"
        if same and not retold and (spoken or turn.raw is not None):
            return turn
        if self.notes.wanted:
            self._note_extras(turn)
        if retold:
            return self._retold_system(parts)
        return Turn(turn.role, parts, turn.provider if self.own else None)

    def _note_extras(self, turn: Turn) -> None:
        codec = self.codecs.get(turn.provider or "")
        if codec is not None and turn.raw is not None and turn.role != "instructions":
            for name in codec.extras(turn.raw, not self.own):
                self._note("not-carried", f"{name} means something to {turn.provider} only")

    def _retold_system(self, parts: list[Part]) -> Turn:
        """A word of the system in the middle keeps its place, as marked words of the user."""
        self._note("system-among-messages", f"{self.provider} takes system words only at the top")
        return Turn(
            "user", [NeutralText("<system>"), *parts, NeutralText("</system>")] if parts else []
        )

    def _note(self, code: str, message: str) -> None:
        self.notes.add(code, self.place, message)

    def _text(self, part: NeutralText) -> list[Part]:
        text = part.text
        if not self.rules.empty_text and (not text or text.isspace()):
            self._note("empty-dropped", "a text without words")
            return []
        return [part if self.own or part.raw is None else NeutralText(text)]

    def _thinking(self, part: NeutralThinking) -> list[Part]:
        named = part.raw is not None or not self.rules.thinking_elsewhere
        mine = self.own and part.provider == self.provider and named
        if mine and self.role == "assistant":
            if self.rules.signed_thinking and not part.signature and part.redacted is None:
                self._note("thinking-dropped", "thinking that was never finished has no signature")
                return []
            return [part]
        whose = part.provider or "another model"
        if not part.text.strip():
            self._note("thinking-dropped", f"{whose} did not tell what it thought in words")
            return []
        if self.rules.foreign_thinking == "drop":
            self._note("thinking-dropped", f"thinking of {whose}, which Claude would copy")
            return []
        if self.rules.foreign_thinking == "keep" and self.role == "assistant":
            return [NeutralThinking(part.text, provider=self.provider)]
        self._note("thinking-as-text", f"thinking of {whose}")
        return [NeutralText(f"<thinking>\n{part.text}\n</thinking>")]

    def _call(self, part: Call) -> list[Part]:
        if self.role != "assistant":
            self._note("call-misplaced", f"a call of {part.name} in a turn of the {self.role}")
            return [NeutralText(f"[tool call {part.name}({dumps(part.arguments)})]")]
        name, given = self._name(part.name), part.arguments
        if not isinstance(given, dict):
            given = self._object(part)
        elif self.own and name == part.name:
            return [part]
        return [Call(part.id, name, given, part.signature if self.own else None)]

    def _object(self, part: Call) -> dict[str, Any]:
        """Arguments that are no object: cut off while they were written, or another value."""
        if part.arguments == "":
            return {}
        if isinstance(part.arguments, str):
            self._note("arguments-unfinished", f"the arguments of {part.name} are not JSON")
            return {"unfinished": part.arguments}
        return {"value": part.arguments}

    def _name(self, name: str) -> str:
        known = self.names.get(name)
        if known is None:
            known = name
            if not self.rules.name.fullmatch(name):
                known = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown"
                if not self.rules.name.fullmatch(known):
                    # Some want a letter first.
                    known = f"_{known[:63]}"
            self.names[name] = known
        if known != name:
            self._note("name-changed", f"the tool {name!r} is called {known!r}")
        return known

    def _result(self, part: Result) -> list[Part]:
        content: list[Any] = []
        after: list[Part] = []
        for inner in part.content:
            if isinstance(inner, Media):
                kept, moved = self._result_media(inner, part)
                content.append(kept)
                after += moved
            else:
                content += self.fitters[type(inner)](inner)
        if part.is_error and not self.rules.error_flag:
            content = self._with_error(content)
        if not content and not (
            self.rules.empty_error if part.is_error else self.rules.empty_result
        ):
            self._note("empty-result", f"{part.name or 'a tool'} returned nothing")
            content = [NeutralText(NO_OUTPUT)]
        same = len(content) == len(part.content) and all(map(_is, content, part.content))
        name = part.name and self._name(part.name)
        if self.own and same and name == part.name:
            return [part, *after]
        return [Result(part.id, name, content, part.is_error), *after]

    def _with_error(self, content: list[Any]) -> list[Any]:
        self._note("error-as-text", f"{self.provider} has no mark for a failed call")
        told = next((inner.text for inner in content if isinstance(inner, NeutralText)), "")
        if told.lower().startswith("error"):
            return content
        if content and isinstance(content[0], NeutralText):
            return [NeutralText(f"Error: {content[0].text}"), *content[1:]]
        return [NeutralText("Error"), *content]

    def _result_media(self, media: Media, result: Result) -> tuple[Part, list[Part]]:
        if self._takes(media, self.rules.result_media):
            return (media if self.own and media.raw is not None else self._bare(media)), []
        if self._takes(media, self.rules.media):
            self._note("media-moved", f"{self.provider} takes no {media.kind} in a result")
            name = result.name or "the tool"
            label = NeutralText(f"[{media.kind} that {name} returned]")
            return NeutralText(f"[{media.kind}: shown after the results]"), [
                label,
                self._bare(media),
            ]
        return self._retold(media), []

    def _media(self, part: Media) -> list[Part]:
        if self.own and part.raw is not None and self._sendable(part):
            return [part]
        taken = self.rules.media if self.role == "user" else self.rules.answer_media
        return [self._bare(part) if self._takes(part, taken) else self._retold(part)]

    def _takes(self, media: Media, kinds: frozenset[str]) -> bool:
        if media.kind not in kinds:
            return False
        if media.url is not None:
            web = media.url.startswith(("https://", "http://"))
            return self.own or (web and media.kind in self.rules.by_url)
        allowed = self.rules.types.get(media.kind)
        return bool(media.data) and (allowed is None or _usual(media.media_type) in allowed)

    def _sendable(self, media: Media) -> bool:
        """Whether the provider's own spelling of it can go back."""
        if not self.rules.types_checked or media.data is None:
            return True
        return media.media_type in self.rules.types.get(media.kind, ())

    def _bare(self, media: Media) -> Media:
        """The media alone, its type as the provider spells it where that matters."""
        named = media.media_type
        if media.kind in self.rules.types:
            named = _usual(named)
        if media.raw is None and named == media.media_type:
            return media
        return Media(media.kind, named, media.data, media.url, media.name)

    def _retold(self, media: Media) -> NeutralText:
        words = _words(media)
        if words is not None:
            return NeutralText(f"[{media.name or media.media_type}]\n{words}")
        what = " ".join(filter(None, [media.kind, media.name, media.media_type, media.url]))
        self._note("media-as-text", f"{self.provider} does not take this {what} here")
        return NeutralText(f"[{what}: not carried over]")

    def _opaque(self, part: Opaque) -> list[Part]:
        if self.own and part.provider == self.provider:
            return [part]
        what = part.raw.get("type") if isinstance(part.raw, dict) else type(part.raw).__name__
        what = what or ", ".join(map(str, part.raw))
        if part.text.strip():
            self._note("opaque-as-text", f"{what} of {part.provider}")
            return [NeutralText(part.text)]
        self._note("opaque-dropped", f"{what} of {part.provider or 'nobody we know'}")
        return []


def _is(one: object, other: object) -> bool:
    return one is other


def _usual(media_type: str) -> str:
    """A media type without what people add to it, or get wrong."""
    name = media_type.partition(";")[0].strip().lower()
    return "image/jpeg" if name == "image/jpg" else name


def _words(media: Media) -> str | None:
    """A document that is nothing but text, as text."""
    if media.kind != "document" or not media.data or not media.media_type.startswith("text/"):
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
