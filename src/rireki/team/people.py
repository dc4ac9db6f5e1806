"""Who there is, by what they are known, and to which teams they belong. Knows nothing of HTTP."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from rireki.errors import NotFound, RirekiError
from rireki.team.tables import Row, TeamTables, TeamTransaction

__all__ = ["ROLES", "Member", "People", "PersonStatus", "Role"]

#: `owner` reads, shares and reads who read what; `member` reads and shares; `auditor` reads, also who
#: read what, and shares nothing.
Role: TypeAlias = Literal["owner", "member", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
#: Sees who read what.
AUDITS = ("owner", "auditor")
#: May give something to the team.
SHARES = ("owner", "member")
#: Days for which a browser that was signed in stays so.
BROWSER_DAYS = 30
_NAME = re.compile(r"[a-z0-9][a-z0-9._+@-]{0,62}")


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who was let in."""

    id: int
    name: str
    device: str
    #: By team: its name and the role there.
    roles: dict[str, Role]
    #: Grows whenever anybody's rights change.
    rights: int = 0

    def teams(self, roles: tuple[str, ...] = ROLES) -> list[str]:
        return sorted(team for team, role in self.roles.items() if role in roles)

    @property
    def audits(self) -> bool:
        return bool(self.teams(AUDITS))


class PersonStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands with a person, without what opens anything."""

    id: int
    name: str
    roles: dict[str, Role]
    devices: list[str]
    revoked: bool
    shared: int


class People:
    def __init__(self, tables: TeamTables, clock: Callable[[], str]) -> None:
        self.tables = tables
        self.clock = clock

    # ── adding and taking away ──

    def begin(self, person: str, team: str) -> str:
        """The first owner, and his token. Raises RirekiError where there is somebody already."""
        if self.tables.ask("SELECT 1 FROM team_account LIMIT 1"):
            raise RirekiError("team-begun", database=self.tables.name)
        return self.add(person, team, "owner")

    def add(self, person: str, team: str = "", role: Role | None = None) -> str:
        """A device token of a person, who is made, and put into the team, where that was not done.

        Somebody who is known is in no other team by that, and nothing else in his own, unless it is
        said. The token is shown once: what is kept tells only whether it is the right one.
        """
        name, token = _name(person), _token()
        with self.tables.together() as rows:
            found = rows.ask("SELECT id, revoked_at FROM team_account WHERE name = %s", name)
            id = found[0][0] if found else rows.next("account")
            if found:
                rows.ask("UPDATE team_account SET revoked_at = NULL WHERE id = %s", id)
            else:
                values = (id, name, self.clock())
                rows.ask(
                    "INSERT INTO team_account (id, name, made_at) VALUES (%s, %s, %s)", *values
                )
            if team or role or not found:
                number = self._team(rows, _name(team) if team else self._meant_team(id))
                rows.ask(JOIN if role else JOIN_ONCE, number, id, role or "member")
            rows.ask(ADD_DEVICE, *(_id(), id, "device", _hash(token), "", self.clock(), None))
            rows.next("rights")
        return token

    def _team(self, rows: TeamTransaction, name: str) -> int:
        known = rows.ask("SELECT id FROM team_team WHERE name = %s", name)
        number = int(known[0][0]) if known else rows.next("team")
        if not known:
            rows.ask("INSERT INTO team_team (id, name) VALUES (%s, %s)", number, name)
        return number

    def _meant_team(self, person: int) -> str:
        """The person's only one, or the first that was made."""
        own = self.tables.ask(TEAMS_OF, person)
        found = own if len(own) == 1 else self.tables.ask(FIRST_TEAM)
        if not found:
            raise RirekiError("team-not-begun", database=self.tables.name)
        return str(found[0][0])

    def revoke(self, person: str) -> int:
        """Every token of a person opens nothing from now on; returns how many did."""
        with self.tables.together() as rows:
            found = rows.ask("SELECT id FROM team_account WHERE name = %s", person)
            if not found:
                raise NotFound("no-person", name=person)
            ((id,),) = found
            now = self.clock()
            rows.ask("UPDATE team_account SET revoked_at = %s WHERE id = %s", now, id)
            gone = rows.ask(
                """UPDATE team_device SET revoked_at = %s
                    WHERE person = %s AND revoked_at IS NULL RETURNING id""",
                *(now, id),
            )
            rows.next("rights")
        return len(gone)

    def revoke_device(self, device: str) -> None:
        """One token, and the browsers that were signed in with it."""
        with self.tables.together() as rows:
            gone = rows.ask(
                """UPDATE team_device SET revoked_at = %s
                    WHERE (id = %s OR parent = %s) AND revoked_at IS NULL RETURNING id""",
                *(self.clock(), device, device),
            )
            if not gone:
                raise NotFound("no-team-device", id=device)
            rows.next("rights")

    # ── letting in ──

    def admit(self, token: str) -> Member | None:
        """Whose token it is; None where it opens nothing, any more or at all."""
        return self._admit(token, "device")

    def admit_browser(self, token: str) -> Member | None:
        """Whose browser it is. What it was given signs no other one in, which would stay when the
        device is revoked that this one came from."""
        return self._admit(token, "browser")

    def _admit(self, token: str, kind: str) -> Member | None:
        return _member(self.tables.ask(ADMIT, _hash(token), kind, self.clock()))

    def admit_name(self, name: str, device: str) -> Member | None:
        """Somebody a proxy in front vouches for."""
        return _member(self.tables.ask(ADMIT_NAME, device, name.lower()))

    def sign_in(self, member: Member, until: str) -> str:
        """What a browser is given instead of the token it was signed in with."""
        token = _token()
        self.tables.ask(
            ADD_DEVICE,
            *(_id(), member.id, "browser", _hash(token), member.device, self.clock(), until),
        )
        return token

    # ── who there is ──

    def names(self) -> dict[int, str]:
        return dict(self.tables.ask("SELECT id, name FROM team_account ORDER BY name"))

    def teams(self) -> dict[str, int]:
        return dict(self.tables.ask("SELECT name, id FROM team_team ORDER BY name"))

    def all(self) -> list[PersonStatus]:
        """Everybody, by name."""
        roles = self.tables.ask(
            """SELECT m.person, t.name, m.role FROM team_member m
                 JOIN team_team t ON t.id = m.team ORDER BY t.name"""
        )
        devices = self.tables.ask(
            """SELECT person, id FROM team_device
                WHERE revoked_at IS NULL AND kind = 'device' ORDER BY made_at"""
        )
        shared: dict[int, int] = dict(
            self.tables.ask(
                """SELECT person, count(*) FROM (SELECT DISTINCT person, family, grouping
                     FROM team_audience) AS shared GROUP BY person"""
            )
        )
        found = self.tables.ask("SELECT id, name, revoked_at FROM team_account ORDER BY name")
        return [
            PersonStatus(
                id=id,
                name=name,
                roles={team: role for person, team, role in roles if person == id},
                devices=[device for person, device in devices if person == id],
                revoked=revoked is not None,
                shared=shared.get(id, 0),
            )
            for id, name, revoked in found
        ]


