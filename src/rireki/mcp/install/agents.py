"""Where each agent keeps the settings of MCP servers, and how an entry is written there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from rireki.mcp.install import json_text, toml_text
from rireki.sources.kit.places import Places

__all__ = ["AGENTS", "NAME", "AgentSettings", "Entry", "settings_of"]

#: What we are called there.
NAME = "rireki"
Entry: TypeAlias = dict[str, Any]
Language: TypeAlias = Literal["json", "toml"]


class AgentSettings(NamedTuple):
    """The settings file of an agent, and the table in it that names servers."""

    agent: str
    #: As people know it.
    title: str
    file: Path
    table: str
    #: Where its owner wants it: no link may lead out of that.
    root: Path
    language: Language = "json"

    def entry(self, command: Sequence[str]) -> Entry:
        """What starts us, as this agent writes it."""
        if self.agent == "opencode":
            return {"type": "local", "command": list(command), "enabled": True}
        started = {"command": command[0], "args": list(command[1:])}
        return {"type": "stdio", **started} if self.agent == "claude" else started

    def with_entry(self, text: str, entry: Entry) -> str:
        """The file's text with ours in it. Raises ValueError for what is not its language."""
        if self.language == "toml":
            return toml_text.with_table(text, (self.table, NAME), entry)
        return json_text.with_member(text, (self.table, NAME), entry)

    def without_entry(self, text: str) -> str:
        """The text without it, everything else as it stands."""
        if self.language == "toml":
            return toml_text.without_table(text, (self.table, NAME))
        return json_text.without_member(text, (self.table, NAME))

    def current(self, text: str) -> Any:
        """Our entry as it stands there, or None. Raises ValueError likewise."""
        value = toml_text.parse(text) if self.language == "toml" else json_text.parse(text)
        table = value.get(self.table) if isinstance(value, Mapping) else None
        return table.get(NAME) if isinstance(table, Mapping) else None


AGENTS = ("claude", "codex", "gemini", "kiro", "q", "opencode", "cursor")


def settings_of(agent: str, places: Places) -> AgentSettings:
    """The file of an agent whose name is one of AGENTS."""
    home = places.home

    def named(variable: str, usual: Path) -> tuple[Path, Path]:
        """The folder that a variable names, or the usual one; and what no link may lead out of."""
        chosen = places.variable(variable)
        return (chosen, chosen) if chosen else (usual, home)

    match agent:
        case "claude":
            # Beside its folder, or in the one that was named.
            folder, root = named("CLAUDE_CONFIG_DIR", home)
            return AgentSettings(agent, "Claude Code", folder / ".claude.json", "mcpServers", root)
        case "codex":
            folder, root = named("CODEX_HOME", home / ".codex")
            return AgentSettings(
                agent, "Codex", folder / "config.toml", "mcp_servers", root, "toml"
            )
        case "gemini":
            folder, root = named("GEMINI_CLI_HOME", home)
            file = folder / ".gemini" / "settings.json"
            return AgentSettings(agent, "Gemini CLI", file, "mcpServers", root)
        case "kiro":
            folder, root = named("KIRO_HOME", home / ".kiro")
            return AgentSettings(
                agent, "Kiro", folder / "settings" / "mcp.json", "mcpServers", root
            )
        case "q":
            file = home / ".aws" / "amazonq" / "mcp.json"
            return AgentSettings(agent, "Amazon Q", file, "mcpServers", home)
        case "opencode":
            folder, root = named("XDG_CONFIG_HOME", home / ".config")
            files = [folder / "opencode" / f"opencode.{ending}" for ending in ("jsonc", "json")]
            file = next((each for each in files if each.exists()), files[-1])
            return AgentSettings(agent, "OpenCode", file, "mcp", root)
        case _:
            file = home / ".cursor" / "mcp.json"
            return AgentSettings(agent, "Cursor", file, "mcpServers", home)
