"""A home whose agents wrote `PAYLOADS` into every field that a transcript has."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.browser.serving import Session, save_row
from tests.support.payloads import PAYLOADS
from tests.support.q_rows import called, returned, said, talk

__all__ = ["WORD", "fill", "say"]

#: Stands beside every payload, so that a search finds them all.
WORD = "quokkaflux"
#: Payloads of one conversation: with the answers, what a page shows at first.
EACH = 26
_BEGIN = datetime(2026, 5, 1, tzinfo=timezone.utc)
_SVG = b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='rirekiOwned=1'/>").decode()
#: Longer than this no file system takes a name.
_NAME = 120


def fill(home: Path) -> list[str]:
    """Gives the ids of the conversations to be looked at one by one."""
    ids = []
    for number in range(0, len(PAYLOADS), EACH):
        some = PAYLOADS[number : number + EACH]
        ids.append(_claude(home, number, some))
        ids.append(_amazon_q(home, number, some))
    _titles(home)
    _folders(home)
    return ids


def say(session: Session, number: int, bad: str) -> None:
    """A turn with the payload in whatever Claude Code writes."""
    call = f"call-{number} {bad}"
    session.prompt(f"{WORD} {bad}", uuid=f"{bad} {number}", promptSource=bad)
    thought = {"type": "thinking", "thinking": bad, "signature": bad}
    use = {"type": "tool_use", "id": call, "name": bad, "input": {bad: bad, "command": bad}}
    given = {"file_path": f"/{bad}.html", "content": bad}
    write = {"type": "tool_use", "id": f"w{number}", "name": "Write", "input": given}
    session.answer(thought, bad, use, write, {"type": bad, bad: bad}, model=bad)
    results: list[Any] = [{"type": "tool_result", "tool_use_id": call, "content": bad}]
    results.append({"type": "tool_result", "tool_use_id": f"w{number}", "is_error": True})
    results[1]["content"] = [{"type": "text", "text": bad}, _picture(bad)]
    session.prompt(results, toolUseResult={bad: bad, "stdout": bad})
    session.prompt([{"type": "text", "text": bad}, _picture(bad)])
    attached = {"type": "file", "filename": bad, "displayPath": bad, "content": bad}
    session.line("attachment", {}, attachment=attached)
    session.line("system", {}, subtype=bad, content=bad, level=bad)


def _whole(text: str) -> str:
    """As far as a file or a column can hold it: half a character cannot be written."""
    return text.encode(errors="replace").decode()


def _picture(bad: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/svg+xml", "data": _SVG}
    return {"type": "image", "source": source, "title": bad, "context": bad}


def _claude(home: Path, number: int, some: Sequence[str]) -> str:
    session = Session(home, f"hostile-{number}", _BEGIN + timedelta(days=number))
    session.cwd = f"/home/{some[0]}"
    with session.at_once():
        for place, bad in enumerate(some):
            say(session, place, bad)
        session.meta("custom-title", customTitle=some[-1])
        session.meta("summary", summary=some[1], leafUuid=some[1])
        session.add(f'{{"type": "user", {_whole(some[2])}\n')
    return session.id


def _amazon_q(home: Path, number: int, some: Sequence[str]) -> str:
    history = []
    for place, bad in enumerate(some):
        name = f"{number}-{place} {bad}"
        history.append(called(name, f"{WORD} {bad}", bad, bad, bad, **{bad: bad, "command": bad}))
        history.append(returned(f"{name}-r", bad, bad, bad))
        history.append(said(f"{name}-s", bad, bad, additional_context=bad))
    id = f"row {number} {some[3]}"
    model = {"model_id": some[0], "model_name": some[1]}
    save_row(home, _whole(f"/home/{some[4]}"), talk(id, *history, model_info=model))
    return f"amazon-q/row {number}"


def _titles(home: Path) -> None:
    """Every payload as a title and as a project."""
    for number, bad in enumerate(PAYLOADS):
        session = Session(home, f"title-{number}", _BEGIN - timedelta(hours=number))
        session.cwd = f"/home/u/{bad}"
        with session.at_once():
            session.prompt(f"{bad} {WORD}", gitBranch=bad)
            session.answer("yes")
            session.meta("custom-title", customTitle=bad)


def _folders(home: Path) -> None:
    """Some as names of folders: paths stand on pages too."""
    fit = [bad for bad in PAYLOADS if "/" not in bad and bad.isprintable() and len(bad) < _NAME]
    for number, bad in enumerate(fit[:12]):
        session = Session(home, f"folder-{number}", _BEGIN - timedelta(days=60 + number))
        session.file = session.file.parent.with_name(bad) / session.file.name
        session.file.parent.mkdir()
        session.add(f"not JSON: {bad}\n")
        session.turn("in a folder")
