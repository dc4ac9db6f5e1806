"""What a thread is called: the names of its strand and of its conversation.

ChatKit makes ids of eight random digits; apps may give their threads any name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256

__all__ = [
    "ATTACHMENT",
    "ATTACHMENTS",
    "FILE",
    "ITEMS",
    "NAME",
    "STORE_ID",
    "THREAD",
    "THREADS",
    "attachment_key",
    "conversation_of",
    "digest_of",
    "file_key",
    "named_in",
    "thread_key",
    "user_of",
    "value_key",
]

NAME = "chatkit"
#: What the file of a store of ours says it is ("rirc"), so that it can be told from any other.
STORE_ID = 0x72697263
#: What a strand is: a thread with its items, the row of a file that no message mentions, or the
#: bytes of one that a message came with.
#: Or a value of one of its rows that is too large to be a part of it.
THREAD, ATTACHMENT, FILE, VALUE = "thread", "attachment", "file", "value"
#: What the file is that they lie in.
DATABASE = "database"
#: Its tables.
THREADS, ITEMS, ATTACHMENTS = "threads", "items", "attachments"

#: What can stand in an id as it is.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.:-]{0,127}", re.ASCII)
#: An id that nobody else is likely to have.
_RANDOM = re.compile(r"[0-9A-Fa-f]{8}$")


def thread_key(thread: str, user: str) -> str:
    return json.dumps([thread, user], ensure_ascii=False)


def attachment_key(attachment: str, user: str) -> str:
    return json.dumps([ATTACHMENT, attachment, user], ensure_ascii=False)


def file_key(attachment: str, user: str) -> str:
    return json.dumps([FILE, attachment, user], ensure_ascii=False)


def value_key(table: str, row: str, column: str, user: str) -> str:
    return json.dumps([VALUE, f"{table}-{row}.{column}", user], ensure_ascii=False)


def named_in(key: str) -> list[str]:
    """The names that a strand's key is made of."""
    return [str(name) for name in json.loads(key)]


def user_of(key: str) -> str:
    """The user that a strand's key names."""
    return str(json.loads(key)[-1])


def conversation_of(thread: str, user: str) -> str:
    """The thread's id; where every user may have one of that name, with a digest of the user."""
    if not _PLAIN.fullmatch(thread):
        return f"thread@{digest_of([thread, user])}"
    if _RANDOM.search(thread) or not user:
        return thread
    return f"{thread}@{digest_of([user])}"


def digest_of(names: Sequence[str | None]) -> str:
    return sha256(json.dumps(names).encode()).hexdigest()[:8]
