"""What the tests of services share, and what can't be tested under every Python that negmem runs on."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on

# Google's kit needs Python 3.11, and is not installed under 3.10.
collect_ignore = [] if sys.version_info >= (3, 11) else ["test_adk.py"]


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    """A session whose app has the fake embedder; a module that needs another has its own."""
    with session_on(database, FakeEmbedder()) as opened:
        yield opened
