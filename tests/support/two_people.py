"""Two people with a history each: what one of them said may not reach the other unasked."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.parts import Attachment
from rireki.sources.kit.places import Places
from tests.support.reaching import Asked

__all__ = ["PICTURE", "IDS", "WORDS", "a_history", "asked_of", "write_session"]

#: Stand in what each of them typed, in the title, in a tool's output, and nowhere else.
WORDS = {"ann": "quokkaflux", "bob": "zebrafinchery"}
IDS = {"ann": "a1a1a1a1-0000-4000-8000-000000000001", "bob": "b2b2b2b2-0000-4000-8000-000000000002"}
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def a_history(person: str, folder: Path) -> Path:
    """Where the archive is; what it read stands in `home` beside it."""
    home = folder / person / "home"
    word = WORDS[person]
    write_session(home, IDS[person], f"/home/{person}/{word}-project", word)
    path = folder / person / "archive.sqlite3"
    archive = open_archive(path, create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    return path


def write_session(home: Path, id: str, project: str, word: str) -> Path:
    """A conversation of Claude Code with a picture, a call and an error in it."""
    folder = home / ".claude" / "projects" / project.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    picture = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(PICTURE).decode(),
        },
    }
    call = {
        "type": "tool_use",
        "id": f"t-{word}",
        "name": "Write",
        "input": {"file_path": f"{project}/notes.txt", "content": f"{word} is the word"},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": f"t-{word}",
        "content": f"{word}Error: no such thing as {word}",
        "is_error": True,
    }
    said = [
        ("user", [{"type": "text", "text": f"tell me of {word}"}, picture]),
        ("assistant", [{"type": "text", "text": f"{word} is rare"}, call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": f"so much for {word}"}]),
    ]
    lines, parent = [], None
    for place, (role, content) in enumerate(said):
        uuid = hashlib.sha256(f"{id}{place}".encode()).hexdigest()[:32]
        usage = {"input_tokens": 10 + place, "output_tokens": 5}
        more = {"id": f"m{uuid}", "model": "claude-opus-4", "usage": usage}
        entry = {
            "type": role,
            "message": {"role": role, "content": content, **(more if role != "user" else {})},
            "sessionId": id,
            "cwd": project,
            "uuid": uuid,
            "parentUuid": parent,
            "timestamp": f"2026-01-01T00:00:0{place}Z",
        }
        lines.append(json.dumps(entry) + "\n")
        parent = uuid
    file = folder / f"{id}.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    return file


def asked_of(person: str, path: Path) -> Asked:
    """Everything by which their conversation may be asked for."""
    archive = open_archive(path)
    found = archive.find(f"claude-code/{IDS[person]}")
    message = read_conversation(archive, found).messages()[0]
    archive.close()
    digest = next(part.digest for part in message.parts if isinstance(part, Attachment))
    project = found.conversation.project or ""
    return Asked(found.conversation.id, message.id, digest or "", project, WORDS[person])
