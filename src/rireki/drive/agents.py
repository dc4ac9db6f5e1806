"""The agents that can be driven: the known ones, found on PATH, and those of the user's settings.

    [[agents]]
    name = "mine"
    command = ["my-agent", "--acp"]
    environment = { MY_SETTING = "1" }

An entry with the name of a known agent changes that one. Knows commands, not processes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from rireki.errors import RirekiError, Wording
from rireki.settings import read_settings
from rireki.sources import registry

__all__ = ["AgentProgram", "agents"]


class AgentProgram(msgspec.Struct, frozen=True):
    #: What `--agent` and the API call it.
    name: str
    title: str
    command: tuple[str, ...]
    protocol: Literal["acp", "q"] = "acp"
    #: The reader of the transcripts it leaves, if there is one.
    source: str | None = None
    #: Added to the environment of its process.
    environment: dict[str, str] = {}
    found: bool = False
    #: Why it was not found, and how to get it.
    reason: str = ""


#: What is tried for each known agent, the likeliest first, and how to get it.
_KNOWN = [
    (
        AgentProgram("claude-code", "Claude Code", ("claude-agent-acp",), source="claude-code"),
        "npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    (
        AgentProgram("kiro", "Kiro CLI", ("kiro-cli", "acp"), source="kiro"),
        "install Kiro CLI",
    ),
    (
        AgentProgram("amazon-q", "Amazon Q CLI", ("q", "chat"), "q", source="amazon-q"),
        "install Amazon Q Developer CLI",
    ),
    (
        AgentProgram("codex", "Codex", ("codex-acp",), source="codex"),
        "npm install -g @agentclientprotocol/codex-acp",
    ),
    (
        AgentProgram("gemini", "Gemini CLI", ("gemini", "--acp"), source="gemini-cli"),
        "npm install -g @google/gemini-cli",
    ),
    (
        AgentProgram("qwen", "Qwen Code", ("qwen", "--acp"), source="qwen-code"),
        "npm install -g @qwen-code/qwen-code",
    ),
    (
        AgentProgram("opencode", "opencode", ("opencode", "acp"), source="opencode"),
        "npm install -g opencode-ai",
    ),
    (
        AgentProgram("copilot", "Copilot CLI", ("copilot", "--acp"), source="copilot-cli"),
        "npm install -g @github/copilot",
    ),
    (
        AgentProgram("cline", "Cline", ("cline", "--acp"), source="cline"),
        "npm install -g cline",
    ),
]
_HINT = Wording("write-agents")
_FIELDS = {"name", "title", "command", "protocol", "source", "environment"}


def agents(config: Path, environment: Mapping[str, str]) -> list[AgentProgram]:
    """The known agents and those of the settings file, found or with the reason why not."""
    known = {agent.name: (agent, how) for agent, how in _KNOWN}
    for agent in _configured(config):
        known[agent.name] = (agent, f"check its command in {config}")
    return [_looked_up(agent, how, environment) for agent, how in known.values()]


def _looked_up(agent: AgentProgram, how: str, environment: Mapping[str, str]) -> AgentProgram:
    program = agent.command[0]
    found = _find(program, environment.get("PATH", ""))
    if found is not None:
        # By its whole name: it is started in a project, where no other of that name is to be found.
        return msgspec.structs.replace(agent, command=(found, *agent.command[1:]), found=True)
    place = "there" if Path(program).is_absolute() else "on PATH"
    return msgspec.structs.replace(agent, reason=f"{program} is not {place}: {how}")


def _find(program: str, path: str) -> str | None:
    """The program on the path, of which only whole names count: an empty entry, or `.`, is whatever
    directory somebody is in. Windows looks there first of all, unless it is told where to look."""
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    if Path(program).name != program:
        return shutil.which(program) if Path(program).is_absolute() else None
    found = (shutil.which(str(Path(folder) / program)) for folder in folders)
    return next((name for name in found if name is not None), None)


def _configured(config: Path) -> list[AgentProgram]:
    entries = read_settings(config, _HINT).get("agents", [])
    if not isinstance(entries, list):
        raise RirekiError("bad-agents", hint=_HINT, file=config)
    return [_agent(entry, config) for entry in entries]


def _agent(entry: Any, config: Path) -> AgentProgram:
    try:
        known = next((a for a, _ in _KNOWN if a.name == entry["name"]), None)
        base = msgspec.to_builtins(known) if known else {"title": entry["name"]}
        agent = msgspec.convert({**base, **entry}, AgentProgram)
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise RirekiError("bad-agent", hint=_HINT, file=config, why=_why(error)) from error
    unknown = set(entry) - _FIELDS
    if unknown or not agent.command or not agent.name:
        why = Wording("unknown-fields", names=sorted(unknown)) if unknown else Wording("no-program")
        raise RirekiError("bad-agent-named", hint=_HINT, file=config, name=agent.name, why=why)
    if agent.source is not None and agent.source not in registry.names():
        raise RirekiError(
            "bad-agent-source",
            file=config,
            name=agent.name,
            source=agent.source,
            names=[*registry.names()],
        )
    return agent


def _why(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)
