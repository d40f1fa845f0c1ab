"""One memory's score: the curve that it follows if nobody reads it, and the factors it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from negmem.core.evolution.retention import read_policy
from negmem.core.formulas.bounds import clamp01, days_between
from negmem.core.formulas.retention import (
    BASE_DECAY,
    RetentionFactors,
    crossing_time,
    decay_rate,
    forgettable_from,
    retention_factors,
)
from negmem.core.models.retention import (
    CurvePoint,
    RetentionCurve,
    RetentionExplanation,
    RetentionFactor,
    RetentionSettings,
)
from negmem.core.pii import gated
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

_LONGEST_DAYS = 10 * 365.0


@dataclass(frozen=True)
class _Subject:
    """A memory's row and the numbers by which it fades."""

    row: Mapping[str, Any]
    settings: RetentionSettings
    created: datetime
    accessed: datetime
    now: datetime

    @property
    def rate(self) -> float:
        return decay_rate(
            self.row["type"],
            decay_lambda=self.settings.decay_lambda,
            decay_override=self.row["decay_override"],
        )

    def factors(self, at: datetime) -> RetentionFactors:
        return retention_factors(
            self.row["access_count"],
            days_between(self.accessed, at),
            days_between(self.created, at),
            self.row["type"],
            self.row["related"],
            rate=self.rate,
        )

    @property
    def crosses_at(self) -> datetime | None:
        return crossing_time(
            self.row["access_count"],
            self.accessed,
            self.created,
            self.row["type"],
            self.row["related"],
            threshold=self.settings.low_retention_threshold,
            rate=self.rate,
        )

    @property
    def is_too_important(self) -> bool:
        return bool(self.row["importance"] >= self.settings.keep_importance)

    @property
    def goes_at(self) -> datetime | None:
        never = self.row["type"] == "core" or self.row["pinned_at"] is not None
        if never or self.row["is_held"] or self.is_too_important:
            return None
        return forgettable_from(
            self.crosses_at, self.created, min_age_days=self.settings.min_age_days
        )

    @property
    def kept_by(self) -> list[str]:
        age = days_between(self.created, self.now)
        reasons = {
            "core": self.row["type"] == "core",
            "pinned": self.row["pinned_at"] is not None,
            "importance": self.is_too_important,
            "min_age": age < self.settings.min_age_days,
            "hold": bool(self.row["is_held"]),
        }
        return [name for name, applies in reasons.items() if applies]


def _subject(session: Session, user: str, memory_id: UUID) -> _Subject:
    policy = read_policy(session)
    row = session.database.row(
        "retention", "memory", {"app_name": session.app, "user_id": user, "id": memory_id}
    )
    if row is None:
        raise NegmemError(
            "memory_unknown",
            f"there is no memory {memory_id}",
            why=f'user "{user}" of app "{session.app}" has none of this id; a purged one is gone',
            hint=f"negmem memory list --user {user}",
        )
    created = row["created_at"].astimezone(timezone.utc)
    accessed = (row["last_accessed_at"] or row["created_at"]).astimezone(timezone.utc)
    return _Subject(row, policy.settings, created, accessed, row["now"].astimezone(timezone.utc))


@gated
def curve(session: Session, user: str, memory_id: UUID, *, points: int = 61) -> RetentionCurve:
    """The score from the last access on, through now, until it is under the threshold.

    Args: points, 2..2000, evenly spaced. What is before the last access isn't known: a memory keeps
    how often it was read, not when.
    Raises: UsageError `usage`, NegmemError `memory_unknown`, `app_unknown`.
    """
    if not 2 <= points <= 2_000:
        raise UsageError("usage", "--points is 2 to 2,000", why=f"got {points}", hint="--points 61")
    subject = _subject(session, user, memory_id)
    start = min(max(subject.accessed, subject.now - timedelta(days=_LONGEST_DAYS)), subject.now)
    crosses, goes = subject.crosses_at, subject.goes_at
    horizon = subject.now + timedelta(days=_LONGEST_DAYS)
    marks = [subject.now + timedelta(days=30), *([] if crosses is None else [crosses])]
    last = max(mark for mark in marks if mark <= horizon)
    end = last + timedelta(days=max(1.0, 0.1 * days_between(start, last)))
    step = (end - start) / (points - 1)
    moments = [start + step * n for n in range(points)]
    return RetentionCurve(
        id=subject.row["id"],
        type=subject.row["type"],
        content=subject.row["content"],
        now=subject.now,
        score=subject.factors(subject.now).score,
        threshold=subject.settings.low_retention_threshold,
        created_at=subject.created,
        last_accessed_at=subject.accessed,
        crosses_at=crosses,
        goes_at=goes,
        kept_by=subject.kept_by,
        points=[
            CurvePoint(
                at=moment,
                days=round(days_between(subject.now, moment), 4),
                score=subject.factors(moment).score,
            )
            for moment in moments
        ],
    )


@gated
def explain(session: Session, user: str, memory_id: UUID) -> RetentionExplanation:
    """Each factor of the score with the change that it makes, in the order of the formula.

    Raises: NegmemError `memory_unknown`, `app_unknown`.
    """
    subject = _subject(session, user, memory_id)
    row, factors = subject.row, subject.factors(subject.now)
    idle = max(0.0, days_between(subject.accessed, subject.now))
    age = max(0.0, days_between(subject.created, subject.now))
    steps = [
        ("base", "1 / 5, what every memory begins with", 0.2),
        (
            "time_decay",
            f"exp(-{subject.rate:g} × {idle:.2f} days since the last access)",
            factors.time_decay,
        ),
        (
            "frequency_boost",
            f"1 + ln(1 + {max(0, row['access_count']):,} accesses)",
            factors.frequency_boost,
        ),
        ("type_multiplier", str(row["type"]), factors.type_multiplier),
        (
            "semantic_importance",
            f"1 + 0.1 × {row['related']} beside it in its thread, at most 5",
            factors.semantic_importance,
        ),
    ]
    told: list[RetentionFactor] = []
    product, before = 1.0, 0.0
    for name, basis, value in steps:
        product *= value
        told.append(
            RetentionFactor(name=name, basis=basis, value=value, contribution=product - before)
        )
        before = product
    bonus = factors.recency_bonus
    basis = f"0.1 × (1 - {age:.2f} days since it was stored / 365), at least 0"
    told.append(RetentionFactor(name="recency_bonus", basis=basis, value=bonus, contribution=bonus))
    limit = clamp01(before + bonus) - (before + bonus)
    if limit:
        told.append(
            RetentionFactor(
                name="limit", basis="a score is at most 1", value=1.0, contribution=limit
            )
        )
    return RetentionExplanation(
        id=row["id"],
        type=row["type"],
        content=row["content"],
        now=subject.now,
        score=factors.score,
        factors=told,
        rate=subject.rate,
        rate_from=_rate_from(subject),
        threshold=subject.settings.low_retention_threshold,
        crosses_at=subject.crosses_at,
        goes_at=subject.goes_at,
        kept_by=subject.kept_by,
        deleted_at=row["deleted_at"],
        deleted_reason=row["deleted_reason"],
    )


def _rate_from(subject: _Subject) -> str:
    if subject.row["decay_override"] is not None:
        return "decay_override in its metadata"
    told = f"its type, {subject.row['type'] or 'none'}"
    if subject.settings.decay_lambda != BASE_DECAY:
        told += f", times {subject.settings.decay_lambda / BASE_DECAY:g} by decay_lambda"
    if (subject.row["metadata"] or {}).get("decay_override") is not None:
        told += "; the decay_override in its metadata is no number from 0 to 1e6"
    return told
