"""How a store is deduplicated, and which wishes go together."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from negmem.core.merging import NOMINATED_FROM
from negmem.errors import UsageError

MOST_COMPARED = 5_000_000
"""How many pairs the rules look at in one semantic run, unless told otherwise."""


@dataclass(frozen=True)
class DedupOptions:
    """How a store is deduplicated.

    Args: threshold, calibrated similarity in 0..1 that two items need unless they are the same to the
    letter; compat, the first design's key and order, exact only; most_compared, the ceiling of pairs that
    the rules look at; after, the id up to which an earlier run has looked.
    """

    semantic: bool = False
    threshold: float = NOMINATED_FROM
    compat: bool = False
    most_compared: int = MOST_COMPARED
    after: UUID | None = None


def options(
    *,
    exact: bool = False,
    semantic: bool = False,
    threshold: float | None = None,
    compat: bool = False,
    max_comparisons: int | None = None,
    after: UUID | None = None,
) -> DedupOptions:
    """What was asked for, if it goes together. Raises: UsageError `dedup_options_unfit`."""
    why = ""
    if semantic and (exact or compat):
        why = f"--semantic includes what --exact removes; {'--compat' if compat else '--exact'} is a run of its own"
    elif not semantic and (threshold, max_comparisons, after) != (None, None, None):
        why = "--threshold, --max-comparisons and --after belong to --semantic"
    elif threshold is not None and not 0 <= threshold <= 1:
        why = f"a threshold is a number from 0 to 1, got {threshold:g}"
    elif max_comparisons is not None and max_comparisons < 1:
        why = f"a ceiling of comparisons is at least 1, got {max_comparisons}"
    if why:
        raise UsageError(
            "dedup_options_unfit",
            "these options do not go together",
            why=why,
            hint="negmem curator dedup --help",
        )
    return DedupOptions(
        semantic=semantic,
        threshold=NOMINATED_FROM if threshold is None else threshold,
        compat=compat,
        most_compared=max_comparisons or MOST_COMPARED,
        after=after,
    )
