"""What every archive does, on PostgreSQL."""

from tests.archive.test_contract import *  # noqa: F403
