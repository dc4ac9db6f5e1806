"""`rireki chat`: an agent driven from the terminal, by the same bridge as in the browser.

The person has the main thread (so that Ctrl-C and line editing are theirs), the bridge another.
How things are drawn is told in `cli/chat/output.py`, how they are asked in `cli/chat/asks.py`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rireki.cli.archive import archive_path, opened
from rireki.cli.chat.asks import Asker
from rireki.cli.chat.bridge import Running
from rireki.cli.chat.lines import ChatInput
from rireki.cli.chat.output import ChatOutput, JsonChatOutput
from rireki.cli.chat.recovered import decide
from rireki.cli.options import archive_option, json_option
from rireki.cli.places import config_file, places_of, tell_ignored
from rireki.drive.agents import agents
from rireki.drive.bridge import Settings
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.intake.sweep import import_history
from rireki.interrupts import heard_at_once
from rireki.journals.session_entry import parse
from rireki.model.names import directory_of
from rireki.show.catalogue import say

if TYPE_CHECKING:
    from rireki.drive.agents import AgentProgram
    from rireki.drive.values import PromptReceipt
    from rireki.model.conversation import Conversation

__all__ = ["command"]


@click.command("chat")
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--agent", metavar="NAME", help="Which agent; else the first that is there.")
@click.option("--model", metavar="NAME", help="Which of its models.")
@click.option("--continue", "continues", metavar="ID", help="Go on with an archived conversation.")
@json_option
@archive_option
def command(
    directory: str | None,
    agent: str | None,
    model: str | None,
    continues: str | None,
    as_json: bool,
) -> None:
    """Let an agent work in a directory, and talk to it here.

    What you type is stored before the agent gets it, and so is everything that follows. A line
    that ends with \\ goes on in the next. Ctrl-C stops the agent, Ctrl-D leaves. In a pipe every
    line is a prompt, and whatever would need a person's leave is refused.

    \b
    Examples:
      rireki chat
      rireki chat ~/src/api --agent kiro
      rireki chat --continue 5471a680
      echo "What is in this directory?" | rireki chat --json
    """
    tell_ignored(archive_path(), places_of(None))
    found = _conversation(continues) if continues else None
    known = _agents()
    chosen = _agent(known, agent, found)
    project = _project(directory, found)
    paper = JsonChatOutput() if as_json else ChatOutput()
    lines = ChatInput(paper.style)
    with heard_at_once(), _running(known, chosen, project, model, found) as running:
        paper.begin(chosen.title, project)
        for warning in running.warnings():
            paper.note(warning)
        asker = Asker(running, paper, lines)
        try:
            decision, given = decide(running, paper, lines)
            if decision != "leave":
                running.wake()
                _talk(running, paper, lines, asker, given)
        finally:
            left = running.leave()
    _take_in(chosen)
    paper.end(left.conversation)
    if left.state == "failed":
        sys.exit(1)


def _conversation(name: str) -> Conversation:
    with opened() as archive:
        return archive.find(name).conversation


def _agents() -> list[AgentProgram]:
    return agents(config_file(), os.environ)


def _agent(known: list[AgentProgram], name: str | None, found: Conversation | None) -> AgentProgram:
    """The agent that was named, the one whose conversation it is, or the first that is there."""
    if name is None and found is not None:
        name = _driver_of(found) or next(
            (each.name for each in known if each.source == found.source), None
        )
        if name is None:
            raise RirekiError("no-agent-for-source", source=found.source, id=found.id)
    if name is None:
        there = [each for each in known if each.found]
        if not there:
            reasons = "; ".join(each.reason for each in known)
            raise RirekiError("no-agent-here", why=reasons)
        return there[0]
    for each in known:
        if each.name == name:
            return each
    raise RirekiError("no-agent-called", name=name, names=[each.name for each in known])


def _project(directory: str | None, found: Conversation | None) -> str:
    if directory is not None:
        return directory_of(directory)
    if found is not None and found.project:
        return found.project
    return directory_of(".")


def _driver_of(found: Conversation) -> str | None:
    """Whoever was driven in a conversation that only rireki knows."""
    if found.source != "bridge":
        return None
    with Home(archive_path()).session(found.native_id).open("rb") as file:
        first = parse(file.readline())
    return first.text("agent") if first else None


def _running(
    known: list[AgentProgram],
    agent: AgentProgram,
    project: str,
    model: str | None,
    found: Conversation | None,
) -> Running:
    # Who sits at the terminal may go anywhere: the directory that was named is the root.
    settings = Settings(archive_path(), places_of(None), (Path(project),), tuple(known))
    return Running(settings, project, agent.name, model, found.id if found else None)


def _talk(
    running: Running, paper: ChatOutput, lines: ChatInput, asker: Asker, given: PromptReceipt | None
) -> None:
    """Prompts and answers, until the person leaves; at first what was `given` already."""
    # One that comes between two prompts, or while a hint is printed, means leaving as well.
    with suppress(KeyboardInterrupt):
        if given is None or _turn(running, paper, asker, given):
            _go_on(running, paper, lines, asker)


def _go_on(running: Running, paper: ChatOutput, lines: ChatInput, asker: Asker) -> None:
    impatient = False
    while True:
        try:
            text = lines.prompt()
        except KeyboardInterrupt:
            # The first one clears the line, as everywhere; the second means it.
            if impatient:
                return
            impatient = True
            paper.hint(say("Once more to leave."))
            continue
        if text is None:
            return
        impatient = False
        if not text.strip():
            continue
        try:
            given = running.send(text)
        except RirekiError as error:
            paper.error(error)
            continue
        if not _turn(running, paper, asker, given):
            return


def _turn(running: Running, paper: ChatOutput, asker: Asker, given: PromptReceipt) -> bool:
    """Everything until the agent is done; False when the person left in the middle."""
    stopped = False
    while True:
        try:
            for event, entries in running.events():
                paper.show(event)
                paper.tell(entries)
                if event.kind != "status":
                    continue
                status: dict[str, Any] = event.more["status"]
                if status["asks"]:
                    asker.work_off(status["asks"])
                if _is_over(status, given):
                    if status["queue"]:
                        paper.hint(
                            say("What was not given yet goes to the agent with the next prompt.")
                        )
                    return True
        except KeyboardInterrupt:
            if stopped or not _stop(running, paper):
                return False
            stopped = True


def _stop(running: Running, paper: ChatOutput) -> bool:
    """False when the person does not even wait for that."""
    try:
        paper.hint(say("Stopping; once more to leave."))
        running.stop()
    except KeyboardInterrupt:
        return False
    return True


def _is_over(status: dict[str, Any], given: PromptReceipt) -> bool:
    if status["number"] < given.number or status["prompt"] or status["asks"]:
        return False
    resting = status["state"] in ("idle", "ended", "failed")
    return resting and (not status["queue"] or status["held"] or status["state"] == "failed")


def _take_in(agent: AgentProgram) -> None:
    """What was said is in the archive when the command is done, whether or not a keeper runs."""
    sources = ["bridge", *([agent.source] if agent.source else [])]
    with opened(create=True) as archive:
        import_history(archive, places=places_of(None), sources=sources)
