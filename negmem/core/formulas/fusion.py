"""Joining the ranked lists of several search arms into one.

SQL twins: sql/functions/weighted_score.sql and rrf_score.sql (tests/parity/test_fusion.py).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from negmem.core.formulas.bounds import require_finite

Item = TypeVar("Item", bound=Hashable)

SEMANTIC_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3
RRF_K = 60


def weighted_score(
    semantic: float | None,
    keyword: float | None,
    *,
    semantic_weight: float = SEMANTIC_WEIGHT,
    keyword_weight: float = KEYWORD_WEIGHT,
) -> float:
    """Weighted sum of the scores of two arms; an arm that did not find the item, or NaN, adds 0.

    Raises: ValueError if a weight is negative or not finite.
    """
    require_finite("semantic_weight", semantic_weight, at_least=0.0)
    require_finite("keyword_weight", keyword_weight, at_least=0.0)
    return semantic_weight * _present(semantic) + keyword_weight * _present(keyword)


def rrf_score(ranks: Iterable[int | None], *, k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank) over the arms; ranks start at 1, None where an arm missed the item.

    Raises: ValueError if k is negative or a rank below 1.
    """
    require_finite("k", k, at_least=0)
    parts = []
    for rank in ranks:
        if rank is not None:
            require_finite("rank", rank, at_least=1)
            parts.append(1.0 / (k + rank))
    return math.fsum(parts)


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Item]], *, k: int = RRF_K
) -> list[tuple[Item, float]]:
    """Items of all rankings with their fused score, best first.

    A ranking lists distinct items, best first (of a repeat only the first place counts). The order
    of the rankings decides nothing: equal scores are ordered by the item's text.

    Raises: ValueError if k is negative.
    """
    require_finite("k", k, at_least=0)
    ranks: dict[Item, list[int]] = {}
    for ranking in rankings.values():
        for position, item in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(item, []).append(position)
    fused = [(item, rrf_score(places, k=k)) for item, places in ranks.items()]
    return sorted(fused, key=lambda pair: (-pair[1], str(pair[0])))


def _present(score: float | None) -> float:
    """A score from an arm, 0 where there is none."""
    return 0.0 if score is None or math.isnan(score) else score
