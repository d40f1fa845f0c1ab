"""What the memory is worth: rates over the logs, four layers with their targets, trends and advice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from negmem.core.models.metrics import Metrics, RetrievalWindow, Trend
from negmem.core.retrieval.advice import Grounds, SetKey, advise, apply
from negmem.core.retrieval.layers import layers_of
from negmem.core.session import Session

DAYS = (7, 30)
_TRENDS = (
    "searches",
    "hit_rate",
    "fallback_rate",
    "latency_p95_ms",
    "context_utilization",
    "repeat_rate",
    "precision_at_k",
    "utilization_rate",
    "noise_rate",
    "harmful_rate",
)
# A score costs some 40 µs; of so many the mean is known to about 0.001.
_SAMPLE_ROWS = 20_000


@dataclass(frozen=True)
class Figures:
    """All that was read: the windows with what went before them, the jobs' runs, and what stands."""

    now: dict[int, RetrievalWindow]
    before: dict[int, RetrievalWindow]
    feedback: dict[str, Any]
    runs: dict[str, Any]
    stock: dict[str, Any]
    retention: dict[str, Any]
    has_model: bool


def measure(
    session: Session,
    *,
    user: str | None = None,
    set_key: SetKey | None = None,
    dry_run: bool = False,
) -> Metrics:
    """The figures of the app's memory, or of one user's, with advice.

    Args: set_key, applies what the advice proposes; dry_run, said in the answer: it does not.
    Warns `user_unknown`. Raises: NegmemError of the database; as `config set` where advice is applied.
    """
    found = read(session, user)
    if user is not None and not found.stock["users"]:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
    month = found.now[30]
    grounds = Grounds(
        searches=month.searches,
        hit_rate=month.hit_rate,
        fallback_rate=month.fallback_rate,
        context_utilization=month.context_utilization,
        contexts=month.contexts,
        repeat_rate=month.repeat_rate,
        repeat_rate_before=found.before[30].repeat_rate,
        memories=found.stock["memories"],
        added_7=found.stock["added_7"],
    )
    advice = advise(session, grounds)
    if set_key is not None:
        advice = apply(advice, set_key)
    return Metrics(
        app=session.app,
        user=user,
        windows=[found.now[days] for days in DAYS],
        layers=layers_of(found),
        trends=[
            _trend(name, days, found.now[days], found.before[days])
            for name in _TRENDS
            for days in DAYS
        ],
        advice=advice,
        dry_run=dry_run,
    )


def read(session: Session, user: str | None) -> Figures:
    """Everything that the figures are made of."""
    database = session.database
    scope: dict[str, Any] = {"app_name": session.app, "user_id": user}
    clock = database.row("metrics", "clock")
    assert clock is not None
    now: datetime = clock["now"]
    spans = {days: timedelta(days=days) for days in DAYS}
    month = {"since": now - spans[30], "until": now}
    size = database.row("metrics", "size", {})  # parameters, so that %% is read as %
    rows = 0 if size is None else int(size["memories"])
    percent = 100.0 if rows <= _SAMPLE_ROWS else 100.0 * _SAMPLE_ROWS / rows
    feedback = database.row("metrics", "feedback", {**scope, **month})
    runs = database.row("metrics", "runs", {"app_name": session.app, **month})
    stock = database.row("metrics", "stock", {**scope, "now": now})
    retention = database.row("metrics", "retention", {**scope, "percent": percent})
    assert feedback and runs and stock and retention
    return Figures(
        now={days: _window(session, scope, days, now - span, now) for days, span in spans.items()},
        before={
            days: _window(session, scope, days, now - 2 * span, now - span)
            for days, span in spans.items()
        },
        feedback=feedback,
        runs=runs,
        stock=stock,
        retention={**retention, "is_sampled": percent < 100},
        has_model=database.row("metrics", "has_model", {"app_name": session.app}) is not None,
    )


def _window(
    session: Session, scope: dict[str, Any], days: int, since: datetime, until: datetime
) -> RetrievalWindow:
    params = {**scope, "since": since, "until": until}
    asked = session.database.row("metrics", "searches", params)
    given = session.database.row("metrics", "feedback", params)
    fell = session.database.rows("metrics", "fallbacks", params)
    assert asked is not None and given is not None
    searches, votes = asked["searches"], given["given"]
    return RetrievalWindow(
        days=days,
        since=since,
        until=until,
        searches=searches,
        contexts=asked["contexts"],
        hit_rate=share(searches - asked["zero_hits"], searches),
        zero_hit_rate=share(asked["zero_hits"], searches),
        fallback_rate=share(asked["fell"], searches),
        fallbacks={row["code"] or "unknown": row["times"] for row in fell},
        latency_p50_ms=_rounded(asked["p50"]),
        latency_p95_ms=_rounded(asked["p95"]),
        context_utilization=_rounded(asked["utilization"]),
        repeat_rate=share(asked["repeats"], searches),
        feedback=votes,
        precision_at_k=share(given["items_used"], given["items_returned"]),
        utilization_rate=share(given["helpful"], votes),
        noise_rate=share(given["irrelevant"], votes),
        harmful_rate=share(given["harmful"], votes),
        mean_rating=_rounded(given["rating"]),
    )


def share(part: int, whole: int) -> float | None:
    """The share, in [0, 1], or None of nothing."""
    return None if whole == 0 else round(part / whole, 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _trend(name: str, days: int, now: RetrievalWindow, before: RetrievalWindow) -> Trend:
    current, earlier = getattr(now, name), getattr(before, name)
    change = None if current is None or earlier is None else round(current - earlier, 4)
    return Trend(name=name, days=days, now=current, before=earlier, change=change)
