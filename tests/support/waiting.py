"""Waits on a condition instead of sleeping."""

from __future__ import annotations

from collections.abc import Callable

from negmem.db.postmaster import wait_until


def eventually(condition: Callable[[], bool], *, limit_s: float = 10) -> bool:
    """Whether `condition` came true within `limit_s`."""
    return wait_until(condition, limit_s)
