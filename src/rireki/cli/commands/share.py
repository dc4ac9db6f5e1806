"""`rireki share`: one conversation as a file for other people, with its secrets masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rireki.cli.archive import complete_ids, library, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, time_of
from rireki.cli.sharing import OFFERED, preview, rule_for_name, rules_told, team_remote
from rireki.errors import RirekiError
from rireki.export.files import write_whole_bytes
from rireki.export.sharing import ENDINGS, share, turns_of_range
from rireki.shares.rules import Level, read_rules, write_rules
from rireki.show.catalogue import language, say
from rireki.show.safe import one_line
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.masking import Mark

__all__ = ["command"]


@click.command("share")
@click.argument("name", required=False, metavar="[ID|DIR]", shell_complete=complete_ids)
@click.option("--turns", metavar="A-B", help="These turns alone, as `show` numbers them.")
@click.option(
    "--to",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="FILE.html (also readable by `rireki import`), FILE.md or FILE.zip; else one is named here.",
)
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@click.option(
    "--team", metavar="TEAM", help="Instead of a file: share it with this team from now on."
)
@click.option("--remote", metavar="NAME", help="With --team: the server, if there are several.")
@click.option(
    "--level",
    type=click.Choice(OFFERED),
    default=None,
    help="With --team: figures alone, without secrets (the default), or in full.",
)
@click.option("--dry-run", is_flag=True, help="With --team: only show what would be sent.")
@click.option("--list", "listed", is_flag=True, help="What is shared with which team.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@archive_option
def command(
    name: str | None,
    turns: str | None,
    to: Path | None,
    as_of: str | None,
    team: str | None,
    remote: str | None,
    level: Level | None,
    dry_run: bool,
    listed: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Write one conversation for other people, or share with a team what lies in a directory.

    Keys, tokens and passwords are masked in the file. What was masked is told before anything is
    written; on a terminal you are asked. Read it before you send it: only what looks like a secret
    is found.

    With --team a rule is kept instead, and 'rireki push' sends by it what is there and what comes.
    DIR means all below it, and / everything. Without a rule nothing goes to a team.

    \b
    Examples:
      rireki share 5471a680
      rireki share 5471a680 --turns 2-5 --to question.html
      rireki share ~/src/shop --team acme
      rireki share / --team acme --level counts
      rireki share --list
    """
    file = {"--turns": turns, "--to": to, "--as-of": as_of}
    rule = {"--remote": remote, "--level": level, "--dry-run": dry_run}
    _check(name, team, listed, file, rule)
    if listed:
        _list(as_json)
    elif team is not None:
        assert name is not None
        _share_with(name, team, remote, level or "masked", dry_run, yes, as_json)
    else:
        assert name is not None
        _write(name, turns, to, as_of, yes, as_json)


def _check(
    name: str | None, team: str | None, listed: bool, file: dict[str, Any], rule: dict[str, Any]
) -> None:
    """What does not go together is told before anything happens."""
    of_file = [option for option, value in file.items() if value is not None]
    of_rule = [option for option, value in rule.items() if value]
    if team is not None and of_file:
        raise RirekiError("share-two-ways", option=of_file[0])
    if team is None and of_rule:
        raise RirekiError("share-without-team", option=of_rule[0])
    if listed and (name is not None or team is not None or of_file):
        raise RirekiError("share-list-alone")
    if not listed and name is None:
        raise RirekiError("share-nothing")


def _list(as_json: bool) -> None:
    screen = StandardOutput()
    with opened(create=True) as archive:
        told = rules_told(archive)
    lines = [f"{one_line(each.rule.what)}  {next(each.lines())}" for each in told]
    nothing = [say("Nothing is shared with a team.")]
    screen.give(as_json, (each.as_json() for each in told), lines or nothing)


def _share_with(
    name: str,
    team: str,
    remote: str | None,
    level: Level,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    screen = StandardOutput()
    with opened(create=True) as archive:
        server = team_remote(archive, remote)
        rule = rule_for_name(archive, name, team, server.name, level)
        rules = [each for each in read_rules() if each.place != rule.place] + [rule]
        told = preview(archive, rule, rules)
    if not as_json:
        for line in told.lines():
            click.echo(line, err=True)
        if screen.terminal and not (yes or dry_run):
            click.confirm(say("Share it from now on?"), default=True, abort=True, err=True)
    if not dry_run:
        write_rules(rules)
    done = say(
        f"It goes with the next 'rireki push {server.name}', and what comes later by itself."
    )
    screen.give(as_json, [{**told.as_json(), "kept": not dry_run}], [] if dry_run else [done])


def _write(
    name: str, turns: str | None, to: Path | None, as_of: str | None, yes: bool, as_json: bool
) -> None:
    screen = StandardOutput()
    wanted = turns_of_range(turns) if turns is not None else None
    with library() as kept:
        id, moment = kept.find(name).id, time_of(as_of, end_of_day=True)
        shared = kept.ask(lambda archive: share(archive, id, wanted, language(), moment))
        path = to or Path(f"{shared.name}{ENDINGS[0]}")
        content = shared.content(path.suffix.lower())
    if not as_json:
        for words in _told(shared.masked):
            click.echo(words, err=True)
        if screen.terminal and not yes:
            click.confirm(say(f"Write {one_line(str(path))}?"), default=True, abort=True, err=True)
    write_whole_bytes(path, [content])
    marks = [
        {"kind": mark.kind, "number": mark.number, "count": n}
        for mark, n in sorted(shared.masked.items())
    ]
    value = {"id": id, "file": str(path), "masked": marks, "digest": shared.digest}
    screen.give(as_json, [value], [one_line(str(path))])


def _told(found: Counter[Mark]) -> Iterator[str]:
    if not found:
        yield say("Nothing in it looks like a secret.")
        return
    yield say(f"Masked: {count(len(found), 'secret')} in {count(sum(found.values()), 'place')}")
    for mark, n in sorted(found.items()):
        yield f"  {mark} × {n:,}"
