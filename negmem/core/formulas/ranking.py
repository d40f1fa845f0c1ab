"""How well a ranked list answers a question whose evidence is known.

For a question let G be its evidence set and R the ranked list of distinct ids, best first:
recall@k = |G ∩ R[1..k]| / |G|, any@k and all@k say whether one or all of G are among the first k,
nDCG@k has gain 1 and discount 1/log2(rank + 1), MRR@k is 1/rank of the first of G within k.
No SQL twin: these measure, they don't run in the database.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)


def distinct(ids: Iterable[Id]) -> list[Id]:
    """The ids in the order in which each first appears (turns to sessions, for instance)."""
    return list(dict.fromkeys(ids))


def places(items: Iterable[Iterable[Id]]) -> list[Id]:
    """The ranked ids of items that stand for several turns each.

    Each turn takes a place of its own, so large chunks don't win by their size.
    """
    return distinct(turn for turns in items for turn in turns)


def recall_at(evidence: Collection[Id], ranked: Sequence[Id], k: int) -> float:
    """Share of the evidence among the first k, in [0, 1].

    Raises: ValueError if there is no evidence (such a question is not scorable) or k is below 1.
    """
    wanted = _wanted(evidence, k)
    return len(wanted & set(distinct(ranked)[:k])) / len(wanted)


def any_at(evidence: Collection[Id], ranked: Sequence[Id], k: int) -> float:
    """1.0 if one of the evidence is among the first k, else 0.0; errors as `recall_at`."""
    return 0.0 if _wanted(evidence, k).isdisjoint(distinct(ranked)[:k]) else 1.0


def all_at(evidence: Collection[Id], ranked: Sequence[Id], k: int) -> float:
    """1.0 if all of the evidence is among the first k, else 0.0; errors as `recall_at`."""
    return 1.0 if _wanted(evidence, k) <= set(distinct(ranked)[:k]) else 0.0


def ndcg_at(evidence: Collection[Id], ranked: Sequence[Id], k: int) -> float:
    """Discounted gain of the first k over the ideal for min(k, |G|); errors as `recall_at`."""
    wanted = _wanted(evidence, k)
    gain = math.fsum(
        _discount(rank) for rank, item in enumerate(distinct(ranked)[:k], start=1) if item in wanted
    )
    return gain / math.fsum(_discount(rank) for rank in range(1, min(k, len(wanted)) + 1))


def reciprocal_rank_at(evidence: Collection[Id], ranked: Sequence[Id], k: int = 10) -> float:
    """1/rank of the first of the evidence within k, else 0.0; errors as `recall_at`."""
    wanted = _wanted(evidence, k)
    for rank, item in enumerate(distinct(ranked)[:k], start=1):
        if item in wanted:
            return 1.0 / rank
    return 0.0


def _wanted(evidence: Collection[Id], k: int) -> set[Id]:
    """The evidence as a set, once question and cut-off can be scored."""
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k!r}")
    wanted = set(evidence)
    if not wanted:
        raise ValueError("a question without evidence can't be scored")
    return wanted


def _discount(rank: int) -> float:
    """What a find at this rank is worth; ranks start at 1."""
    return 1.0 / math.log2(rank + 1)
