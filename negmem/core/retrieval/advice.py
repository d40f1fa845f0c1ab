"""What the figures suggest to change: printed always, applied only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from negmem.config.automation import effective_automation
from negmem.config.model import Automation
from negmem.core.models.config import ConfigChange
from negmem.core.models.metrics import Advice
from negmem.core.session import Session

SetKey = Callable[[str, str], ConfigChange]
"""Sets one key of the stored config to a value, as `config set` does."""

MIN_SEARCHES = 20
_LEAST_THRESHOLD = 0.000001
_MOST_THRESHOLD = 0.3
_FAST_GROWTH = 0.2
_THRESHOLD = "automation.retention.low_retention_threshold"
_RATIO = "automation.context_assembler.memory_ratio"


@dataclass(frozen=True)
class Grounds:
    """The figures that advice rests on, of the last 30 days; `added_7` memories came in the last 7."""

    searches: int
    hit_rate: float | None
    fallback_rate: float | None
    context_utilization: float | None
    contexts: int
    repeat_rate: float | None
    repeat_rate_before: float | None
    memories: int
    added_7: int

    @property
    def grows_fast(self) -> bool:
        """Whether what stood a week ago has grown by a fifth."""
        before = self.memories - self.added_7
        return before > 0 and self.added_7 / before > _FAST_GROWTH


def advise(session: Session, grounds: Grounds) -> list[Advice]:
    """The advice that the figures give, by the app's stored config; few searches give none."""
    row = session.database.row("metrics", "config", {"app_name": session.app})
    automation = Automation() if row is None else effective_automation(row["config"])
    return advice_of(grounds, automation)


def advice_of(grounds: Grounds, automation: Automation) -> list[Advice]:
    """The rules; thresholds move by a third of themselves, within bounds."""
    found = []
    threshold = automation.retention.low_retention_threshold
    if grounds.searches >= MIN_SEARCHES and grounds.hit_rate is not None:
        lower = round(max(_LEAST_THRESHOLD, threshold * 2 / 3), 6)
        higher = round(min(_MOST_THRESHOLD, threshold * 4 / 3), 6)
        if grounds.hit_rate < 0.80 and lower < threshold:
            finding = (
                f"{grounds.hit_rate:.0%} of the searches found something (80 % wanted): forget less"
            )
            found.append(_setting("forget_less", finding, _THRESHOLD, threshold, lower))
        elif grounds.hit_rate > 0.95 and grounds.grows_fast and higher > threshold:
            finding = (
                f"{grounds.hit_rate:.0%} of the searches found something, and"
                f" {grounds.added_7:,} of {grounds.memories:,} memories are new this week: forget more"
            )
            found.append(_setting("forget_more", finding, _THRESHOLD, threshold, higher))
    if grounds.searches >= MIN_SEARCHES and (grounds.fallback_rate or 0) > 0.15:
        finding = (
            f"{grounds.fallback_rate:.0%} of the searches fell to a lower level (15 % at most)"
        )
        found.append(_command("check_levels", finding, "negmem doctor --only data"))
    used = grounds.context_utilization
    if grounds.contexts >= MIN_SEARCHES and used is not None and used < 0.30:
        context = automation.context_assembler
        proposed = round(min(context.memory_ratio + 0.1, 1 - context.history_ratio), 4)
        if proposed > context.memory_ratio:
            finding = (
                f"contexts use {used:.0%} of their budget (30 % wanted): more room for memories"
            )
            found.append(_setting("more_memories", finding, _RATIO, context.memory_ratio, proposed))
    now, before = grounds.repeat_rate, grounds.repeat_rate_before
    if grounds.searches >= MIN_SEARCHES and now and before and now >= before:
        finding = f"{now:.0%} of the questions are repeats, as many as before ({before:.0%})"
        found.append(
            _command("consolidate_more", finding, "negmem automation enable trigger_consolidation")
        )
    return found


def apply(advice: Sequence[Advice], set_key: SetKey) -> list[Advice]:
    """Set what is proposed; what is no setting stays advice."""
    done = []
    for one in advice:
        if one.key is None:
            done.append(one)
            continue
        change = set_key(one.key, _plain(one.proposed or 0))
        done.append(one.model_copy(update={"applied": change.changed and not change.dry_run}))
    return done


def _plain(value: float) -> str:
    """A number as `config set` takes it, without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _setting(code: str, finding: str, key: str, current: float, proposed: float) -> Advice:
    return Advice(
        code=code,
        finding=finding,
        key=key,
        current=current,
        proposed=proposed,
        command=f"negmem config set {key} {_plain(proposed)}",
        applied=False,
    )


def _command(code: str, finding: str, command: str) -> Advice:
    return Advice(
        code=code, finding=finding, key=None, current=None, proposed=None, command=command,
        applied=False,
    )  # fmt: skip
