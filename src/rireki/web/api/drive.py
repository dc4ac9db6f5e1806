"""Answers for whoever drives agents: start one, send it prompts, answer what it asks, end it.

All of it is done by the bridge, which writes down what was sent before anything else
happens with it; here is only the way in over HTTP.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt, PromptReceipt, Status
from rireki.errors import NotFound
from rireki.web.api.answers import DriveAgent
from rireki.web.api.call import ApiCall, operation
from rireki.web.api.parameters import Nothing
from rireki.web.driving import OFF, Driving
from rireki.web.projects import Directory, Files, find_files, near, recent_projects

__all__ = ["Drive"]

#: Who it is that answers and sends, in the bridge's journal.
BY = "web"
_SESSION = "/drive/{session}"


class Drive(msgspec.Struct, kw_only=True):
    agents: list[DriveAgent]
    sessions: list[Status]
    #: Directories that conversations were held in lately, and where agents may work.
    projects: list[str]
    #: Agents work below these directories only.
    roots: list[str]


class Start(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A new session; the same id twice starts one."""

    id: str
    project: str
    agent: str
    model: str | None = None
    #: The id of an archived conversation to go on with.
    continues: str | None = None
    #: What to begin with.
    prompt: Prompt | None = None


class StartedSession(msgspec.Struct, kw_only=True):
    session: Status
    given: PromptReceipt | None = None
    #: What the person should know, and was not asked about.
    warnings: list[str] = msgspec.field(default_factory=list)


class Words(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class AnswerBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The answer to something the agent waits for."""

    ask: str
    option: str | None = None
    reason: str | None = None
    values: dict[str, list[str]] | None = None


class FilesAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    project: Annotated[str, Meta(description="A directory in which agents may work.")]
    q: Annotated[str, Meta(description="What was typed of a file's name.", max_length=500)] = ""


class DirectoryAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    path: Annotated[str, Meta(description="A directory, as somebody types it.", max_length=4000)]


@operation("/drive", "Agents, and what they are doing.")
async def drive(call: ApiCall[Nothing]) -> Drive:
    driving = _driving(call)
    return Drive(
        agents=[
            DriveAgent(
                name=agent.name,
                title=agent.title,
                protocol=agent.protocol,
                source=agent.source,
                found=agent.found,
                reason=agent.reason,
            )
            for agent in driving.settings.agents
        ],
        sessions=[session.status for session in driving.bridge.sessions()],
        projects=await call.archive_reader.read(
            lambda archive: recent_projects(archive, driving.settings)
        ),
        roots=[str(root) for root in driving.roots],
    )


@operation("/drive", "Let an agent work in a directory.", "POST", Start)
async def start(call: ApiCall[Nothing]) -> StartedSession:
    asked: Start = call.body
    session = await _driving(call).bridge.start(
        asked.id,
        asked.project,
        asked.agent,
        model=asked.model,
        continues=asked.continues,
        by=BY,
    )
    given = await session.send(asked.prompt, BY) if asked.prompt else None
    return StartedSession(session=session.status, given=given, warnings=list(session.warnings))


# Before what looks like a session of that name.
@operation("/drive/files", "Files of a project, for mentions.")
async def files(call: ApiCall[FilesAsked]) -> Files:
    settings = _driving(call).settings
    return await call.archive_reader.read(
        lambda _: find_files(settings, call.asked.project, call.asked.q)
    )


@operation("/drive/directory", "Whether an agent may work in a directory.")
async def directory(call: ApiCall[DirectoryAsked]) -> Directory:
    settings = _driving(call).settings
    return await call.archive_reader.read(lambda _: near(settings, call.asked.path, call.locale))


@operation(_SESSION, "One session.")
async def session(call: ApiCall[Nothing]) -> Status:
    return _session(call).status


@operation(_SESSION + "/prompts", "Send a prompt; the same id twice runs once.", "POST", Prompt)
async def send_prompt(call: ApiCall[Nothing]) -> PromptReceipt:
    return await _session(call).send(call.body, BY)


@operation(
    _SESSION + "/prompts/{prompt}",
    "Change a prompt that the agent does not have yet.",
    "PUT",
    Words,
)
async def edit_prompt(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.edit(call.names["prompt"], call.body.text, BY)
    return session.status


@operation(
    _SESSION + "/prompts/{prompt}", "Take back a prompt that the agent does not have yet.", "DELETE"
)
async def withdraw_prompt(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.withdraw(call.names["prompt"], BY)
    return session.status


@operation(_SESSION + "/answers", "Answer what the agent asks.", "POST", AnswerBody)
async def answer_ask(call: ApiCall[Nothing]) -> PromptReceipt:
    said: AnswerBody = call.body
    answer = AskAnswer(option=said.option, reason=said.reason, values=said.values)
    return await _session(call).answer(said.ask, answer, BY)


@operation(_SESSION + "/stop", "Stop the turn that runs.", "POST")
async def stop_session(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.stop()
    return session.status


@operation(_SESSION + "/kill", "End the agent's process.", "POST")
async def kill_session(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.kill()
    return session.status


@operation(_SESSION + "/restart", "Start the agent anew, and go on.", "POST")
async def restart_session(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.restart()
    return session.status


@operation(_SESSION + "/proceed", "Go on with prompts that were held back.", "POST")
async def proceed_session(call: ApiCall[Nothing]) -> Status:
    session = _session(call)
    await session.proceed(BY)
    return session.status


def _driving(call: ApiCall[Any]) -> Driving:
    if call.driving is None:
        raise NotFound(OFF)
    return call.driving


def _session(call: ApiCall[Any]) -> Session:
    return _driving(call).bridge.session(call.names["session"])
