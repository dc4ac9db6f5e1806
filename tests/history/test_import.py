"""Importing the library is cheap, and brings nothing with it that a history does not need."""

from __future__ import annotations

import json
import subprocess
import sys

#: CPU seconds of the import alone, in a fresh process.
LIMIT = 0.060
PROGRAM = """
import json, sys, time
started = time.process_time()
from rireki import MessageHistory
history = MessageHistory()
history.add_user_message("hi")
history.add_tool_result("a", "b")
history.get_messages()
used = time.process_time() - started
print(json.dumps([used, sorted(sys.modules)]))
"""


def run() -> tuple[float, list[str]]:
    out = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True).stdout
    used, modules = json.loads(out)
    return used, modules


def test_it_brings_no_web_no_database_and_no_provider() -> None:
    _, modules = run()
    tops = {name.partition(".")[0] for name in modules}
    packages = {"starlette", "uvicorn", "jinja2", "anthropic", "openai", "google", "ollama"}
    packages |= {"botocore", "apsw", "tantivy", "zstandard", "click", "watchdog", "msgspec"}
    assert not tops & packages
    ours = {name for name in modules if name.startswith("rireki.")}
    assert not any(name.startswith("rireki.providers") for name in ours)
    assert not any(name.startswith(("rireki.archive", "rireki.search")) for name in ours)
    assert "asyncio" not in tops


def test_it_brings_few_modules_at_all() -> None:
    """Counted, because time is another on every machine: whoever adds one has to mean it."""
    out = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"],
        check=True,
        capture_output=True,
    ).stdout
    _, modules = run()
    ours = [name for name in modules if name.startswith("rireki")]
    assert len(ours) <= 13, ours
    assert len(modules) - int(out) <= 60


def test_the_agent_comes_when_it_is_asked_for() -> None:
    code = "import sys, rireki\nbefore = set(sys.modules)\nfrom rireki import Agent\n"
    code += "print(Agent.__name__, any('agent' in name for name in before))"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == "Agent False\n"
    from rireki import Agent
    from rireki.agent import Agent as Same

    assert Agent is Same


def test_it_is_quick() -> None:
    # Of the processor, and the best of many: on a busy machine everything takes longer.
    assert any(run()[0] <= LIMIT for _ in range(20))


def test_an_unknown_name_is_an_attribute_error() -> None:
    import rireki

    assert not hasattr(rireki, "MessageHistories")
    assert rireki.MessageHistory.__name__ == "MessageHistory"
