"""Which tests wait, and which take long: decided here, and nowhere else.

A test waits that starts another process, drives a browser or waits for time to pass. Beside
many others it may come too late through no fault of its own: such tests run one or two at a
time, after all others. One that starts a process, or sleeps, and is not named here fails among
those that run beside each other, and says so.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

import pytest

__all__ = ["Guard", "marks", "turn"]

#: Folders, files and single tests below tests/.
WAITS = (
    "agent/test_asking.py",
    "agent/test_clients.py",
    "agent/test_example.py",
    "agent/test_mcp.py",
    "agent/test_session_claude.py",
    "agent/test_session_pydantic_ai.py::test_while_somebody_else_writes_it_is_a_conflict_and_then_it_is_not",
    "archive/postgres/",
    "archive/test_damage.py::test_a_full_disk_is_said_and_what_was_stored_stays",
    "archive/test_earlier_archives.py",
    "browser/",
    "chatkit/test_adopt.py",
    "chatkit/test_archive.py::test_what_is_said_is_found_while_the_store_is_open",
    "chatkit/test_example.py",
    "chatkit/test_kill.py",
    "chatkit/test_kit.py",
    "chatkit/test_postgres.py",
    "chatkit/test_versions.py",
    "drive/",
    "cli/test_chat.py",
    "cli/test_chat_recovered.py",
    "cli/test_cli_hostile.py",
    "cli/test_cli_hostile_folder.py",
    "cli/test_cli_main.py",
    "cli/test_cli_read_only.py",
    "cli/test_cli_search.py",
    "cli/test_cli_service.py::test_what_this_machine_would_be_given_names_this_python",
    "cli/test_cli_team.py",
    "cli/test_cli_terminal.py",
    "cli/test_cli_watch.py",
    "cli/test_finder.py",
    "cli/test_foreign_folder.py",
    "history/test_archive.py::test_a_program_that_just_ends_leaves_it_in_the_archive",
    "history/test_archive.py::test_closing_brings_in_what_a_killed_program_wrote",
    "history/test_durable.py::test_a_copy_of_the_process_cannot_write",
    "history/test_durable.py::test_a_writer_in_another_process_is_named",
    "history/test_import.py",
    "history/test_postgres.py",
    "history/test_postgres_contract.py",
    "history/test_postgres_faults.py",
    "history/test_sharing.py",
    "history/test_transactions.py::test_a_kill_in_the_middle_of_the_write_leaves_nothing_of_it",
    "history/test_types.py",
    "intake/test_driven.py::test_forgetting_the_joined_one_forgets_its_journal",
    "intake/test_driven.py::test_many_fresh_files_at_once_are_joined_as_well",
    "intake/test_driven.py::test_what_is_forgotten_stays_forgotten_under_every_name",
    "intake/test_hiring.py",
    "intake/test_hostile.py",
    "intake/test_long_lines.py",
    "intake/test_memory.py",
    "intake/test_names.py",
    "intake/test_python_path.py",
    "intake/test_two_at_once.py",
    "intake/test_work.py",
    "live/",
    "mcp/test_claude.py",
    "mcp/test_servers.py",
    "search/test_grep.py",
    "search/test_positions.py",
    "search/test_safety.py",
    "shares/test_shares.py::test_no_planted_secret_leaves_masked",
    "show/test_ccusage.py",
    "team/",
    "show/test_html_export.py::test_other_commands_do_not_load_what_html_needs",
    "sources/test_amazon_q_storage.py::test_a_change_that_was_never_finished_is_a_trouble_with_a_hint",
    "sources/test_amazon_q_storage.py::test_a_locked_database_is_a_trouble_with_a_hint",
    "sources/test_amazon_q_storage.py::test_a_writer_without_patience_never_fails_while_we_read",
    "sources/test_amazon_q_storage.py::test_rows_that_are_only_in_the_write_ahead_log_are_seen",
    "sources/test_chatkit_live.py",
    "sources/test_large_values.py",
    "stress/",
    "test_library.py::test_it_reads_while_an_import_writes",
    "sync/test_machines.py::test_over_ssh_there_is_a_folder_too",
    "tools/test_install.py",
    "tools/test_javascript.py::test_a_mistake_in_a_script_is_found",
    "tools/test_make.py",
    "tools/test_package.py",
    "tools/test_phases.py",
    "web/test_api.py::test_an_archive_that_cannot_be_read_is_said_in_words",
    "web/test_api.py::test_questions_that_are_no_text_are_answered",
    "web/test_api.py::test_search_gives_what_the_command_gives",
    "web/test_drive.py",
    "web/test_drive_settings.py",
    "web/test_events.py",
    "web/test_foreign_token.py",
    "web/test_lan.py",
    "web/test_notices.py",
    "web/test_limits.py",
    "web/test_offline.py",
    "web/test_openapi.py::test_whatever_is_asked_the_answer_is_as_promised",
    "web/test_pages.py::test_a_long_list_comes_in_pages_with_every_row_once",
    "web/test_pages_search.py::test_each_facet_leaves_as_many_messages_as_it_says",
    "web/test_pages_search.py::test_an_unfinished_query_is_told_quietly_and_only_while_it_is_typed",
    "web/test_pages_search.py::test_behind_the_last_result_there_is_a_way_back",
    "web/test_pages_talk.py::test_a_conversation_that_is_named_by_a_path_has_its_pages",
    "web/test_pages_talk.py::test_ties_are_told_in_the_words_of_the_terminal",
    "web/test_read_only.py",
    "web/test_serve.py",
    "web/test_token.py",
)
#: What begins first among those that wait, so that none is left to work alone at the end: those
#: with a browser, which is started once for all of them, then files of twenty seconds and more.
LONGEST_FIRST = (
    "browser/test_drive_reload.py",
    "browser/test_drive_asks.py",
    "browser/test_injection.py",
    "browser/test_drive_restart.py",
    "browser/test_drive_writing.py",
    "browser/",
    "cli/test_chat.py",
    "search/test_safety.py",
    "cli/test_foreign_folder.py",
    "chatkit/test_versions.py",
    "tools/test_install.py",
    "stress/test_damage.py",
    "stress/test_index_kills.py",
    "stress/test_faults.py",
    "stress/",
    "intake/test_work.py",
    "chatkit/",
    "cli/",
    "search/test_grep.py",
)
#: Left out of `make fast`: seconds of work each.
SLOW = (
    "archive/test_pushed.py::test_what_is_told_in_parts_is_equal_in_the_end",
    "archive/test_sums.py",
    "history/test_folding.py",
    "history/test_from_conversation.py",
    "history/test_hostile.py",
    "providers/test_pairs.py",
    "providers/test_prefix.py",
    "search/test_corners.py",
    "search/test_tokenizer.py",
    "search/test_grep.py",
    "search/test_positions.py",
    "search/test_safety.py",
    "seeds/test_who_typed.py",
    "show/test_html_hostile.py",
    "show/test_html_text.py",
    "show/test_width.py",
    "sources/test_amazon_q_storage.py",
    "sources/test_bridge_join.py",
    "sources/test_chatkit_rows.py",
    "sources/test_invented_records.py",
    "sources/test_laws.py",
    "web/test_pages.py",
)
#: What tells of another process.
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
#: Seconds that a test may sleep in all: longer, and it waits for something.
LONGEST_SLEEP = 0.3
#: A sleep as short as this looks whether something has happened already, and takes as long as that.
LOOKING = 0.02


def marks(node: str) -> Iterator[str]:
    """The marks of a test, by its id."""
    place = node.removeprefix("tests/")
    if _named(place, WAITS):
        yield "waits"
    if _named(place, SLOW):
        yield "slow"


def turn(node: str) -> int:
    """When a test that waits has its turn, by its id: the smaller, the sooner."""
    place = node.removeprefix("tests/")
    turns = (number for number, name in enumerate(LONGEST_FIRST) if _named(place, (name,)))
    return next(turns, len(LONGEST_FIRST))


def _named(place: str, among: tuple[str, ...]) -> bool:
    test = place.split("[")[0]
    return any(test == name or (test.startswith(name) and _ends(test, name)) for name in among)


def _ends(test: str, name: str) -> bool:
    """Whether a name that stands at the beginning stands there whole."""
    return name.endswith("/") or test[len(name) :].startswith("::")


class Guard:
    """Watches tests that run beside each other: which of them start a process, or sleep."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._slept = 0.0
        self._sleep = time.sleep
        time.sleep = self._counted_sleep
        sys.addaudithook(self._note)

    def _counted_sleep(self, seconds: Any) -> None:
        # Threads of the program under test may sleep as long as they like.
        if threading.current_thread() is threading.main_thread() and seconds > LOOKING:
            self._slept += seconds
            if self._slept > LONGEST_SLEEP:
                self._seen.add("time.sleep")
        self._sleep(seconds)

    def _note(self, event: str, arguments: Any) -> None:
        if event in STARTS:
            self._seen.add(event)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._seen.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        # A server that several tests share is waited for by the first of them.
        self._slept = 0.0
        self._seen.discard("time.sleep")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call" and report.passed and self._seen:
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} waits ({', '.join(sorted(self._seen))}): "
                "name it, or its file, in tests/phases.py"
            )
        return report
