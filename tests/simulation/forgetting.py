"""What forgetting costs its users, simulated: who asks for what, and whether it is still there.

Times are days from the start. The sweep runs at every full day, before anything is asked on it; the
score is that of `negmem.core.formulas.retention`, whose SQL twin the sweep runs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from negmem.core.formulas.retention import retention_score

MEDIAN_GAP_DAYS = 20.0
SIGMA = 1.2


@dataclass(frozen=True)
class Policy:
    """By which numbers is forgotten."""

    threshold: float
    min_age_days: float
    restore_window_days: float


@dataclass(frozen=True)
class Wanted:
    """One memory: when it was stored, and when it is asked for."""

    created: float
    asked: tuple[float, ...]


@dataclass(frozen=True)
class Outcome:
    """What was lost: by question, by memory, beyond restoring; and how many rows stand at the end.

    `waiting` rows are within the restore window, `purged` ones are gone. `misses` names the memory
    and the time of each question that found nothing.
    """

    questions: int
    lost: int
    beyond_restoring: int
    memories_asked_for: int
    memories_lost: int
    live: int
    waiting: int
    purged: int
    misses: tuple[tuple[int, float], ...]

    @property
    def share_lost(self) -> float:
        """Share of the questions that found nothing."""
        return self.lost / self.questions

    @property
    def share_of_memories_lost(self) -> float:
        """Share of the memories asked for that were not there at least once."""
        return self.memories_lost / self.memories_asked_for


def two_years(seed: int, *, days: int = 730, a_day: int = 20) -> list[Wanted]:
    """Memories that come evenly, asked for again and again after log-normal gaps."""
    chance = random.Random(seed)
    wanted = []
    for day in range(days):
        for _ in range(a_day):
            created = day + chance.random()
            asked = []
            at = created + chance.lognormvariate(math.log(MEDIAN_GAP_DAYS), SIGMA)
            while at < days:
                asked.append(at)
                at += chance.lognormvariate(math.log(MEDIAN_GAP_DAYS), SIGMA)
            wanted.append(Wanted(created, tuple(asked)))
    return wanted


def simulate(policy: Policy, wanted: Sequence[Wanted], *, days: float) -> Outcome:
    """Every memory through `days` days; what was forgotten stays forgotten, and is asked for still."""
    misses: list[tuple[int, float]] = []
    beyond, asked_for, lost_memories, live, waiting = 0, 0, 0, 0, 0
    for number, memory in enumerate(wanted):
        reads, accessed = 0, memory.created
        is_lost = False
        for at in memory.asked:
            is_lost = is_lost or _is_forgotten(policy, memory.created, accessed, reads, at)
            if is_lost:
                misses.append((number, at))
                beyond += _is_forgotten(
                    policy, memory.created, accessed, reads, at - policy.restore_window_days
                )
            else:
                reads, accessed = reads + 1, at
        asked_for += bool(memory.asked)
        lost_memories += is_lost
        if not _is_forgotten(policy, memory.created, accessed, reads, days):
            live += 1
        elif not _is_forgotten(
            policy, memory.created, accessed, reads, days - policy.restore_window_days
        ):
            waiting += 1
    return Outcome(
        questions=sum(len(memory.asked) for memory in wanted),
        lost=len(misses),
        beyond_restoring=beyond,
        memories_asked_for=asked_for,
        memories_lost=lost_memories,
        live=live,
        waiting=waiting,
        purged=len(wanted) - live - waiting,
        misses=tuple(misses),
    )


def _is_forgotten(policy: Policy, created: float, accessed: float, reads: int, at: float) -> bool:
    """Whether the last sweep up to `at` has taken it; the score never rises, so that one decides."""
    sweep = math.floor(at)
    if sweep - created <= policy.min_age_days:
        return False
    score = retention_score(reads, sweep - accessed, sweep - created)
    return score < policy.threshold
