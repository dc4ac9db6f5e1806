"""What the first conversation would wait for, loaded while the reader looks at the list."""

from __future__ import annotations

from functools import cache

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer
from rireki.show.transcript import Transcript
from rireki.web.parts.frame import templates

__all__ = ["warm"]

_SAID = "A list:\n\n- `one`\n\n```python\nx = 1\n```\n"


@cache
def warm() -> None:
    """Once: every template, and what the renderer imports for Markdown and code."""
    for name in templates().list_templates():
        templates().get_template(name)
    message = Message(id="m", author="agent", display="bubble", parts=[Text(_SAID)])
    TranscriptRenderer(
        Transcript(Conversation(id="x/y", source="x", native_id="y"), [message]), RenderOptions()
    ).render(0)
