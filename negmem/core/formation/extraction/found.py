"""What a pattern found in one clause, before keys and dates are settled."""

from __future__ import annotations

from dataclasses import dataclass

from negmem.core.models.extraction import FactType


@dataclass(frozen=True)
class Found:
    """`key` is final; `object` is the bare thing, `statement` reads by itself and keeps the negation.

    `ended`: it was so and is no more ("I used to live in Paris"), whatever the negation.
    """

    type: FactType
    key: str
    object: str
    statement: str
    negated: bool = False
    ended: bool = False
    confidence: float = 0.7
