"""The addresses of the pages; ids contain slashes, so what is wanted of one stands in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from starlette.requests import Request

__all__ = [
    "attachment_url",
    "explain_url",
    "curate_url",
    "export_url",
    "files_url",
    "forget_url",
    "fragments_url",
    "hit_url",
    "message_url",
    "new_url",
    "project_url",
    "raw_url",
    "search_url",
    "share_url",
    "conversation_url",
    "versions_url",
    "with_query",
]

#: Messages that one address names.
MOST = 20


def conversation_url(id: str, **query: str | None) -> str:
    return _address("/c/", id, query)


def message_url(id: str, message: str, **query: str | None) -> str:
    """The lasting address of a message."""
    return conversation_url(id, **{"at": message, **query})


def hit_url(id: str, message: str, query: str) -> str:
    """A message that a search found, and what to look for in it."""
    # Without scripts, it is the fragment that leads there.
    return f"{message_url(id, message, q=query)}#opened"


def versions_url(id: str, **query: str | None) -> str:
    return _address("/versions/", id, query)


def explain_url(id: str) -> str:
    return _address("/explain/", id, {})


def files_url(id: str, **query: str | None) -> str:
    return _address("/files/", id, query)


def raw_url(id: str, messages: Sequence[str], **query: str | None) -> str:
    """The records of a message and of what is told inside it, as many as an address can name."""
    return _address("/raw/", id, {"message": messages[:MOST], **query})


def export_url(id: str, form: str, **query: str | None) -> str:
    return _address("/export/", id, {"format": form, **query})


def share_url(id: str, **query: str | None) -> str:
    return _address("/share/", id, query)


def attachment_url(id: str, digest: str) -> str:
    """Where the API gives out a picture or file that belongs to a conversation."""
    # The API tells the parts of an address by their slashes: none of them may be the id's own.
    source, _, native = id.partition("/")
    parts = [quote(part, safe=":@", errors="replace") for part in (source, native, digest)]
    return f"/api/v1/conversations/{parts[0]}/{parts[1]}/attachments/{parts[2]}"


def curate_url(id: str, **query: str | None) -> str:
    """Where a person adds to a conversation, or to one `message` of it."""
    return _address("/curate/", id, query)


def forget_url(id: str) -> str:
    return _address("/forget/", id, {})


def fragments_url(id: str) -> str:
    return _address("/fragments/", id, {})


def new_url(id: str) -> str:
    """A new conversation that goes on with this one."""
    return _address("/new", "", {"from": id})


def project_url(path: str) -> str:
    return _address("/project", "", {"path": path})


def search_url(query: str) -> str:
    return _address("/search", "", {"q": query})


def with_query(request: Request, **changes: str | None) -> str:
    """The address of this page with some of its query changed; None leaves a name out."""
    # What a script asked for as a piece is still the address of a page.
    changes = {"fragment": None, **changes}
    given = {name: value for name, value in request.query_params.items() if name not in changes}
    return _address("", request.scope["path"], {**given, **changes})


def _address(path: str, id: str, query: Mapping[str, str | Sequence[str] | None]) -> str:
    # Half a surrogate pair cannot stand in an address; such an id is found by its beginning.
    told = {name: value for name, value in query.items() if value is not None}
    asked = f"?{urlencode(told, doseq=True, errors='replace')}" if told else ""
    return f"{path}{quote(id, safe='/:@', errors='replace')}{asked}"
