"""Which sentences of a conversation an agent would miss: decided by how they are written, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from rireki.model.message import Message
from rireki.model.parts import Text, Thinking, ToolCall, ToolResult

__all__ = ["KINDS", "Fact", "Kind", "facts_of"]

#: What a fact is, in the order in which they are told.
Kind: TypeAlias = Literal["decision", "constraint", "open task", "number", "path", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Characters of a sentence that is looked at, and of a tool's output in all.
LONGEST, SHORTEST = 600, 8
OUTPUT = 200_000

_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9`/~])|(?<=[。！？])|\n+")
#: Marks of lists, headings and quotations say nothing themselves.
_BULLET = re.compile(r"^(?:[-*+•>#]+|\d{1,3}[.)])\s+|^\[[ x]\]\s*|^\|\s*|\s*\|$")
_DECISION = re.compile(
    r"\b(?:decid\w+|decision|chos\w+|choose|agreed?|settled|go(?:ing)? with|switch(?:ed|ing)? to|"
    r"instead of|prefer\w*|we(?:'ll| will) (?:use|keep|call|store|go)|let'?s (?:use|keep|call|go)|"
    r"picked|rejected|ruled out|the (?:plan|approach|fix|cause) (?:is|was)|root cause|turned out|"
    r"conclu\w+|named|is called|will be called|use \S+ (?:for|as))\b"
    r"|決定|決め|決ま|採用|方針|選び|選ん|することに|とする|にします|にしよう|原因は|結論",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:must(?: not|n't)?|never|always|do not|don'?t|cannot|may not|shall|only|at (?:most|least)|"
    r"no (?:more|less|fewer) than|requir\w+|forbid\w*|forbidden|not allowed|limit(?:ed)?|maximum|minimum|"
    r"deadline|until|before (?:the )?release|without|avoid|keep \w+ (?:below|under|compatible)|"
    r"should(?: not|n't)?|has to|have to|needs? to|exactly|supports? only)\b"
    r"|必ず|禁止|いけない|いけません|ならない|なりません|以内|以下|以上|まで(?:に)?|だけ|のみ|しないで|しないこと|べき|必須|上限|締め切り|締切",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:todo|fixme|xxx|remaining|remains|still (?:need|has|have|to|open|missing|fails?)|next(?: step)?s?:|"
    r"follow[- ]up|not (?:yet|done)|later|pending|left to do|open (?:task|question|issue)|unfinished|"
    r"to be done|blocked|waiting for|remember to|don'?t forget|afterwards)\b"
    r"|残り|残って|未対応|未完|あとで|後で|次に|次は|要対応|忘れずに|まだ",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w/.-])[#v$€£¥]?\d[\d.,:_x-]*\s?(?:%|[A-Za-zµ]{1,4}\b|[円分秒時日個件本人回年月歳度台万億])?"
)
_PATH = re.compile(
    r"(?:[A-Za-z]:\\|~?/|\.{1,2}/)?[\w.@-]+(?:[/\\][\w.@*-]+)+/?|\b[\w-]+\.[a-z]{1,5}\b(?!\()"
    r"|https?://\S+"
)
_IDENTIFIER = re.compile(
    r"`[^`\n]+`|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[a-z]+[A-Z]\w+\b"
    r"|--[a-z][\w-]+"
)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|lives?|listens?|runs?|uses?|belongs?|owns?|means?|stands?|expires?|equals)\b"
    r"|[=:]|は|が",
    re.IGNORECASE,
)
#: What is said on the way, and missed by nobody.
_CHATTER = re.compile(
    r"^(?:let me|i'?ll|i will|i'?m going|now (?:i|let)|sure|ok(?:ay)?|great|thanks?|thank you|perfect|good|"
    r"done|looking|checking|reading|running|here(?:'s| is)|first,? (?:i|let)|please|can you|could you|yes|"
    r"no problem|分かりました|わかりました|了解|承知|ありがとう|はい|確認します|では)\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[{};]\s*$|^[-+@]{2,3} |^\s*[<>]\w"
    r"|^\s*(?:def|class|import|from|return|if|for|while|else|try|except|const|let|var|func|fn|use|#include)\b"
)
_LISTING = re.compile(
    r"^\s*\d+\s*[→|:]|^(?:total \d+|[d-][rwx-]{9})|^[\w./-]+:\d+(?::\d+)?:|^\s*at \S+ \("
)
_WORDS = re.compile(r"\w+", re.UNICODE)
#: What programs say of every call that went well, and lines of a numbered file.
_RECEIPT = re.compile(
    r"(?i)(?:the )?file \S+ (?:has been )?(?:updated|created|written)|^file created|^todos? have been"
    r"|^\d+\s+(?:def|class|from|import|return|const|let|if|for)\b"
)

#: How much what somebody says counts.
_PERSON, _AGENT, _THINKING, _OUTPUT, _PROGRAM = 3.0, 2.0, 1.4, 0.4, 0.2
#: What was only read can be read again.
_READ = -1.5
_READS = re.compile(r"read|view|cat|grep|glob|search|find|list|ls\b|fetch", re.IGNORECASE)


class Fact(NamedTuple):
    message: Message
    text: str
    kind: Kind
    score: float
    #: Where in the text that stands which makes it a fact.
    place: int
    #: Its words, for telling the same fact said twice.
    words: frozenset[str]


def facts_of(messages: Sequence[Message]) -> list[Fact]:
    """The sentences that say something, the most telling first; each once."""
    best: dict[frozenset[str], Fact] = {}
    tools: dict[str, str] = {}
    for message in messages:
        for text, weight in _texts(message, tools):
            for sentence in _sentences(text):
                fact = _fact(message, sentence, weight)
                if fact is not None and best.get(fact.words, fact).score <= fact.score:
                    best[fact.words] = fact
    return sorted(best.values(), key=lambda fact: -fact.score)


def _texts(message: Message, tools: dict[str, str]) -> Iterator[tuple[str, float]]:
    """What is said, and how much that counts; `tools` gathers the tool behind each call."""
    for part in message.parts:
        if isinstance(part, ToolCall):
            tools[part.call_id] = part.name
        if isinstance(part, Text):
            by = {"person": _PERSON, "agent": _AGENT, "tool": _OUTPUT}
            yield part.text, by.get(message.author, _PROGRAM)
        elif isinstance(part, Thinking):
            yield part.text, _THINKING
        elif isinstance(part, ToolResult):
            reads = _READS.search(tools.get(part.call_id, ""))
            yield part.output[:OUTPUT], _READ if reads else _OUTPUT


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        stripped = _BULLET.sub("", sentence.strip()).strip()
        if len(stripped) >= SHORTEST and any(map(str.isalpha, stripped)):
            yield stripped[:LONGEST]


def _fact(message: Message, text: str, weight: float) -> Fact | None:
    found = {
        "decision": _DECISION.search(text),
        "constraint": _CONSTRAINT.search(text),
        "open task": _TASK.search(text),
        "number": _NUMBER.search(text),
        "path": _PATH.search(text),
    }
    named = _IDENTIFIER.search(text)
    says = bool(_SAYS.search(text))
    kind: Kind = next((kind for kind in KINDS if found.get(kind)), "other")
    if kind == "other" and not named:
        return None
    score = weight + _value(found, bool(named), says) - _cost(text, weight)
    if score <= 0:
        return None
    first = found.get(kind) or named
    words = frozenset(word.casefold() for word in _WORDS.findall(text))
    return Fact(message, text, kind, score, first.start() if first else 0, words)


def _value(found: dict[str, re.Match[str] | None], named: bool, says: bool) -> float:
    worth = {"decision": 3.0, "constraint": 2.5, "open task": 2.5, "number": 2.0, "path": 1.5}
    value = sum(worth[kind] for kind, match in found.items() if match)
    return value + (1.0 if named else 0.0) + (0.5 if says else 0.0)


def _cost(text: str, weight: float) -> float:
    """What is long, asked, on the way, or code is missed less."""
    cost = 0.0
    if text.endswith(("?", "？")):
        cost += 2.0
    if _CHATTER.match(text):
        cost += 2.5
    if _CODE.search(text) or _LISTING.search(text) or _RECEIPT.search(text):
        cost += 3.0
    if len(text) > 200:
        cost += min((len(text) - 200) / 150, 3.0)
    letters = sum(map(str.isalnum, text))
    if letters * 2 < len(text):
        cost += 2.0
    return cost
