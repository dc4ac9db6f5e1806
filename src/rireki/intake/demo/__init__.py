"""An invented home with conversations of every source, for people who have no history yet.

`make_demo_home` writes what the agents would have written, byte for byte the
same each time. `change_demo_home` then does what agents do to history, so that
an archive that saw both has something to show for it.
"""

from __future__ import annotations

from pathlib import Path

from rireki.errors import RirekiError
from rireki.intake.demo import amazon_q, claude, kiro
from rireki.intake.demo.words import amazon_q as q_words
from rireki.intake.demo.words import claude_en, claude_ja
from rireki.intake.demo.words import kiro as kiro_words

__all__ = ["change_demo_home", "is_demo_home", "make_demo_home"]


def make_demo_home(directory: Path) -> None:
    """Write the home into a directory that is empty or not there yet."""
    if directory.exists() and any(directory.iterdir()):
        raise RirekiError(
            f"{directory} is not empty", "The demo writes a home of its own: name a new directory."
        )
    claude.write_claude(
        directory, (*claude_ja.STORIES, *claude_en.STORIES), forgotten=(claude_ja.FORGOTTEN,)
    )
    amazon_q.write_amazon_q(directory, q_words.STORIES)
    kiro.write_kiro_database(directory, kiro_words.CLASSIC)
    kiro.write_kiro_sessions(directory, kiro_words.SESSIONS)


def is_demo_home(directory: Path) -> bool:
    """Whether this was made by us, and time has not passed in it yet."""
    return claude.transcript_path(directory, claude_ja.HAIKU).exists()


def change_demo_home(directory: Path) -> None:
    """Let time pass: a chat is overwritten, another compacted, a transcript cleaned away."""
    amazon_q.save(directory, q_words.LATER)
    claude.transcript_path(directory, claude_ja.HAIKU).unlink(missing_ok=True)
