"""What feedback on a memory does to its weight in later searches.

    w = clamp(1 + beta * helpful / total - gamma * (irrelevant + harmful) / total, 0.5, 2.0)

Source: Rocchio's relevance feedback (1971), reduced to one weight an item.
SQL twin: sql/functions/rocchio_weight.sql (tests/parity/test_relevance.py).
"""

from __future__ import annotations

from negmem.core.formulas.bounds import require_finite

LOWEST_WEIGHT = 0.5
HIGHEST_WEIGHT = 2.0


def rocchio_weight(
    helpful: float,
    irrelevant: float = 0.0,
    harmful: float = 0.0,
    *,
    beta: float = 0.75,
    gamma: float = 0.15,
    harmful_gamma: float | None = None,
    min_count: float = 3.0,
) -> float:
    """The factor in [0.5, 2] by which a score is multiplied; 1 below `min_count` votes.

    Counts may be fractions, so that old votes can weigh less; negative ones are 0. `harmful_gamma`
    lets a harmful answer cost more than an irrelevant one (default: the same).

    Raises: ValueError if a count is not finite, or beta, a gamma or min_count is negative.
    """
    require_finite("beta", beta, at_least=0.0)
    require_finite("gamma", gamma, at_least=0.0)
    require_finite("min_count", min_count, at_least=0.0)
    if harmful_gamma is None:
        harmful_gamma = gamma
    require_finite("harmful_gamma", harmful_gamma, at_least=0.0)
    good = max(0.0, require_finite("helpful", helpful))
    idle = max(0.0, require_finite("irrelevant", irrelevant))
    bad = max(0.0, require_finite("harmful", harmful))
    total = good + idle + bad
    if total < max(1e-9, min_count):
        return 1.0
    shift = (beta * good - gamma * idle - harmful_gamma * bad) / total
    return min(HIGHEST_WEIGHT, max(LOWEST_WEIGHT, 1.0 + shift))
