"""What each provider accepts in a history: one table, with changes per model family.

Facts only; `fit.py` and `shape.py` act on them, codecs spell what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

__all__ = ["BEDROCK_FORMATS", "OPENAI_SOUNDS", "Rules", "rules_for"]

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
#: What Converse calls the media types it takes, by kind; of several, the first is the usual one.
BEDROCK_FORMATS = {
    "image": {media_type: media_type.removeprefix("image/") for media_type in sorted(IMAGES)},
    "document": {
        "application/pdf": "pdf",
        "text/csv": "csv",
        "application/msword": "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.ms-excel": "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "text/html": "html",
        "text/plain": "txt",
        "text/markdown": "md",
    },
    "video": {
        "video/mp4": "mp4",
        "video/quicktime": "mov",
        "video/mov": "mov",
        "video/x-matroska": "mkv",
        "video/webm": "webm",
        "video/x-flv": "flv",
        "video/mpeg": "mpeg",
        "video/mpg": "mpg",
        "video/x-ms-wmv": "wmv",
        "video/wmv": "wmv",
        "video/3gpp": "three_gp",
    },
    "audio": {
        "audio/mpeg": "mp3",
        "audio/mp3": "mp3",
        "audio/wav": "wav",
        "audio/x-wav": "wav",
        "audio/aac": "aac",
        "audio/x-aac": "x-aac",
        "audio/flac": "flac",
        "audio/ogg": "ogg",
        "audio/opus": "opus",
        "audio/mp4": "mp4",
        "audio/m4a": "m4a",
        "audio/x-m4a": "m4a",
        "audio/x-matroska": "mka",
        "audio/pcm": "pcm",
        "audio/webm": "webm",
    },
}
PDF = frozenset({"application/pdf"})
#: What Chat Completions calls the sounds it takes; of several, the first is the usual one.
OPENAI_SOUNDS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
_NOTHING: frozenset[str] = frozenset()
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    #: Where results stand: first in the next message; alone in it; as messages of their own
    #: directly after the calls; or anywhere later.
    results: Literal["next", "alone", "consecutive", "anywhere"]
    #: Calls need results. (Where they do not, another provider's calls get theirs all the same.)
    answered: bool = True
    #: Results must come in the order of their calls (nothing else pairs them).
    in_order: bool = False
    #: A result tells the name of its tool.
    result_name: bool = False
    #: A result can be marked as an error.
    error_flag: bool = False
    #: A result, or one that is an error, may be empty.
    empty_result: bool = True
    empty_error: bool = True
    #: What a call id looks like; None: the provider has no ids.
    call_id: re.Pattern[str] | None = None
    #: A call may have no id.
    id_optional: bool = False
    #: Ids may come again in a later step.
    id_repeats: bool = False
    #: What a tool's name looks like.
    name: re.Pattern[str] = _NAME
    #: Text may be empty or blank.
    empty_text: bool = True
    #: Neighbours of one role are rejected.
    alternate: bool = False
    #: Neighbours of one role are put together when they are spelled anew anyway.
    join: frozenset[str] = frozenset({"assistant"})
    #: What may not stand first: anything but a user turn; calls; or all may.
    starts: Literal["user", "not a call", "any"] = "any"
    #: The last turn must be the user's.
    ends_with_user: bool = False
    #: A last turn of the assistant may end with a space.
    trailing_space: bool = True
    #: System messages stand outside of the messages, or among them.
    system: Literal["outside", "among"] = "among"
    #: What becomes of another provider's thinking. (Claude copies the form of what it reads as its
    #: own words, and would write tags into its answers.)
    foreign_thinking: Literal["text", "drop", "keep"] = "text"
    #: Own thinking without a signature is rejected.
    signed_thinking: bool = False
    #: The assistant's last word before another's may be thinking.
    ends_with_thinking: bool = True
    #: Thinking must be followed by what it led to.
    thinking_leads: bool = False
    #: Own thinking lies with the provider: only the item that names it can be sent back.
    thinking_elsewhere: bool = False
    #: The first call of a step needs a thought signature: nobody's, other providers', any.
    sign: Literal["none", "foreign", "all"] = "none"
    #: Media a user turn may hold, and a result.
    media: frozenset[str] = _NOTHING
    result_media: frozenset[str] = _NOTHING
    #: Media an assistant turn may hold.
    answer_media: frozenset[str] = _NOTHING
    #: Media that may be told by an address.
    by_url: frozenset[str] = _NOTHING
    #: Media types taken, per kind; a kind that is not named takes all.
    types: Mapping[str, Container[str]] = field(default_factory=dict)
    #: What is spelled in its own way is held to the types, too. (Where it is not: servers that
    #: speak OpenAI's form may take more of them.)
    types_checked: bool = False


_ALL_MEDIA = frozenset({"image", "document", "audio", "video"})
_PROVIDERS: dict[str, Rules] = {
    "anthropic": Rules(
        results="next",
        error_flag=True,
        empty_error=False,
        call_id=re.compile(r"[a-zA-Z0-9_-]+"),
        name=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
        empty_text=False,
        join=frozenset({"assistant", "user"}),
        starts="user",
        trailing_space=False,
        system="outside",
        foreign_thinking="drop",
        signed_thinking=True,
        ends_with_thinking=False,
        media=frozenset({"image", "document"}),
        result_media=frozenset({"image", "document"}),
        by_url=frozenset({"image", "document"}),
        types={"image": IMAGES, "document": PDF},
        types_checked=True,
    ),
    "openai": Rules(
        results="consecutive",
        call_id=re.compile(r"[\s\S]{1,40}"),
        id_repeats=True,
        media=frozenset({"image", "document", "audio"}),
        by_url=frozenset({"image"}),
        types={"image": IMAGES, "document": PDF, "audio": OPENAI_SOUNDS},
    ),
    "responses": Rules(
        results="anywhere",
        call_id=re.compile(r"[\s\S]{1,64}"),
        join=_NOTHING,
        thinking_leads=True,
        thinking_elsewhere=True,
        media=frozenset({"image", "document"}),
        result_media=frozenset({"image", "document"}),
        by_url=frozenset({"image", "document"}),
        types={"image": IMAGES, "document": PDF},
    ),
    "gemini": Rules(
        results="alone",
        result_name=True,
        error_flag=True,
        call_id=re.compile(r"[\s\S]+"),
        id_optional=True,
        id_repeats=True,
        name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
        empty_text=False,
        starts="not a call",
        ends_with_user=True,
        system="outside",
        sign="foreign",
        media=_ALL_MEDIA,
        answer_media=_ALL_MEDIA,
        by_url=_ALL_MEDIA,
    ),
    "bedrock": Rules(
        results="next",
        error_flag=True,
        empty_result=False,
        empty_error=False,
        call_id=re.compile(r"[a-zA-Z0-9_.:-]{1,64}"),
        empty_text=False,
        alternate=True,
        starts="user",
        ends_with_user=True,
        system="outside",
        media=_ALL_MEDIA,
        result_media=frozenset({"image", "document", "video"}),
        types=BEDROCK_FORMATS,
    ),
    "ollama": Rules(
        results="consecutive",
        answered=False,
        in_order=True,
        result_name=True,
        name=re.compile(r"[\s\S]+"),
        foreign_thinking="keep",
        media=frozenset({"image"}),
    ),
}

#: Models of a provider that want something else, first hit decides.
_FAMILIES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "anthropic": ((r"(opus|sonnet|haiku)-(4-[6-9]|[5-9])", {"ends_with_user": True}),),
    "gemini": (
        (r"gemini-([3-9]|\d\d)", {"sign": "all", "result_media": frozenset({"image", "document"})}),
        (r"gemini-2\.5", {"sign": "all"}),
    ),
    "bedrock": (
        (
            r"anthropic|claude",
            {"signed_thinking": True, "ends_with_thinking": False, "foreign_thinking": "drop"},
        ),
        (
            r"llama|mi[sx]tral|magistral|devstral|pixtral",
            {"results": "alone", "error_flag": False, "result_media": _NOTHING},
        ),
    ),
}


@lru_cache(maxsize=256)
def rules_for(provider: str, model: str | None = None) -> Rules:
    """The rules of a provider, or of one of its model families."""
    rules = _PROVIDERS[provider]
    for pattern, changes in _FAMILIES.get(provider, ()) if model else ():
        if re.search(pattern, (model or "").lower()):
            return replace(rules, **changes)
    return rules
