"""The access list entry by which a closed folder lets one account pass."""

from __future__ import annotations

import struct

import pytest

from negmem.db.system_account import with_traversal

OWNER, USER, OWNING_GROUP, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
NOBODY = 0xFFFFFFFF


def pack(*entries: tuple[int, int, int]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o711, 0o2770])
def test_only_the_account_gains_and_only_passage(mode: int) -> None:
    group = mode >> 3 & 7
    assert with_traversal(None, mode, 999) == pack(
        (OWNER, mode >> 6 & 7, NOBODY),
        (USER, 1, 999),
        (OWNING_GROUP, group, NOBODY),
        (MASK, group | 1, NOBODY),
        (OTHER, mode & 7, NOBODY),
    )


def test_doing_it_twice_changes_nothing() -> None:
    once = with_traversal(None, 0o700, 999)
    assert with_traversal(once, 0o710, 999) == once


def test_what_the_mask_kept_away_stays_away() -> None:
    before = pack(
        (OWNER, 7, NOBODY),
        (USER, 7, 500),
        (OWNING_GROUP, 5, NOBODY),
        (GROUP, 7, 20),
        (MASK, 4, NOBODY),
        (OTHER, 0, NOBODY),
    )
    assert with_traversal(before, 0o740, 999) == pack(
        (OWNER, 7, NOBODY),
        (USER, 4, 500),
        (USER, 1, 999),
        (OWNING_GROUP, 4, NOBODY),
        (GROUP, 4, 20),
        (MASK, 5, NOBODY),
        (OTHER, 0, NOBODY),
    )


def test_rights_that_the_account_has_stay() -> None:
    before = pack(
        (OWNER, 7, NOBODY), (USER, 6, 999), (OWNING_GROUP, 0, NOBODY), (MASK, 6, NOBODY)
    ) + struct.pack("<HHI", OTHER, 0, NOBODY)
    assert (USER, 7, 999) in struct.iter_unpack("<HHI", with_traversal(before, 0o760, 999)[4:])
