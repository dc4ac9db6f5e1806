"""Files with tokens that lie beside histories: never in the archive, also when somebody names them by hand.

What lies in the databases themselves is tested with their readers.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

CANARY = "canary-3c0f-token"
#: Homes, what their agents keep tokens in, and a file of theirs that is a history.
KEPT_BY = {
    "codex-0.169.0-tui": (".codex", "auth.json", ".credentials.json", "config.toml"),
    "gemini-cli-0.61.0-terminal": (
        *(".gemini", "oauth_creds.json", "google_accounts.json", "settings.json", ".env"),
        "mcp-oauth-tokens.json",
    ),
    "qwen-code-0.24.4": (".qwen", "oauth_creds.json", "settings.json", ".env"),
    "opencode-1.0.185-files": (
        *(".local/share/opencode", "auth.json", "mcp-auth.json", "storage/share/ses_1.json"),
    ),
    "copilot-cli-1.0.24": (".copilot", "config.json", "mcp-config.json", "mcp-oauth-config/x.json"),
    "vscode-copilot-chat-composed-earlier": (
        *(".config/Code/User", "settings.json", "mcp.json", "globalStorage/github.copilot/a.json"),
    ),
    "cursor-composed-3.x": (".cursor", "mcp.json", "cli-config.json", "auth.json"),
    "cline-3.0.65": (".cline", "data/secrets.json", "data/globalState.json"),
    "goose-composed": (".config/goose", "secrets.yaml", "config.yaml"),
    "amp-composed": (".local/share/amp", "secrets.json"),
}


@pytest.mark.parametrize("name", KEPT_BY)
def test_no_token_beside_a_history_comes_into_the_archive(
    name: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    folder, *files = KEPT_BY[name]
    there = [home / folder / file for file in files]
    for path in there:
        path.parent.mkdir(parents=True, exist_ok=True)
        value = {"id": "x", "sessionId": "x", "access_token": CANARY, "messages": [CANARY]}
        path.write_text(json.dumps(value))
    places = Places.at(home)
    import_history(archive, places=places)
    assert list(archive.conversations()), "the history itself is read"
    for path in (home, home / folder, *there):
        with suppress(NotFound):
            import_history(archive, places=places, paths=[path])
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert strand.place not in map(str, there)
            assert not any(CANARY.encode() in strand.document(state) for state in strand.states)
