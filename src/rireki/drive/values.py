"""What the bridge and its callers tell each other: prompts, asks, answers, the status of a session.

Plain values that become JSON as they are. Knows no agent and no file.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

from rireki.model.activity import WORDS, AskState, state_of_ask

__all__ = [
    "AskAnswer",
    "Ask",
    "StreamBlock",
    "RunningCall",
    "LABELS",
    "REASONED",
    "Choice",
    "PromptReceipt",
    "PromptImage",
    "Mode",
    "Option",
    "Prompt",
    "AskedQuestion",
    "Queued",
    "State",
    "Status",
    "in_order",
]

State: TypeAlias = Literal[
    "starting",
    "idle",
    "working",
    "permission",
    "answer",
    "stopping",
    "ended",
    "failed",
]


class PromptImage(msgspec.Struct, frozen=True, omit_defaults=True):
    media_type: str
    #: Base64.
    data: str
    name: str = ""


class Prompt(msgspec.Struct, frozen=True):
    """What a person sends; `id` is made by the client, and runs once however often it is sent."""

    id: str
    text: str
    images: list[PromptImage] = []
    #: Paths of files below the project.
    mentions: list[str] = []


class PromptReceipt(msgspec.Struct, frozen=True):
    """The acknowledgement: it is stored, at this number. `known`: it was there already."""

    number: int
    known: bool


class AskAnswer(msgspec.Struct, frozen=True):
    """An answer to an ask: an option (permission, plan) or values (questions); nothing refuses it."""

    option: str | None = None
    #: Why it is refused, in the person's words; they reach the agent.
    reason: str | None = None
    #: By question: the labels that were chosen, or one text of the person's own.
    values: dict[str, list[str]] | None = None


OptionKind: TypeAlias = Literal[
    "choice", "allow_once", "allow_always", "reject_once", "reject_always"
]


class Option(msgspec.Struct, frozen=True):
    id: str
    name: str
    kind: OptionKind

    @property
    def label(self) -> str:
        """Our words for it, the same for every agent; a choice of the agent's own has only its name."""
        return LABELS.get(self.kind, self.name)

    @property
    def more(self) -> str:
        """The agent's words, where they say more than ours: which commands, for how long."""
        plain = _PLAIN | {*self.label.lower().split()}
        said = self.kind not in LABELS or {*re.findall(r"\w+", self.name.lower())} <= plain
        return "" if said else self.name

    @property
    def refuses(self) -> bool:
        return self.kind in ("reject_once", "reject_always")


#: In the order in which they are offered, everywhere.
LABELS: dict[OptionKind, str] = {
    "allow_once": "Allow once",
    "allow_always": "Always allow",
    "reject_once": "Refuse",
    "reject_always": "Always refuse",
}
#: Words in which agents say no more than that.
_PLAIN = {"yes", "no", "ok", "allow", "allowed", "always", "once", "refuse", "reject", "deny"}
_PLAIN |= {"approve", "accept", "this", "time"}
_ORDER: list[OptionKind] = ["choice", *LABELS]


def in_order(options: list[Option]) -> list[Option]:
    """The same number means the same with every agent, whatever order it has itself."""
    return sorted(options, key=lambda option: _ORDER.index(option.kind))


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    label: str
    description: str = ""


class AskedQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    question: str
    header: str = ""
    #: Without any, the answer is a text.
    options: list[Choice] = []
    multiple: bool = False
    #: Whether a text of one's own may be given instead of an option.
    free: bool = False
    required: bool = False


class Ask(msgspec.Struct, frozen=True):
    """Something that waits for the person. `detail` tells exactly what would be done."""

    id: str
    what: Literal["permission", "question", "plan", "prompts"]
    title: str
    detail: str = ""
    #: The call it is about.
    call: str | None = None
    arguments: Any = None
    #: Changes of files: {path, old, new}; old is None for a new file.
    diffs: list[dict[str, Any]] = []
    options: list[Option] = []
    questions: list[AskedQuestion] = []
    at: str = ""
    number: int = 0

    @property
    def state(self) -> AskState:
        """The state of a conversation that waits for it."""
        return state_of_ask(self.what)

    @property
    def words(self) -> str:
        return WORDS[self.state]

    @property
    def reasoned(self) -> str:
        """What the last choice is called: to refuse, and to say why. Empty where nobody would hear it."""
        return REASONED.get(self.what, "")


REASONED = {
    "permission": "Refuse with a reason",
    "plan": "Refuse, and say what to change",
    "question": "Do not answer, and say why",
}


class Queued(msgspec.Struct, frozen=True):
    """A prompt that was not given to the agent yet."""

    id: str
    text: str
    at: str
    number: int
    by: str = ""
    images: int = 0
    mentions: list[str] = []


class StreamBlock(msgspec.Struct, frozen=True):
    """A stretch of the agent's text or thinking that is still growing."""

    id: str
    kind: Literal["text", "thought"]
    text: str
    provisional: bool = False


class RunningCall(msgspec.Struct, frozen=True):
    """A tool call that runs, or waits for permission."""

    id: str
    name: str
    title: str = ""
    tool: str = ""
    arguments: Any = None
    diffs: list[dict[str, Any]] = []


class Mode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model, or a mode of working, that the agent offers."""

    id: str
    name: str
    description: str = ""


class Status(msgspec.Struct, frozen=True):
    """All that is to be known about a session right now."""

    id: str
    #: The id under which the archive shows it.
    conversation: str
    agent: str
    project: str
    state: State
    #: For people: why it failed, what the agent printed last, that it does not stop.
    detail: str
    #: The number of the latest event of it.
    number: int
    model: str | None = None
    title: str = ""
    queue: list[Queued] = []
    #: The queue waits for the person: the turn before it was stopped, or failed, or rireki was
    #: restarted.
    held: bool = False
    #: Ids of the queued prompts that an earlier process stored: the agent gets them only after the
    #: person's yes, which is one of the asks.
    recovered: list[str] = []
    asks: list[Ask] = []
    blocks: list[StreamBlock] = []
    calls: list[RunningCall] = []
    #: The prompt that is being answered.
    prompt: str | None = None
    started_at: str = ""
    models: list[Mode] = []
    modes: list[Mode] = []
    mode: str | None = None
    #: Whether the agent takes images; None as long as it is not known.
    images: bool | None = None
    #: Whether the agent can go on with it after a restart.
    can_continue: bool = False
    #: How full the agent's context is, as it says: {used, size}.
    usage: dict[str, Any] | None = None
