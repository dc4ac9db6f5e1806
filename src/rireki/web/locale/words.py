"""Which language a reader wants the pages in, and their words in it; the English text is the key.

Words that the renderer of messages has are taken from there, so that both say the same. What was
said in a conversation is not translated.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request

from rireki.model.activity import WORDS
from rireki.show.catalogue.readings import reading_in_japanese
from rireki.show.html.page import read_table
from rireki.show.html.page import say as say_of_renderer

__all__ = [
    "COOKIE",
    "JAPANESE",
    "LOCALES",
    "asked_for",
    "counted",
    "locale_of",
    "say",
    "script_words",
]

LOCALES = ("en", "ja")
COOKIE = "rireki_lang"
JAPANESE = read_table(Path(__file__).with_name("ja.json"))

#: One, many, and how Japanese counts it.
_COUNTED = {
    "turn": ("turn", "turns", "{n} 往復"),
    "message": ("message", "messages", "{n} メッセージ"),
    "conversation": ("conversation", "conversations", "{n} 件の会話"),
    "prompt": ("prompt", "prompts", "質問 {n} 件"),
    "changed file": ("changed file", "changed files", "変更ファイル {n} 件"),
    "hidden conversation": ("hidden conversation", "hidden conversations", "非表示の会話 {n} 件"),
    "sub-agent": ("sub-agent", "sub-agents", "サブエージェント {n} 件"),
    "tool call": ("tool call", "tool calls", "ツール {n} 回"),
    "file": ("file", "files", "{n} ファイル"),
    "day": ("day", "days", "{n} 日"),
    "edit": ("edit", "edits", "編集 {n} 回"),
    "entry": ("entry", "entries", "{n} エントリー"),
    "trouble": ("trouble", "troubles", "読めなかったもの {n} 件"),
}

#: What scripts say, by the name they know it under.
_SCRIPT = {
    "copied": "Copied",
    "saved": "Saved",
    "unsaved": "It could not be saved. Is rireki still running?",
    "ready": "Ready",
    "notReady": "The browser does not allow it here.",
    "starred": "Starred",
    "unstarred": "Star taken away",
    "fresh": "{n} new",
    "position": "turn {n} of {all}",
    "nest": "Show here",
    "unnest": "Hide",
    "unanswered": "rireki does not answer just now. The search goes on by itself.",
    "beyond": "What you searched for is in a part that is left out.",
    "system": "Theme: as the system",
    "light": "Theme: light",
    "dark": "Theme: dark",
    "inbox": "Waiting for you: {n}",
    "askCame": "Waiting for you: {title}",
    "askOver": (
        "It does not wait any more: answered elsewhere, or expired. The conversation tells how."
    ),
    "askAnswered": "Answered",
    "away": "The server cannot be reached just now. Nothing was lost; try again.",
    "send": "Send",
    "queue": "Send next",
    "sending": "sending …",
    "refused": "Not accepted:",
    "held": "the queue is held back",
    "withdrawn": "Taken back",
    "picture": "Picture",
    "removePicture": "Remove {name}",
    "imageKind": "{name} is no picture that can be sent: PNG, JPEG, GIF and WebP can.",
    "imageSize": "{name} is larger than {n} MB.",
    "imagesSize": "All pictures together may have {n} MB.",
    "noImages": "This agent takes no pictures.",
    "directoryFine": "An agent may work here.",
    "state.starting": "starting",
    **{f"state.{state}": words for state, words in WORDS.items()},
    "state.stopping": "stopping",
    "state.ended": "ended; what you send starts it again",
    "state.failed": "failed",
}


def asked_for(request: Request) -> str | None:
    """The language this very address asks for, if it does."""
    wanted = request.query_params.get("lang")
    return wanted if wanted in LOCALES else None


def locale_of(request: Request) -> str:
    """What was asked for, now or earlier; else the best of what the browser says."""
    if wanted := asked_for(request):
        return wanted
    remembered = request.cookies.get(COOKIE)
    if remembered in LOCALES:
        return remembered
    return _preferred(request.headers.get("accept-language", ""))


def _preferred(header: str) -> str:
    best, weight = "en", 0.0
    for choice in header.split(","):
        name, _, quality = choice.partition(";")
        locale = name.strip().lower().partition("-")[0]
        value = _quality(quality)
        if locale in LOCALES and value > weight:
            best, weight = locale, value
    return best


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def say(locale: str, text: str, **values: object) -> str:
    """The text in that language, with its values in place."""
    if locale == "ja" and text in JAPANESE:
        told = JAPANESE[text]
        return told.format(**values) if values else told
    told = say_of_renderer(locale, text, **values)
    # Which rule decided, as readers call it.
    return reading_in_japanese(told) if locale == "ja" and told == text else told


def counted(locale: str, number: int, what: str) -> str:
    """So many of something."""
    one, many, japanese = _COUNTED[what]
    if locale == "ja":
        return japanese.format(n=f"{number:,}")
    return f"{number:,} {one if number == 1 else many}"


def script_words(locale: str) -> dict[str, str]:
    return {name: say(locale, text) for name, text in _SCRIPT.items()}
