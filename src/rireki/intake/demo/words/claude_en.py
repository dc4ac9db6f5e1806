"""Claude Code's stories in English: a test that fails at night, two helpers, a long upgrade, a stop."""

from __future__ import annotations

from rireki.intake.demo.claude_tools import bash, edit, read, start_agent, write
from rireki.intake.demo.steps import (
    Command,
    Compact,
    DemoAnswer,
    DemoConversation,
    DemoPrompt,
    Interrupted,
    Shell,
    Skill,
    day,
)

__all__ = ["STORIES"]

_OPUS = "claude-opus-4-8"
_API = "/home/aiko/dev/kissaten-api"

_HOURS_TEXT = '''"""When the kissaten is open."""

from datetime import date, datetime, timezone


def today() -> date:
    return datetime.now(timezone.utc).date()


def is_open(day: date) -> bool:
    """Closed on Mondays, like every self-respecting kissaten."""
    return day.weekday() != 0
'''
_HOURS_OLD = """from datetime import date, datetime, timezone


def today() -> date:
    return datetime.now(timezone.utc).date()"""
_HOURS_NEW = """from datetime import date, datetime
from zoneinfo import ZoneInfo

TOKYO = ZoneInfo("Asia/Tokyo")


def today(now: datetime | None = None) -> date:
    return (now or datetime.now(TOKYO)).astimezone(TOKYO).date()"""
_TEST_TEXT = """from kissaten.hours import is_open, today


def test_the_shop_is_open_on_sunday(frozen_sunday):
    assert is_open(today())
"""
_FAILED = """FAILED tests/test_hours.py::test_the_shop_is_open_on_sunday
E       assert False
E        +  where False = is_open(datetime.date(2026, 11, 2))
1 failed, 41 passed in 2.31s"""

FLAKY = DemoConversation(
    "claude/flaky",
    _API,
    day(2, 8, 55),
    (
        DemoPrompt(
            "test_the_shop_is_open_on_sunday is flaky: it only ever fails in the nightly run. "
            "Can you find out why?",
            after=5,
        ),
        DemoAnswer(
            "Let me make it fail first, and read the test and the code beside it.",
            (
                bash(
                    "TZ=Asia/Tokyo faketime '2026-11-02 00:30' pytest -q",
                    "Run past midnight",
                    _FAILED,
                    failed=1,
                ),
                read(f"{_API}/tests/test_hours.py", _TEST_TEXT),
                read(f"{_API}/src/kissaten/hours.py", _HOURS_TEXT),
            ),
            thinking=(
                "It fails only at night. `today()` is in UTC, the shop is in Tokyo. Between midnight "
                "and nine in the morning the two disagree about the date, and Monday is closing day."
            ),
        ),
        DemoAnswer(
            "Found it: it is not flaky at all, it is **right about the wrong city**. `today()` asks for "
            "the date in UTC, but the shop is in Tokyo. For nine hours a day those are two different "
            "days. The test merely happens to run then.",
            (edit(f"{_API}/src/kissaten/hours.py", _HOURS_TEXT, _HOURS_OLD, _HOURS_NEW),),
        ),
        DemoAnswer(
            "Now the whole suite, once for every hour of the day.",
            (
                bash(
                    'for h in $(seq 0 23); do faketime "2026-11-01 $h:30" pytest -q | tail -1; done | uniq -c',
                    "Run the suite at every hour",
                    "     24 42 passed",
                ),
            ),
        ),
        DemoAnswer("24 times 42 passed. The nightly run can sleep well again, and so can you."),
        DemoPrompt("Lovely. Was this a bug for customers, too?"),
        DemoAnswer(
            'Yes, a small one: on Mondays before 9:00 the site said "open", and on Tuesdays before '
            '9:00 it said "closed". Worth a line in the changelog.'
        ),
    ),
    title="The test that only fails at night",
    branch="fix/tokyo-time",
    model=_OPUS,
)

_TIMER = "/home/aiko/dev/tea-timer"

