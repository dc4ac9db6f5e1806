"""What a provider accepts in a history: the words of its rules, which stand with each provider.

Facts only; `fit.py` and `shape.py` act on them, codecs spell what comes out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["ALL_MEDIA", "BEDROCK_FORMATS", "IMAGES", "OPENAI_SOUNDS", "PDF", "Rules"]

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


ALL_MEDIA = frozenset({"image", "document", "audio", "video"})
