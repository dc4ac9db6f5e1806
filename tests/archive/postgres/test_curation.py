"""What people add to conversations, on PostgreSQL."""

from tests.archive import test_curation
from tests.archive.test_curation import *  # noqa: F403

#: These are about files.
for name in vars(test_curation):
    if "damaged" in name or "earlier_format" in name:
        del globals()[name]
