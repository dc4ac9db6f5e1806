"""The agents that are driven, as their makers publish them, each in a home of its own.

They are not installed for the tests: `RIREKI_CLIENTS` names a folder with one folder per client,
and `npm install --prefix` has put it there. Each is told to ask a model on loopback, and nobody else.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from rireki.drive.agents import AgentProgram, agents
from tests.support.anthropic_endpoint import Move
from tests.support.model_endpoint import ModelEndpoint

__all__ = ["CLIENTS", "Client", "end_daemons", "script_of"]

FOLDER = os.environ.get("RIREKI_CLIENTS", "")
LONG = " ".join(f"word{n}" for n in range(400))


class Client(NamedTuple):
    #: As rireki calls it.
    name: str
    #: What npm installs, with the version that was tried.
    packages: tuple[str, ...]
    #: Writes its settings below a home; what its process has to know besides.
    settings: Callable[[Path, ModelEndpoint], dict[str, str]]
    #: How its model runs a command in a shell.
    shell: Callable[[str], tuple[str, dict[str, Any]]]

    @property
    def folder(self) -> Path:
        return Path(FOLDER) / self.name / "node_modules" / ".bin"

    @property
    def absent(self) -> str:
        """Why it is not there, and how to get it; empty when it is."""
        get = f"npm install --prefix $RIREKI_CLIENTS/{self.name} {' '.join(self.packages)}"
        if not FOLDER:
            return f"RIREKI_CLIENTS is not set to a folder of real clients: {get}"
        known = next(agent for agent in agents(Path(os.devnull), {}) if agent.name == self.name)
        return "" if (self.folder / known.command[0]).exists() else f"it is not installed: {get}"

    def program(self, home: Path, model: ModelEndpoint) -> AgentProgram:
        """The agent as `rireki serve --drive` finds it, with its home and its model."""
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        found = agents(Path(os.devnull), {"PATH": path})
        (agent,) = (agent for agent in found if agent.name == self.name)
        assert agent.found, agent.reason
        environment = {
            "HOME": str(home),
            "PATH": path,
            "NO_PROXY": "127.0.0.1",
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_STATE_HOME": str(home / ".local" / "state"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            **self.settings(home, model),
        }
        return AgentProgram(
            agent.name,
            agent.title,
            agent.command,
            source=agent.source,
            environment=environment,
            found=True,
        )

    def runs(self, text: str, command: str) -> Move:
        return Move(text, calls=(self.shell(command),))


def script_of(client: Client) -> dict[str, list[Move]]:
    """What the model does at a word."""
    return {
        "greet-me": [Move("Good morning to you, whoever you are.", pause=0.1)],
        "touch-it": [client.runs("I make it.", "touch made.txt"), Move("It is made.")],
        "refuse-it": [client.runs("I try it.", "touch never.txt"), Move("Then not.")],
        "slowly-now": [Move(LONG, pause=0.05)],
    }


def end_daemons(home: Path) -> None:
    """What a client leaves running; each says in a file of its own which process it is."""
    for file in home.glob(".cline/data/locks/hub/**/*.json"):
        pid = json.loads(file.read_bytes()).get("pid")
        if isinstance(pid, int):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _write(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _described(name: str) -> Callable[[str], tuple[str, dict[str, Any]]]:
    return lambda command: (name, {"command": command, "description": "As told"})


def _opencode(home: Path, model: ModelEndpoint) -> dict[str, str]:
    scripted = {
        "npm": "@ai-sdk/anthropic",
        "name": "Scripted",
        "options": {"baseURL": f"{model.address}/v1", "apiKey": "scripted"},
        "models": {"claude-scripted": {"name": "Scripted"}},
    }
    settings = {
        "provider": {"scripted": scripted},
        "model": "scripted/claude-scripted",
        "small_model": "scripted/claude-scripted",
        "permission": {"bash": "ask", "edit": "ask"},
        "autoupdate": False,
        "share": "disabled",
    }
    _write(home / ".config" / "opencode" / "opencode.json", settings)
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }


def _gemini(home: Path, model: ModelEndpoint) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"name": "gemini-2.5-flash"},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".gemini" / "settings.json", settings)
    return {
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": model.address,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _qwen(home: Path, model: ModelEndpoint) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(home / ".qwen" / "settings.json", settings)
    return {
        "OPENAI_API_KEY": "scripted",
        "OPENAI_BASE_URL": f"{model.address}/v1",
        "OPENAI_MODEL": "scripted",
    }


def _codex(home: Path, model: ModelEndpoint) -> dict[str, str]:
    settings = f"""
model = "scripted"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{model.address}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(settings, encoding="utf-8")
    return {"SCRIPTED_KEY": "scripted", "CODEX_HOME": str(home / ".codex")}


def _copilot(home: Path, model: ModelEndpoint) -> dict[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{model.address}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _cline(home: Path, model: ModelEndpoint) -> dict[str, str]:
    compatible = {
        "provider": "openai-compatible",
        "apiKey": "scripted",
        "model": "scripted",
        "baseUrl": f"{model.address}/v1",
    }
    settings = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {
            "openai-compatible": {
                "settings": compatible,
                "updatedAt": "2026-11-01T00:00:00.000Z",
                "tokenSource": "manual",
            }
        },
    }
    _write(home / ".cline" / "data" / "settings" / "providers.json", settings)
    return {
        "CLINE_PROVIDER": "openai-compatible",
        "CLINE_API_KEY": "scripted",
        "CLINE_MODEL": "scripted",
        "CLINE_TELEMETRY_DISABLED": "1",
    }


CLIENTS = (
    Client("opencode", ("opencode-ai@1.18.33",), _opencode, _described("bash")),
    Client("gemini", ("@google/gemini-cli@0.61.0",), _gemini, _described("run_shell_command")),
    Client("qwen", ("@qwen-code/qwen-code@0.24.4",), _qwen, _described("run_shell_command")),
    Client(
        "codex",
        ("@agentclientprotocol/codex-acp@2.6.0",),
        _codex,
        # What stays in its sandbox is not asked for.
        lambda command: (
            "exec_command",
            {
                "cmd": command,
                "sandbox_permissions": "require_escalated",
                "justification": "May it?",
            },
        ),
    ),
    Client("copilot", ("@github/copilot@1.0.102",), _copilot, _described("bash")),
    Client(
        "cline",
        ("cline@3.0.65",),
        _cline,
        lambda command: ("run_commands", {"commands": [command]}),
    ),
)
