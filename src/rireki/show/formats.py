"""The formats a conversation can be written in: one list for `show --format`, `export` and the web.

To add one: a module with `write(transcript, options)`, which gives the pieces of a document, and a
line here. It is imported when it is asked for. Which models' providers there are is known in
`providers/`; what goes to one is a format too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from rireki.model.message import Message
from rireki.model.parts import Attachment
from rireki.model.providers import Provider
from rireki.show.transcript import Transcript

__all__ = [
    "COLLECTED",
    "FORMATS",
    "NATIVE",
    "Earlier",
    "Format",
    "FormatOptions",
    "earlier",
    "write",
]


class Format(NamedTuple):
    title: str
    #: Of a file's name; formats that end alike tell themselves apart before it.
    ending: str
    media_type: str
    #: Empty where it is no document that is laid out, but what the agent wrote.
    module: str
    #: Whether programs read it rather than people: never in a pager, nothing folded away.
    for_programs: bool = False
    #: Whether the writer is given all there is, sub-agents and earlier versions too, and chooses.
    whole: bool = False
    #: Whether it is what a model would be given now: nothing that a summary stands for.
    for_models: bool = False


class FormatOptions(NamedTuple):
    """What is asked of a document. A format that has no use for one of these leaves it."""

    #: The format's own name; `write` says it.
    form: str = ""
    locale: str = "en"
    #: Shorten nothing.
    full: bool = False
    #: With the sub-agents that agents started.
    nested: bool = False
    #: Also what is hidden.
    everything: bool = False
    #: The message that was asked for.
    opened: str | None = None
    attachment_bytes: Callable[[Attachment], bytes | None] | None = None
    #: The model that a provider's form is for.
    model: str | None = None
    #: One line of JSON, where people would be given many.
    compact: bool = False
    #: What the document will be called, for others that refer to it.
    name: str = ""
    #: Told, in a sentence, what the format could not carry as it was.
    note: Callable[[str], None] | None = None
    #: The messages of another conversation, to tell what was copied from it.
    messages_of: Callable[[str], Sequence[Message]] | None = None
    #: What the source itself wrote, where it is one document.
    original: Callable[[], bytes | None] | None = None


class Earlier(NamedTuple):
    """A document of an earlier version, that stands beside the newest: what its name has more."""

    mark: str
    pieces: Iterator[str]


#: The files as the agent wrote them.
NATIVE = "native"
#: What collectors of traces take.
COLLECTED = "otlp"

_TITLES: dict[Provider, str] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "responses": "OpenAI Responses",
    "gemini": "Gemini",
    "bedrock": "Bedrock",
    "ollama": "Ollama",
}

FORMATS: dict[str, Format] = {
    "markdown": Format("Markdown", "md", "text/markdown", "rireki.show.markdown"),
    "html": Format("HTML", "html", "text/html", "rireki.show.html.export"),
    "json": Format("JSON", "json", "application/json", "rireki.show.json", for_programs=True),
    "atif": Format(
        "ATIF", "atif.json", "application/json", "rireki.show.atif", for_programs=True, whole=True
    ),
    "sts": Format("STS", "sts.jsonl", "application/jsonl", "rireki.show.sts", for_programs=True),
    COLLECTED: Format(
        "OTLP", "otlp.json", "application/json", "rireki.show.otlp", for_programs=True, whole=True
    ),
    **{
        name: Format(
            title, f"{name}.json", "application/json", "rireki.show.request", for_models=True
        )
        for name, title in _TITLES.items()
    },
    NATIVE: Format("Original files", "zip", "application/zip", ""),
}


def write(name: str, transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """The pieces of the document, made as they are taken."""
    module = import_module(FORMATS[name].module)
    pieces: Iterator[str] = module.write(transcript, options._replace(form=name))
    return pieces


def earlier(name: str, transcript: Transcript, options: FormatOptions) -> Iterator[Earlier]:
    """Documents of earlier versions, where the format has one for each; oldest first."""
    if not FORMATS[name].whole:
        return iter(())
    module = import_module(FORMATS[name].module)
    if not hasattr(module, "earlier"):
        return iter(())
    found: Iterator[Earlier] = module.earlier(transcript, options._replace(form=name))
    return found
