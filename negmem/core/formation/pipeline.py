"""What a step of consolidation is given, what it answers, and how steps are found by their names.

A step is a module negmem/core/formation/steps/NAME.py with

* `run(work: Work) -> StepOutcome`, which does one thing for one user, in short transactions of its own,
  none of them open while a model thinks. Run again after it was killed anywhere, it ends in the same state;
* `POLICY`, what its failure means for the steps after it: `fail_tolerant`, they run; `serial`, they do not;
  `parallel`, it runs at the same time as the parallel steps beside it, and they all run;
* `JOB_TYPES`, the jobs that it belongs to.

The config lists the steps in their order, as NAME, NAME:POLICY or NAME:POLICY:LIMIT_MS. Adding one means
adding a file and its name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, cast
from uuid import UUID

from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.providers.generation import Generator

JobType = Literal["fast_replay", "deep_reflection", "full_consolidation"]
Policy = Literal["fail_tolerant", "serial", "parallel"]
Extractor = Literal["pattern", "llm"]
Status = Literal["done", "skipped", "failed"]

JOB_TYPES: tuple[JobType, ...] = ("fast_replay", "deep_reflection", "full_consolidation")
POLICIES: tuple[Policy, ...] = ("fail_tolerant", "serial", "parallel")

_STEPS = "negmem.core.formation.steps"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


class WorkStopped(KeyboardInterrupt):
    """The run was asked to end: the job goes back to the queue. No step catches it."""


class LeaseLostError(NegmemError):
    """The job is another worker's by now: what is not committed must not be."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "lease_lost",
            "the job's lease was lost",
            why=why,
            hint="negmem consolidate",
        )


class StepTimeoutError(NegmemError):
    """A step took longer than it may."""

    def __init__(self, step: str, limit_ms: int) -> None:
        super().__init__(
            "step_timeout",
            f"step {step} took too long",
            why=f"it may take {limit_ms:,} ms",
            hint="negmem config set formation.step_timeout_ms 120000",
        )


@dataclass(frozen=True)
class Work:
    """One job as its steps see it.

    `thread_id` None: the whole user. `extractor` is `llm` only where `generator` is set. `checkpoint`
    is called between batches, before each commit that matters and before each call to a model: it
    raises where the lease was lost, the step's time is over or somebody pressed Ctrl-C, and the step
    lets that through. `since`: events and memories recorded from this moment on (created_at ≥ since)
    are what made the job; older ones were consolidated before; None: all count.
    """

    session: Session
    user: str
    app: str
    job_id: UUID
    job_type: JobType
    thread_id: UUID | None = None
    extractor: Extractor = "pattern"
    generator: Generator | None = None
    checkpoint: Callable[[], None] = lambda: None
    since: datetime | None = None


@dataclass(frozen=True)
class StepOutcome:
    """How a step ended. `skipped`, with the reason: there was nothing to do, or nothing to do it with.

    Counts that the answer of `consolidate` adds up: memories, facts, conflicts, links,
    duplicates_merged. A step may count more under names of its own. `retry_after_s`: a failed step
    asks not to be tried again before.
    """

    status: Status
    reason: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    retry_after_s: float | None = None


class StepModule(Protocol):
    """What the module of a step holds."""

    POLICY: Policy
    JOB_TYPES: Sequence[JobType]

    def run(self, work: Work) -> StepOutcome:
        """Do the step's one thing."""
        ...


@dataclass(frozen=True)
class Step:
    """A step that was found, with the rules by which it runs."""

    name: str
    policy: Policy
    job_types: tuple[JobType, ...]
    timeout_ms: int
    run: Callable[[Work], StepOutcome]


def load_steps(entries: Sequence[str], *, timeout_ms: int) -> list[Step]:
    """The steps of these entries of `formation.steps`, in this order.

    Args: timeout_ms, the limit of those that name none.
    Raises: UsageError `step_unknown`, `step_repeated`.
    """
    found: list[Step] = []
    for entry in entries:
        name, *rules = entry.split(":")
        if any(step.name == name for step in found):
            raise UsageError(
                "step_repeated",
                f"step {name!r} is listed twice",
                why="formation.steps names each step once",
                hint="negmem config show formation.steps",
            )
        module = _module(name)
        policy = next((one for one in POLICIES if one in rules), module.POLICY)
        limit = next((int(rule) for rule in rules if rule.isdigit()), timeout_ms)
        found.append(Step(name, policy, tuple(module.JOB_TYPES), limit, module.run))
    return found


def _module(name: str) -> StepModule:
    if _NAME.fullmatch(name):
        full = f"{_STEPS}.{name}"
        try:
            return cast("StepModule", importlib.import_module(full))
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
    raise UsageError(
        "step_unknown",
        f"there is no step {name[:60]!r}",
        why="formation.steps names it, and no module of negmem.core.formation.steps bears this name",
        hint="negmem config show formation.steps",
    )
