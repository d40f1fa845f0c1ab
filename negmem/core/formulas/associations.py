"""How strongly two memories, or a memory and an entity, are linked.

SQL twins: sql/functions/association_weight_*.sql (tests/parity/test_associations.py).
"""

from __future__ import annotations

import math

from negmem.core.formulas.bounds import clamp01, require_finite

TEMPORAL_WINDOW_SECONDS = 1800.0
"""Two memories further apart than this have no temporal link."""

SEMANTIC_THRESHOLD = 0.75
"""A calibrated similarity must be above this, not equal to it, to make a link."""

THREAD_SHARED_WEIGHT = 0.6
ENTITY_WEIGHT = 0.5


def temporal_weight(
    seconds_apart: float, *, window_seconds: float = TEMPORAL_WINDOW_SECONDS
) -> float:
    """The weight in [0, 1] of two memories so many seconds apart: 1 at once, 0 at the window's end.

    Raises: ValueError if the window is not above 0.
    """
    require_finite("window_seconds", window_seconds, above=0.0)
    if math.isnan(seconds_apart):
        return 0.0
    return clamp01(1.0 - abs(seconds_apart) / window_seconds)


def semantic_weight(similarity: float, *, threshold: float = SEMANTIC_THRESHOLD) -> float | None:
    """The weight of a link between two similar memories, None where they are not similar enough.

    `similarity` is on the calibrated scale (0 unrelated, 1 the same), not a bare cosine.

    Raises: ValueError if the threshold is not in [0, 1].
    """
    require_finite("threshold", threshold, at_least=0.0, at_most=1.0)
    return clamp01(similarity) if similarity > threshold else None


def manual_weight(weight: float) -> float:
    """A weight that a person gave, limited to [0, 1].

    Raises: ValueError if it is not finite.
    """
    return clamp01(require_finite("weight", weight))
