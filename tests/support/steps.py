"""Steps of consolidation made by a test, found by name like any other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from unittest import mock

from negmem.core.formation.pipeline import JOB_TYPES, StepOutcome, Work

_STEPS = "negmem.core.formation.steps"


@contextmanager
def steps(
    runs: Mapping[str, Callable[[Work], StepOutcome]],
    *,
    policy: str = "fail_tolerant",
    job_types: Sequence[str] = JOB_TYPES,
) -> Iterator[None]:
    """Modules of these names in the package of steps, for as long as the block lasts."""
    made = {}
    for name, run in runs.items():
        module = ModuleType(f"{_STEPS}.{name}")
        vars(module).update(POLICY=policy, JOB_TYPES=tuple(job_types), run=run)
        made[module.__name__] = module
    with mock.patch.dict(sys.modules, made):
        yield