HELPERS = DemoConversation(
    "claude/helpers",
    _TIMER,
    day(5, 16, 10),
    (
        DemoPrompt(
            "timer.ts has grown to 900 lines. Plan a split, with one helper reading the code and "
            "another reading the tests.",
            after=5,
        ),
        DemoAnswer(
            "I'll send two helpers at once, one per side.",
            (
                start_agent(
                    "Explore",
                    "Map the code",
                    "Read src/timer.ts and name the ideas that live in it, with their lines.",
                    DemoAnswer(
                        "I'll list the exports first.",
                        (
                            bash(
                                "grep -n '^export' src/timer.ts",
                                "List exports",
                                "12:export class Steep\n310:export function chime\n"
                                "544:export class Kettle\n861:export const TEAS",
                            ),
                        ),
                    ),
                    DemoAnswer(
                        "Four ideas: **Steep** (12–309, the countdown), **chime** (310–543, sound), "
                        "**Kettle** (544–860, talks to the device), **TEAS** (861–900, a table)."
                    ),
                    meanwhile="Please keep the public imports working, the watch app uses them.",
                ),
                start_agent(
                    "Explore",
                    "Map the tests",
                    "Read test/ and tell which parts of timer.ts have no test at all.",
                    DemoAnswer(
                        "",
                        (
                            bash(
                                "npx vitest run --coverage | tail -4",
                                "Measure coverage",
                                "Steep 97%\nchime 88%\nKettle 12%\nTEAS 100%",
                            ),
                        ),
                    ),
                    DemoAnswer(
                        "Nearly all is covered, except **Kettle**: 12%. Move that one last."
                    ),
                ),
            ),
        ),
        DemoAnswer(
            "Both are back, and I saw your note about the watch app. The plan:\n\n"
            "1. `teas.ts`, then `steep.ts`, then `chime.ts`: covered, safe to move\n"
            "2. tests for `Kettle`, only then `kettle.ts`\n"
            "3. `timer.ts` stays as four lines of re-exports, so no import breaks\n",
            (
                write(
                    f"{_TIMER}/src/timer.ts",
                    "export * from './steep';\nexport * from './chime';\n"
                    "export * from './kettle';\nexport * from './teas';\n",
                ),
                bash(
                    "npx tsc --noEmit && npx vitest run | tail -1", "Check", "Tests  63 passed (63)"
                ),
            ),
        ),
        DemoAnswer("Split, and 63 tests pass. From 900 lines to 4: a good steep."),
    ),
    title="Split timer.ts with two helpers",
    branch="refactor/split",
    model=_OPUS,
)

_ORM = f"{_API}/src/kissaten/orders.py"
_ORM_TEXT = """from kissaten.models import Order, session


def open_orders():
    return session.query(Order).filter_by(paid=False).all()
"""

UPGRADE = DemoConversation(
    "claude/upgrade",
    _API,
    day(6, 10, 0),
    (
        DemoPrompt("Let's move from SQLAlchemy 1.4 to 2.0. Start with the warnings.", after=5),
        DemoAnswer(
            "Turning the deprecations into errors shows the size of it.",
            (
                bash(
                    "SQLALCHEMY_WARN_20=1 pytest -q 2>&1 | grep -c RemovedIn20Warning",
                    "Count what must change",
                    "17",
                ),
                read(_ORM, _ORM_TEXT),
            ),
        ),
        DemoAnswer(
            "17 places, nearly all of them `session.query`. I'd go file by file, tests after each."
        ),
        DemoPrompt("Good. Go."),
        DemoAnswer(
            "First `orders.py`.",
            (
                edit(
                    _ORM,
                    _ORM_TEXT,
                    "    return session.query(Order).filter_by(paid=False).all()",
                    "    unpaid = select(Order).where(Order.paid.is_(False))\n"
                    "    return session.scalars(unpaid).all()",
                ),
                bash("pytest -q tests/test_orders.py", "Check", "9 passed in 0.80s"),
            ),
        ),
        DemoAnswer("1 of 17. The others follow the same pattern; I keep a list in MIGRATION.md."),
        Compact(
            "1. Primary request: move kissaten-api from SQLAlchemy 1.4 to 2.0, file by file.\n"
            "2. Done: orders.py (select + scalars). 16 places left, listed in MIGRATION.md.\n"
            "3. Next step: menu.py, then guests.py; run the tests after each file."
        ),
        DemoPrompt("Carry on with menu.py and guests.py.", after=90),
        DemoAnswer(
            "",
            (
                bash(
                    "git diff --stat && pytest -q | tail -1",
                    "See where we are",
                    " src/kissaten/guests.py | 22 +++---\n src/kissaten/menu.py   | 31 ++++----\n"
                    "42 passed in 2.29s",
                ),
            ),
        ),
        DemoAnswer("Both are over. 17 warnings have become none, 42 tests pass."),
        Skill(
            "release-notes",
            "2.0",
            "# Release notes\nWrite what changed for a user, in three lines at most. No internals.",
        ),
        DemoAnswer(
            "**2.0** The kissaten now runs on SQLAlchemy 2.0.\n"
            "Nothing changes in the API.\nListing unpaid orders is about a third faster."
        ),
    ),
    title="Upgrade to SQLAlchemy 2.0",
    branch="upgrade/sqlalchemy-2",
    model=_OPUS,
)

STOPPED = DemoConversation(
    "claude/stopped",
    _TIMER,
    day(12, 19, 30),
    (
        Command("model", "sonnet", "Set model to \x1b[1mSonnet 5\x1b[22m"),
        DemoPrompt("The chime is too loud at night. Make it gentler after 22:00.", after=5),
        Interrupted(
            "I'll add a settings page with a volume slider, a schedule editor, a colour theme for "
            "the night, and a migration for"
        ),
        DemoPrompt(
            "Stop, much smaller: half the volume between 22:00 and 7:00. No settings.", after=12
        ),
        DemoAnswer(
            "Much better. One line where the volume is chosen:\n\n"
            "```ts\nconst volume = hour >= 22 || hour < 7 ? 0.5 : 1;\n```"
        ),
        Shell(
            "git diff --stat",
            " src/chime.ts | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)",
        ),
        DemoAnswer("One line in one file. Good night, teapot."),
    ),
    model="claude-sonnet-5",
)

STORIES = (FLAKY, HELPERS, UPGRADE, STOPPED)
