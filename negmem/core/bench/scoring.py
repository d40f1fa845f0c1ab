"""From ranked turns to figures: turn level and session level, each question weighing the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from negmem.core.bench.datasets import Question
from negmem.core.formulas import ranking
from negmem.core.models.bench import Figures

SESSION_KS = (1, 3, 5, 10)
MRR_DEPTH = 10
SEED = 20260302
RESAMPLES = 1_000


@dataclass(frozen=True)
class Ranked:
    """What a search gave for a question: turns and sessions, each once, best first."""

    question: Question
    turns: list[str]
    sessions: list[str]
    characters_in_10: int


def figures(scored: Iterable[dict[str, float]]) -> Figures:
    """The means of the questions' figures, each with its 95 % interval."""
    rows = list(scored)
    names = list(rows[0]) if rows else []
    return Figures(
        questions=len(rows),
        metrics={name: round(sum(row[name] for row in rows) / len(rows), 6) for name in names},
        intervals=dict(
            zip(names, intervals([[row[n] for n in names] for row in rows]), strict=True)
        ),
    )


def intervals(rows: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Of each column the interval in which 95 % of the means of resampled rows lie.

    Bootstrap: percentiles 2.5 and 97.5 of RESAMPLES means; the seed is fixed, so that the same rows give
    the same interval. Source: Efron 1979.
    """
    if not rows or not rows[0]:
        return []
    import numpy as np

    values = np.asarray(rows, dtype=np.float64)
    count = len(values)
    chosen = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    low, high = np.percentile(chosen @ values / count, [2.5, 97.5], axis=0)
    return [(round(float(a), 6), round(float(b), 6)) for a, b in zip(low, high, strict=True)]


def differences(
    first: Sequence[dict[str, float]], other: Sequence[dict[str, float]], names: Sequence[str]
) -> list[tuple[str, float, tuple[float, float]]]:
    """Of each figure the mean difference of two runs over the same questions, with its interval."""
    rows = [[b[n] - a[n] for n in names] for a, b in zip(first, other, strict=True)]
    if not rows:
        return []
    found = intervals(rows)
    return [
        (name, round(sum(row[i] for row in rows) / len(rows), 6), found[i])
        for i, name in enumerate(names)
    ]


def turn_figures(ranked: Ranked, ks: Sequence[int]) -> dict[str, float]:
    """One question at turn level."""
    question = ranked.question
    return _all(question.evidence, question.evidence | question.also, ranked.turns, ks)


def session_figures(ranked: Ranked) -> dict[str, float]:
    """One question at session level."""
    sessions = ranked.question.sessions
    return _all(sessions, sessions, ranked.sessions, SESSION_KS)


def _all(
    evidence: Collection[str], also: Collection[str], found: Sequence[str], ks: Sequence[int]
) -> dict[str, float]:
    """Every figure; `also` is the evidence where one hit is enough."""
    result = {f"recall@{k}": ranking.recall_at(evidence, found, k) for k in ks}
    result |= {f"any@{k}": ranking.any_at(also, found, k) for k in ks}
    result |= {f"all@{k}": ranking.all_at(evidence, found, k) for k in ks}
    result |= {f"ndcg@{k}": ranking.ndcg_at(evidence, found, k) for k in ks}
    result[f"mrr@{MRR_DEPTH}"] = ranking.reciprocal_rank_at(also, found, MRR_DEPTH)
    return result


def percentile(values: Sequence[float], share: float) -> float:
    """The value at a share (0..1) of the sorted values, interpolated; 0 for none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
