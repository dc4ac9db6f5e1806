"""What the genuine databases mean, message by message, as files beside them.

`python -m tests.sources.test_chatkit_golden` makes the files anew; read the difference.
"""

from __future__ import annotations

import json
import time

import msgspec
import pytest

from tests.sources.test_chatkit import FIXTURES, GENUINE, readings


def golden_of(name: str) -> str:
    """Every conversation of a database, in a form that people can compare."""
    value = [
        {"conversation": reading.conversation, "messages": reading.messages()}
        for _, reading in sorted(readings(name).items())
    ]
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=1)
    return text.replace(str(FIXTURES), "") + "\n"


@pytest.mark.parametrize("name", GENUINE)
def test_the_databases_mean_what_they_meant(name: str, in_tokyo: None) -> None:
    expected = (FIXTURES / f"{name}.golden.json").read_text(encoding="utf-8")
    assert golden_of(name) == expected


def main() -> None:
    import os

    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    for name in GENUINE:
        (FIXTURES / f"{name}.golden.json").write_text(golden_of(name), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
