"""The registry: known agents, those of the settings, and why one is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.drive.agents import AgentProgram, agents
from rireki.errors import RirekiError


def named(found: list[AgentProgram]) -> dict[str, AgentProgram]:
    return {agent.name: agent for agent in found}


def program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_known_agents_are_found_on_the_path_or_say_how_to_get_them(tmp_path: Path) -> None:
    program(tmp_path / "bin", "kiro-cli")
    found = named(agents(tmp_path / "config.toml", {"PATH": str(tmp_path / "bin")}))
    assert list(found) == [
        *("claude-code", "kiro", "amazon-q", "codex", "gemini", "qwen"),
        *("opencode", "copilot", "cline"),
    ]
    assert found["kiro"].found and found["kiro"].command == (
        str(tmp_path / "bin" / "kiro-cli"),
        "acp",
    )
    claude = found["claude-code"]
    assert not claude.found and claude.source == "claude-code"
    assert claude.reason.startswith("claude-agent-acp is not on PATH: npm install")
    assert (found["amazon-q"].protocol, found["amazon-q"].source) == ("q", "amazon-q")
    assert not any(agent.found for agent in agents(tmp_path / "config.toml", {}))


def test_settings_add_agents_and_change_known_ones(tmp_path: Path) -> None:
    mine = program(tmp_path / "bin", "mine")
    config = tmp_path / "config.toml"
    config.write_text(
        f"""
        [drive]
        on = true
        [[agents]]
        name = "mine"
        command = ["{mine}", "--acp"]
        environment = {{ COLOUR = "blue" }}
        [[agents]]
        name = "gemini"
        command = ["gemini", "--experimental-acp"]
        """
    )
    found = named(agents(config, {"PATH": "/nowhere"}))
    assert found["mine"].found and found["mine"].title == "mine"
    assert found["mine"].environment == {"COLOUR": "blue"} and found["mine"].source is None
    assert found["gemini"].title == "Gemini CLI"
    assert found["gemini"].command == ("gemini", "--experimental-acp")
    assert str(config) in found["gemini"].reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[agents]", "is not TOML"),
        ("agents = 3", "not a list"),
        ("agents = [3]", "cannot be understood"),
        ('[[agents]]\ncommand = ["x"]', "no 'name'"),
        ('[[agents]]\nname = "x"', "command"),
        ('[[agents]]\nname = "x"\ncommand = "a string"', "cannot be understood"),
        ('[[agents]]\nname = "x"\ncommand = []', "no command"),
        ('[[agents]]\nname = "x"\ncommand = ["x"]\nshell = true', "unknown: shell"),
        ('[[agents]]\nname = "x"\ncommand = ["x"]\nprotocol = "telepathy"', "telepathy"),
        ('[[agents]]\nname = "x"\ncommand = ["x"]\nsource = "nobody"', "which nobody reads"),
    ],
)
def test_settings_that_cannot_be_understood_name_their_file(
    tmp_path: Path, text: str, why: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    with pytest.raises(RirekiError, match=why) as caught:
        agents(config, {})
    assert str(config) in caught.value.message and caught.value.hint


@pytest.mark.parametrize("path", ["", ".", ":", ".:/nowhere", "bin/..:"])
def test_a_program_of_the_current_directory_is_no_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """It may be a project that was just cloned."""
    program(tmp_path, "claude-agent-acp")
    config = tmp_path / "settings" / "config.toml"
    config.parent.mkdir()
    config.write_text('[[agents]]\nname = "mine"\ncommand = ["./claude-agent-acp"]\n')
    monkeypatch.chdir(tmp_path)
    found = named(agents(config, {"PATH": path}))
    assert not found["claude-code"].found and not found["mine"].found
    # Where the user put the directory itself on the path, it is theirs.
    assert named(agents(config, {"PATH": str(tmp_path)}))["claude-code"].found
