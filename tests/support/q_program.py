"""A program that behaves like `q chat` at a terminal: its prompt, its questions, its one row per directory.

Run as `q_program.py chat [--resume] [--model NAME] [PROMPT]`, with the database where Amazon Q has
it, or where Kiro has it when its own name begins with `kiro`. What it does is chosen by the first
word of what is typed; nothing is saved before an answer is complete. It needs Python alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import termios
import time
import tty
import uuid
from pathlib import Path
from typing import Any

PASTE = re.compile(rb"\x1b\[200~(.*?)\x1b\[201~", re.DOTALL)
GREY, GREEN, MAGENTA, RESET = "\x1b[38;5;8m", "\x1b[38;5;10m", "\x1b[38;5;13m", "\x1b[39m"
SUMMARISE = "In a few words, summarize our conversation so far."
DENIED = "I deny this tool request. Ask a follow up question clarifying the expected action"
CANCELLED = "Tool use was cancelled by the user"
INTERRUPTED = "The user interrupted the tool execution."
WAITING = "Tool uses were interrupted, waiting for the next user prompt"


class Leave(Exception):
    """The person has had enough."""


class Program:
    def __init__(self, arguments: list[str]) -> None:
        self.kiro = Path(sys.argv[0]).name.startswith("kiro")
        self.directory = os.getcwd()  # noqa: PTH109 - as it is, links included
        self.trusted: set[str] = set()
        self.conversation = str(uuid.uuid4())
        self.history: list[dict[str, Any]] = []
        self.transcript: list[str] = []
        self.first, resume = _first(arguments)
        if resume and self.load() and self.first is None:
            self.first = SUMMARISE

    # ── the store ──

    @property
    def place(self) -> Path:
        home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
        return Path(home) / ("kiro-cli" if self.kiro else "amazon-q") / "data.sqlite3"

    def connect(self) -> sqlite3.Connection:
        self.place.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.place, timeout=5, isolation_level=None)
        if self.kiro:
            database.execute(
                "CREATE TABLE IF NOT EXISTS conversations_v2 (key TEXT, conversation_id TEXT,"
                " value TEXT, created_at INTEGER, updated_at INTEGER,"
                " PRIMARY KEY (key, conversation_id))"
            )
        else:
            database.execute(
                "CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)"
            )
        return database

    def load(self) -> bool:
        table = "conversations_v2" if self.kiro else "conversations"
        order = " ORDER BY updated_at DESC" if self.kiro else ""
        database = self.connect()
        found = database.execute(
            f"SELECT value FROM {table} WHERE key = ?{order}", (self.directory,)
        ).fetchone()
        database.close()
        if found is None:
            return False
        value = json.loads(found[0])
        self.conversation, self.history = value["conversation_id"], value["history"]
        self.transcript = value["transcript"]
        return bool(self.history)

    def save(self) -> None:
        value = json.dumps(
            {
                "conversation_id": self.conversation,
                "next_message": None,
                "history": self.history,
                "valid_history_range": [0, max(0, len(self.history) - 1)],
                "transcript": self.transcript,
                "tools": {"native___": []},
                "context_manager": None,
                "context_message_length": None,
                "latest_summary": None,
                "model_info": None,
            },
            ensure_ascii=False,
        )
        database = self.connect()
        now = int(time.time() * 1000)
        if self.kiro:
            database.execute(
                "INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                (self.directory, self.conversation, value, now, now),
            )
        else:
            database.execute(
                "INSERT OR REPLACE INTO conversations VALUES (?, ?)", (self.directory, value)
            )
        database.close()

    def add(self, content: dict[str, Any], assistant: dict[str, Any], save: bool = True) -> None:
        """A pair is in memory when its answer is complete, and on disk with the same breath."""
        user = {
            "additional_context": "",
            "env_context": {"env_state": None},
            "content": content,
            "timestamp": None,
            "images": None,
        }
        self.history.append({"user": user, "assistant": assistant, "request_metadata": None})
        if save:
            self.save()

    # ── the terminal ──

    def say(self, text: str) -> None:
        sys.stdout.write(text.replace("\n", "\r\n"))
        sys.stdout.flush()

    def spin(self) -> None:
        self.say("\x1b[?25l")
        for frame in "⠋⠙⠹":
            self.say(f"\r\x1b[2K{frame} Thinking...")
            time.sleep(0.02)
        self.say("\r\x1b[2K\x1b[?25h")

    def answer(self, text: str, pause: float = 0.0) -> str:
        self.say(f"{GREEN}> {RESET}")
        for word in re.findall(r"\S+\s*", text):
            self.say(word)
            time.sleep(pause)
        self.say("\n\n")
        return text

    def line(self) -> str:
        """One line, as the line editor takes it; a second Ctrl-C in a row leaves."""
        for _ in range(2):
            while True:
                found = _edit(f"{MAGENTA}> {RESET}")
                if found is None:
                    break
                if found.strip():
                    return found
            self.say("\n(To exit the CLI, press Ctrl+C or Ctrl+D again or type /quit)\n\n")
        raise Leave

    # ── the chat ──

    def run(self) -> None:
        self.say(f"\x1b[1m🤖 You are chatting with {GREEN}scripted{RESET}\x1b[22m\n\n")
        while True:
            if self.first is not None:
                typed, self.first = self.first, None
            else:
                typed = self.line()
                self.transcript.append("> " + typed.replace("\n", "> \n"))
            try:
                self.handle(typed.strip())
            except KeyboardInterrupt:
                # What was streaming is not saved, and neither is its prompt.
                self.say("^C\n\n")

    def handle(self, typed: str) -> None:
        if typed.startswith("/"):
            self.command(typed)
        elif typed.startswith("!"):
            subprocess.run(typed[1:], shell=True, check=False)
        else:
            self.turn({"Prompt": {"prompt": typed}}, typed)

    def command(self, typed: str) -> None:
        word = typed.split()[0]
        if word in ("/quit", "/exit", "/q"):
            raise Leave
        if word == "/clear":
            self.history = []
        known = word in ("/clear", "/tools", "/usage", "/help")
        self.say(f"{word[1:]}: done\n\n" if known else f"error: unrecognized subcommand '{word}'\n")

    def turn(self, content: dict[str, Any], typed: str) -> None:
        word, _, rest = typed.partition(" ")
        if word == "tool":
            self.tool(content, rest or "touch made-by-q.txt")
            return
        self.spin()
        if word == "crash":
            self.answer("About to", 0.05)
            self.say("thread 'main' panicked at chat.rs\n")
            os._exit(3)
        if word == "forever":
            while True:
                self.answer("and on and on", 0.05)
        if word == "stream":
            text = self.answer(" ".join(f"word{n}" for n in range(int(rest))), 0.01)
        elif word == "slow":
            time.sleep(float(rest))
            text = self.answer("Slowly.")
        else:
            text = self.answer(f"You said: {typed}")
        self.respond(content, text, save=word != "unsaved")

    def respond(self, content: dict[str, Any], text: str, save: bool = True) -> None:
        self.transcript.append(f"{text}\n[Tool uses: none]")
        self.add(content, {"Response": {"message_id": str(uuid.uuid4()), "content": text}}, save)

    def tool(self, content: dict[str, Any], command: str) -> None:
        self.spin()
        text = self.answer("I will run a command.")
        id, args = f"tooluse_{uuid.uuid4().hex[:12]}", {"command": command}
        name = "execute_bash"
        use = {"id": id, "name": name, "orig_name": name, "args": args, "orig_args": args}
        message = {"message_id": str(uuid.uuid4()), "content": text, "tool_uses": [use]}
        self.transcript.append(f"{text}\n[Tool uses: {name}]")
        self.add(content, {"ToolUse": message})
        trust = " (trusted)" if name in self.trusted else ""
        self.say(f"🛠️  Using tool: {MAGENTA}{name}{RESET}{trust}\n ⋮ \n")
        self.say(f" ● I will run the following shell command:\n{GREEN}{command}{RESET}\n")
        if not trust and not self.allowed(id, name):
            return
        try:
            done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
        except KeyboardInterrupt:
            self.interrupted(id)
            return
        self.say(" ⋮ \n ● Completed in 0.1s\n\n")
        output = {
            "exit_status": f"exit status: {done.returncode}",
            "stdout": done.stdout,
            "stderr": done.stderr,
        }
        result = {"tool_use_id": id, "content": [{"Json": output}], "status": "Success"}
        self.spin()
        self.respond({"ToolUseResults": {"tool_use_results": [result]}}, self.answer("It ran."))

    def allowed(self, id: str, name: str) -> bool:
        """Ask; anything but yes and trust is said to the model, and ends this request."""
        self.say(
            f"\n{GREY}Allow this action? Use '{GREEN}t{GREY}' to trust (always allow) this tool for"
            f" the session. [{GREEN}y{GREY}/{GREEN}n{GREY}/{GREEN}t{GREY}]:\n\n{RESET}"
        )
        answer = self.line()
        self.transcript.append(f"> {answer}")
        if answer in ("y", "Y"):
            return True
        if answer in ("t", "T"):
            self.trusted.add(name)
            return True
        result = {"tool_use_id": id, "content": [{"Text": CANCELLED}], "status": "Error"}
        prompt = DENIED if answer in ("n", "N") else answer
        refused = {"prompt": prompt, "tool_use_results": [result]}
        self.turn({"CancelledToolUses": refused}, f"Refused: {prompt}")
        return False

    def interrupted(self, id: str) -> None:
        self.say("^C\n\n")
        result = {"tool_use_id": id, "content": [{"Text": CANCELLED}], "status": "Error"}
        refused = {"prompt": INTERRUPTED, "tool_use_results": [result]}
        answer = {"Response": {"message_id": None, "content": WAITING}}
        self.add({"CancelledToolUses": refused}, answer)


def _first(arguments: list[str]) -> tuple[str | None, bool]:
    """The prompt of the command line, and whether to go on; refuses options it does not know."""
    first, resume = None, False
    rest = iter(arguments)
    for argument in rest:
        if argument == "--resume":
            resume = True
        elif argument == "--model":
            next(rest)
        elif argument.startswith("-"):
            sys.exit(f"error: unexpected argument '{argument}' found")
        else:
            first = argument
    return first, resume


def _edit(prompt: str) -> str | None:
    """A line editor in raw mode with bracketed paste; None for Ctrl-C, and for Ctrl-D when empty."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    sys.stdout.write(f"\x1b[?2004h{prompt}")
    sys.stdout.flush()
    try:
        return _keys()
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        sys.stdout.write("\x1b[?2004l\r\n")
        sys.stdout.flush()


def _keys() -> str | None:
    waiting, text = b"", ""
    while True:
        piece = os.read(0, 65536)
        if not piece:
            return None
        waiting += piece
        if b"\x1b[200~" in waiting and b"\x1b[201~" not in waiting:
            continue
        while waiting:
            pasted = PASTE.match(waiting)
            if pasted:
                text += pasted[1].decode().replace("\r\n", "\n").replace("\r", "\n")
                waiting = waiting[pasted.end() :]
                continue
            key, waiting = waiting[:1], waiting[1:]
            if key == b"\x03" or (key == b"\x04" and not text):
                return None
            if key == b"\r":
                if text.count("```") % 2 == 0 and not text.endswith("\\"):
                    return text
                text += "\n"
            elif key == b"\n":
                text += "\n"
            elif key >= b" ":
                try:
                    text += key.decode()
                except UnicodeDecodeError:
                    size = next(n for n in (2, 3, 4) if key[0] < (0x100 - (0x80 >> n)))
                    text, waiting = text + (key + waiting[: size - 1]).decode(), waiting[size - 1 :]
        # As an editor draws it: the whole line anew at every key.
        sys.stdout.write("\r\x1b[K" + f"{MAGENTA}> {RESET}" + text.replace("\n", "\r\n"))
        sys.stdout.flush()


def main() -> None:
    if sys.argv[1:2] != ["chat"]:
        sys.exit("error: only `chat` is known here")
    if not sys.stdin.isatty():
        sys.exit("error: stdin is no terminal")
    with contextlib.suppress(Leave):
        Program(sys.argv[2:]).run()


if __name__ == "__main__":
    main()
