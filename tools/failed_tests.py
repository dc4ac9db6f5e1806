"""A plug-in for pytest: writes which tests failed to the file that tools/suite.py named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tools.suite import VARIABLE

_failed: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and report.nodeid not in _failed:
        _failed.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Workers have their own; the one process that hears of all of them writes.
    if not hasattr(session.config, "workerinput") and (path := os.environ.get(VARIABLE)):
        Path(path).write_text(json.dumps(_failed), "utf-8")