JOIN_ONCE = """INSERT INTO team_member (team, person, role) VALUES (%s, %s, %s)
               ON CONFLICT (team, person) DO NOTHING"""
JOIN = """INSERT INTO team_member (team, person, role) VALUES (%s, %s, %s)
          ON CONFLICT (team, person) DO UPDATE SET role = EXCLUDED.role"""
TEAMS_OF = """SELECT t.name FROM team_member m JOIN team_team t ON t.id = m.team
               WHERE m.person = %s"""
FIRST_TEAM = "SELECT name FROM team_team ORDER BY id LIMIT 1"
ADD_DEVICE = """INSERT INTO team_device (id, person, kind, hash, parent, made_at, until)
                VALUES (%s, %s, %s, %s, %s, %s, %s)"""
#: Asked with every request, so all of it at once: a row for each team.
_MEMBER = """t.name, m.role, (SELECT value FROM team_counter WHERE name = 'rights')"""
_TEAMS = "LEFT JOIN team_member m ON m.person = a.id LEFT JOIN team_team t ON t.id = m.team"
ADMIT = f"""SELECT a.id, a.name, d.id, {_MEMBER}
              FROM team_device d JOIN team_account a ON a.id = d.person {_TEAMS}
             WHERE d.hash = %s AND d.kind = %s AND d.revoked_at IS NULL AND a.revoked_at IS NULL
               AND (d.until IS NULL OR d.until > %s)"""
ADMIT_NAME = f"""SELECT a.id, a.name, %s::text, {_MEMBER} FROM team_account a {_TEAMS}
                  WHERE a.name = %s AND a.revoked_at IS NULL"""


def _member(rows: Sequence[Row]) -> Member | None:
    if not rows:
        return None
    id, name, device, _, _, rights = rows[0]
    roles = {team: role for _, _, _, team, role, _ in rows if team is not None}
    return Member(id=id, name=name, device=device, roles=roles, rights=rights or 0)


def _name(given: str) -> str:
    name = given.strip().lower()
    if not _NAME.fullmatch(name):
        raise RirekiError("bad-person-name", name=given[:80])
    return name


def _token() -> str:
    return f"rt_{secrets.token_urlsafe(32)}"


def _id() -> str:
    return secrets.token_hex(4)


def _hash(token: str) -> bytes:
    # As many bits of chance as the hash has: nothing slower makes it harder to guess.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
