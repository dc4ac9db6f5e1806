"""`rireki unshare`: take back what was shared with a team."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from rireki.archive.base import Archive
from rireki.cli.archive import complete_ids, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.cli.sharing import rule_for_name, take_back_now
from rireki.errors import NotFound, RirekiError
from rireki.shares.plan import rules_with_subagents
from rireki.shares.rules import ShareRule, read_rules, rule_for, write_rules
from rireki.show.catalogue import say
from rireki.show.safe import one_line

__all__ = ["command"]


@click.command("unshare")
@click.argument("name", metavar="ID|DIR", shell_complete=complete_ids)
@click.option("--team", metavar="TEAM", help="With this team alone; else with every one.")
@click.option("--remote", metavar="NAME", help="On this server alone.")
@json_option
@archive_option
def command(name: str, team: str | None, remote: str | None, as_json: bool) -> None:
    """Take back what 'rireki share --team' gave: the server deletes it at once.

    DIR is a directory as it was shared, or one below it; ID a single conversation, also one of a
    directory that stays shared.

    \\b
    Examples:
      rireki unshare ~/src/shop
      rireki unshare 5471a680 --team acme
    """
    screen = StandardOutput()
    with opened(write=True) as archive:
        rules = read_rules()
        meant = [r for r in rules if team in (None, r.team) and remote in (None, r.remote)]
        gone, kept = _taken_back(archive, name, rules, meant)
        write_rules(kept)
        take_back_now(archive)
    words = [say(f"{one_line(each.what)} is no longer shared with {each.team}.") for each in gone]
    screen.give(as_json, (msgspec.to_builtins(each) for each in gone), words)


def _taken_back(
    archive: Archive, name: str, rules: Sequence[ShareRule], meant: Sequence[ShareRule]
) -> tuple[list[ShareRule], list[ShareRule]]:
    """What is shared no longer, and the rules from now on."""
    what = _what(archive, name, rules)
    project = _project(archive, what)
    gone: list[ShareRule] = []
    kept = [rule for rule in rules if rule not in meant or rule.what != what.what]
    spread = rules_with_subagents(archive, kept)
    for team, server in dict.fromkeys((rule.team, rule.remote) for rule in meant):
        own = msgspec.structs.replace(what, team=team, remote=server, level="none")
        before = [rule for rule in rules if rule.place == own.place and rule.level != "none"]
        there = [rule for rule in spread if rule.remote == server]
        wider = rule_for(there, team, what.what, project)
        if wider is not None and wider.level != "none":
            # Something wider gives it as well: that goes on without it.
            kept.append(own)
            gone.append(own)
        elif before:
            gone += before
    if not gone:
        raise NotFound("not-shared", name=name)
    return gone, kept


def _what(archive: Archive, name: str, rules: Sequence[ShareRule]) -> ShareRule:
    try:
        return rule_for_name(archive, name, "", "", "none")
    except RirekiError:
        # Of a conversation that is gone the whole id will do.
        if any(rule.what == name for rule in rules):
            return ShareRule(what=name, kind="conversation", team="", remote="", level="none")
        raise


def _project(archive: Archive, what: ShareRule) -> str | None:
    """Where it lies: a directory in itself."""
    if what.kind == "directory":
        return what.what
    found = archive.pick([what.what])
    return found[what.what].project if what.what in found else None
