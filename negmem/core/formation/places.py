"""Where a session's turns stand in their thread: a turn is (thread, position, content hash).

An input may name a thread several times. A record that opens with the same turn as an earlier one
repeats it, possibly grown: its turns take the same positions. Any other goes on where the thread ended.
So a file read twice, two exports of a growing thread joined together, and sessions that follow each
other all come out right.
"""

from __future__ import annotations

import hashlib
from array import array

from negmem.core.formation.readers.records import Session

_FIRST_SLOTS = 1 << 12
_EMPTY = -1


class Places:
    """Gives each record of one input the position before its first turn."""

    def __init__(self) -> None:
        self._table = _CompactTable()
        self._current = 0

    def base(self, user: str, thread: str, session: Session) -> int:
        """What is added to the positions of the session's turns."""
        last = session.turns[-1].position
        name = f"{user}\0{thread}".encode()
        thread_key = _key(name)
        if not session.continues:
            opening_key = _key(name + b"\0" + session.opening)
            known = None if session.separate else self._table.get(opening_key)
            self._current = (self._table.get(thread_key) or 0) if known is None else known
            if known is None and not session.separate:
                self._table.put(opening_key, self._current)
        end = self._current + last
        if end > (self._table.get(thread_key) or 0):
            self._table.put(thread_key, end)
        return self._current


class _CompactTable:
    """Whole numbers by 63-bit keys, in flat arrays: 12 bytes a slot, where a dict takes a hundred.

    An input may name millions of threads, and two entries are kept of each.
    """

    def __init__(self) -> None:
        self._count = 0
        self._allocate(_FIRST_SLOTS)

    def get(self, key: int) -> int | None:
        """The number under a key, None where there is none."""
        slot = self._slot(key)
        return self._numbers[slot] if self._keys[slot] == key else None

    def put(self, key: int, number: int) -> None:
        """Sets the number under a key."""
        slot = self._slot(key)
        if self._keys[slot] == _EMPTY:
            self._keys[slot] = key
            self._count += 1
        self._numbers[slot] = number
        if self._count * 3 > len(self._keys) * 2:
            self._grow()

    def _slot(self, key: int) -> int:
        keys, mask = self._keys, self._mask
        slot = key & mask
        while keys[slot] not in (key, _EMPTY):
            slot = (slot + 1) & mask
        return slot

    def _allocate(self, slots: int) -> None:
        self._mask = slots - 1
        self._keys = array("q", [_EMPTY]) * slots
        self._numbers = array("i", [0]) * slots

    def _grow(self) -> None:
        keys, numbers = self._keys, self._numbers
        self._allocate(len(keys) * 2)
        for key, number in zip(keys, numbers, strict=True):
            if key != _EMPTY:
                slot = self._slot(key)
                self._keys[slot] = key
                self._numbers[slot] = number


def _key(name: bytes) -> int:
    """63 bits of a hash: among ten million names two are alike with a chance of one in 180,000."""
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big") >> 1
