"""The connections of a server: one for each call under way, kept for the next, thrown away when one failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from negmem.core.session import Session
from negmem.errors import NegmemError


class Sessions:
    """Opens sessions as they are needed, and looks whether an idle one still answers before it is used.

    `opening` makes one, unconnected. For use by several threads.
    """

    def __init__(self, opening: Callable[[], Session]) -> None:
        self._opening = opening
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def taken(self) -> Iterator[Session]:
        """A session for one call. Raises: NegmemError where the database can't be used."""
        session = self._answering() or self._opened()
        session.warnings.clear()
        try:
            yield session
        except BaseException:
            session.close()
            raise
        with self._lock:
            if not self._is_closed:
                self._idle.append(session)
                return
        session.close()

    def close(self) -> None:
        """Close those that are idle; those under way are closed when their call ends."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def _answering(self) -> Session | None:
        """An idle session whose server still answers."""
        while True:
            with self._lock:
                session = self._idle.pop() if self._idle else None
            if session is None:
                return None
            try:
                session.database.row("tools", "ping")
                return session
            except NegmemError:
                session.close()

    def _opened(self) -> Session:
        session = self._opening()
        try:
            session.require_installed()
        except BaseException:
            session.close()
            raise
        return session
