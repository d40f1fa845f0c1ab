"""The list of checks: one function, one code, one page in docs/doctor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from negmem.core.models.diagnosis import Finding, Severity

if TYPE_CHECKING:
    from negmem.core.diagnostics.probe import Probe

Area = Literal[
    "connection", "extensions", "schema", "functions", "jobs", "indexes", "data", "providers"
]
AREAS: tuple[Area, ...] = (
    "connection",
    "extensions",
    "schema",
    "functions",
    "jobs",
    "indexes",
    "data",
    "providers",
)


@dataclass(frozen=True)
class Found:
    """What a check saw: the check gives it its code and area.

    `title` says what is wrong and what it means, `evidence` what was looked at, `remedy` is a command.
    """

    title: str
    evidence: str = ""
    remedy: str = ""
    severity: Severity = "warn"
    blocks: bool = False


class CannotLookError(Exception):
    """Raised by a check that may not look, or has no way to tell: unknown, never missing."""


class NotNeededError(Exception):
    """Raised by a check that has nothing to look at here; the text says why."""


Run = Callable[["Probe"], "Found | list[Found] | None"]


@dataclass(frozen=True)
class RepairPlan:
    """A safe repair: what it would do, and the act."""

    action: str
    act: Callable[[], str]


@dataclass(frozen=True)
class Check:
    """One check. `needs` are codes that must not have found anything that fails."""

    code: str
    area: Area
    looks_at: str
    run: Run
    needs: tuple[str, ...] = ()
    slow: bool = False
    repair: Callable[[Probe], RepairPlan | None] | None = None

    def finding(self, found: Found) -> Finding:
        """What was found, under this check's code."""
        return Finding(
            code=self.code,
            severity=found.severity,
            title=found.title,
            evidence=found.evidence,
            remedy=found.remedy,
            area=self.area,
            blocks=found.blocks,
            fixable=self.repair is not None,
        )


@dataclass
class Registry:
    """Checks by code, in the order in which they were declared."""

    checks: dict[str, Check] = field(default_factory=dict)

    def check(
        self,
        code: str,
        area: Area,
        *,
        needs: tuple[str, ...] = (),
        slow: bool = False,
        repair: Callable[[Probe], RepairPlan | None] | None = None,
    ) -> Callable[[Run], Run]:
        """Declare a check; the first line of the function's docstring says what it looks at."""

        def register(run: Run) -> Run:
            if code in self.checks:
                raise ValueError(f"two checks have the code {code}")
            looks_at = (run.__doc__ or "").strip().splitlines()[0].rstrip(".")
            self.checks[code] = Check(code, area, looks_at, run, needs, slow, repair)
            return run

        return register

    def ordered(self) -> list[Check]:
        """Area by area, slow ones last, and each after those that it needs."""
        found: dict[str, Check] = {}

        def place(one: Check) -> None:
            for code in one.needs:
                if code not in found:
                    place(self.checks[code])
            found[one.code] = one

        for one in sorted(self.checks.values(), key=lambda c: (c.slow, AREAS.index(c.area))):
            if one.code not in found:
                place(one)
        return list(found.values())

    def with_needs(self, codes: tuple[str, ...]) -> set[str]:
        """The codes and, transitively, those that they need."""
        wanted: set[str] = set()
        waiting = list(codes)
        while waiting:
            code = waiting.pop()
            if code not in wanted:
                wanted.add(code)
                waiting += self.checks[code].needs
        return wanted


REGISTRY = Registry()
check = REGISTRY.check
