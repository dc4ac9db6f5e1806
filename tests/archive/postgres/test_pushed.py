"""What one archive tells another, between two owners of one database."""

from tests.archive.test_pushed import *  # noqa: F403
