"""Runs the checks and gives the verdict. A check that crashes is a finding, never a traceback."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from negmem import __version__
from negmem.core.diagnostics import checks as _declared  # noqa: F401  (declares them)
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import (
    AREAS,
    REGISTRY,
    CannotLookError,
    Check,
    NotNeededError,
    RepairPlan,
)
from negmem.core.diagnostics.verdict import area_reports, reasons, status_of
from negmem.core.models.diagnosis import (
    AreaReport,
    Capabilities,
    CheckDescription,
    CheckList,
    CheckOutcome,
    Diagnosis,
    Finding,
    Repair,
)
from negmem.db.failures import DatabaseError
from negmem.db.look import CANCELLED, LOCK_NOT_HAD
from negmem.errors import NegmemError, UsageError

if TYPE_CHECKING:
    from negmem.core.session import Session

_HELD_UP = "held up by "  # then the check that must go well first
_CONNECTION_LOST = ("57P01", "57P02", "57P03", "08006", "08003")
_RANK = {"fail": 0, "warn": 1, "info": 2}
CRASHED = "check_failed"
TIMED_OUT = "check_timed_out"


def describe() -> CheckList:
    """All checks, in the order in which they run."""
    return CheckList(
        checks=[
            CheckDescription(
                code=c.code,
                area=c.area,
                looks_at=c.looks_at,
                needs=list(c.needs),
                slow=c.slow,
                page=f"docs/doctor/{c.code}.md",
            )
            for c in REGISTRY.ordered()
        ]
    )


def diagnose(
    session: Session,
    *,
    only: Sequence[str] = (),
    fix: bool = False,
    dry_run: bool = False,
    on_repair: Callable[[str], None] = lambda text: None,
) -> Diagnosis:
    """Run the checks (or those of `only`, codes or areas, with what they need).

    Reads only, unless `fix`: then what is safe to mend is mended (with `dry_run`: named), and the
    answer is how things stand afterwards; `on_repair` hears of each before it is begun. An unreachable server is an answer too: unusable, with the reason.

    Raises: UsageError `check_unknown`.
    """
    chosen = choose(only)
    started = time.perf_counter()
    probe = Probe(session)
    if any(check.code == "embedder_fails" for check in chosen):
        probe.ask_embedder()
    try:
        _ = session.database.facts
    except NegmemError as error:
        return unreachable(
            error,
            target=session.database.label,
            schema_name=session.database.schema,
            app=session.app,
            took_ms=(time.perf_counter() - started) * 1000,
        )
    try:
        found = run(probe, chosen, started)
        repairs: list[Repair] = []
        if fix:
            repairs = mend(probe, found.findings, dry_run=dry_run, on_repair=on_repair)
        if any(repair.done for repair in repairs):
            probe.close()
            session.database.forget_facts()
            probe = Probe(session)
            found = run(probe, chosen, started)
        return found.model_copy(update={"repairs": repairs})
    finally:
        probe.close()


def mend(
    probe: Probe,
    findings: Sequence[Finding],
    *,
    dry_run: bool,
    on_repair: Callable[[str], None] = lambda text: None,
) -> list[Repair]:
    """Mend what is safe to mend of what was found; a repair that fails is told and the next is tried."""
    repairs = []
    wanted: dict[Callable[[Probe], RepairPlan | None], str] = {}
    for finding in findings:
        repair = REGISTRY.checks[finding.code].repair if finding.fixable else None
        if repair is not None:
            wanted.setdefault(repair, finding.code)
    for repair, code in wanted.items():
        try:
            plan = repair(probe)
        except NegmemError as error:
            action = f"nothing: {error.message} ({error.why})"
            repairs.append(Repair(code=code, action=action, done=False))
            continue
        if plan is None:
            continue
        if dry_run:
            repairs.append(Repair(code=code, action=plan.action, done=False))
            continue
        on_repair(f"mending {code}: {plan.action}")
        try:
            repairs.append(Repair(code=code, action=plan.act(), done=True))
        except NegmemError as error:
            action = f"{plan.action}: {error.message} ({error.why})"
            repairs.append(Repair(code=code, action=action, done=False))
    return repairs


def choose(only: Sequence[str]) -> list[Check]:
    """The checks to run, in order; all when nothing is named.

    Raises: UsageError `check_unknown` for what is neither a code nor an area.
    """
    ordered = REGISTRY.ordered()
    if not only:
        return ordered
    codes: list[str] = []
    for name in only:
        of_area = [c.code for c in ordered if c.area == name]
        if name not in REGISTRY.checks and not of_area:
            from difflib import get_close_matches

            near = get_close_matches(name, [*REGISTRY.checks, *AREAS], n=1)
            raise UsageError(
                "check_unknown",
                f"there is no check {name!r}",
                why=f"nearest: {near[0]}" if near else "it is neither a code nor an area",
                hint="negmem doctor --list",
            )
        codes += of_area or [name]
    wanted = REGISTRY.with_needs(tuple(codes))
    return [c for c in ordered if c.code in wanted]


def unreachable(
    error: NegmemError, *, target: str, schema_name: str, app: str, took_ms: float = 0.0
) -> Diagnosis:
    """The diagnosis of a server that gives no answer: unusable, by the error's own code."""
    finding = Finding(
        code=error.code,
        severity="fail",
        title=error.message,
        evidence=error.why,
        remedy=error.hint,
        area="connection",
        blocks=True,
    )
    skipped = [
        AreaReport(name=a, status="skip", summary=f"{_HELD_UP}connection", checks=0) for a in AREAS
    ]
    skipped[0] = AreaReport(name="connection", status="fail", summary=error.message, checks=1)
    return Diagnosis(
        status="unusable",
        capabilities=Capabilities(),
        degraded_reasons=[error.code],
        findings=[finding],
        areas=skipped,
        checks=[CheckOutcome(code=error.code, area="connection", status="found")],
        repairs=[],
        target=target,
        schema_name=schema_name,
        app=app,
        negmem_version=__version__,
        took_ms=round(took_ms, 1),
    )


def run(probe: Probe, chosen: Sequence[Check], started: float) -> Diagnosis:
    """Run the chosen checks on a server that answers."""
    session = probe.session
    accepted = set(session.config.doctor.accept)
    _warn_of_unknown(session)
    outcomes: dict[str, CheckOutcome] = {}
    findings: list[Finding] = []
    for check in chosen:
        outcome, found = _run_one(check, probe, outcomes, findings)
        outcomes[check.code] = outcome
        findings += [
            f.model_copy(update={"accepted": f.code in accepted and not f.blocks}) for f in found
        ]
        if any(f.code == "connection_lost" for f in found):
            break
    findings.sort(key=lambda f: (not f.blocks, _RANK[f.severity], f.accepted))
    return Diagnosis(
        status=status_of(findings),
        capabilities=_capabilities(probe),
        degraded_reasons=reasons(findings),
        findings=findings,
        areas=area_reports(probe, chosen, outcomes, findings),
        checks=[outcomes[c.code] for c in chosen if c.code in outcomes],
        repairs=[],
        target=_target(probe),
        schema_name=session.database.schema,
        app=session.app,
        negmem_version=__version__,
        took_ms=round((time.perf_counter() - started) * 1000, 1),
    )


def _target(probe: Probe) -> str:
    """Where and as whom, as the connection itself tells."""
    try:
        server = probe.server
    except NegmemError:
        return probe.database.label
    return f"{server.database}@{server.place} as {server.role}"


def _warn_of_unknown(session: Session) -> None:
    """Say which accepted codes no check has: nothing is silenced by them."""
    for code in session.config.doctor.accept:
        if code not in REGISTRY.checks and code not in (CRASHED, TIMED_OUT):
            session.warn("check_unknown", f"doctor.accept names {code}, which no check has")


def _run_one(
    check: Check, probe: Probe, outcomes: dict[str, CheckOutcome], findings: list[Finding]
) -> tuple[CheckOutcome, list[Finding]]:
    blocked = _missing_need(check, outcomes, findings)
    if blocked is not None:
        reason = f"{_HELD_UP}{blocked}"
        return CheckOutcome(code=check.code, area=check.area, status="skipped", reason=reason), []
    started = time.perf_counter()

    def outcome(status: str, reason: str = "") -> CheckOutcome:
        took_ms = round((time.perf_counter() - started) * 1000, 2)
        return CheckOutcome.model_validate(
            {
                "code": check.code,
                "area": check.area,
                "status": status,
                "reason": reason,
                "took_ms": took_ms,
            }
        )

    try:
        found = check.run(probe)
    except NotNeededError as reason:
        return outcome("skipped", str(reason)), []
    except CannotLookError as reason:
        return outcome("unknown", str(reason)), []
    except Exception as error:
        return outcome("crashed", str(error)), [_crash(check, probe, error)]
    several = found if isinstance(found, list) else [found] if found is not None else []
    return outcome("found" if several else "ok"), [check.finding(f) for f in several]


def _missing_need(
    check: Check, outcomes: dict[str, CheckOutcome], findings: list[Finding]
) -> str | None:
    """The first needed check that did not run well."""
    failed = {f.code for f in findings if f.severity == "fail"}
    for code in check.needs:
        needed = outcomes.get(code)
        if code in failed or (needed is not None and needed.status in ("crashed", "unknown")):
            return code
        if needed is not None and needed.status == "skipped" and needed.reason.startswith(_HELD_UP):
            return needed.reason.removeprefix(_HELD_UP)
    return None


def _crash(check: Check, probe: Probe, error: Exception) -> Finding:
    """What a check that did not come to its end is told as."""
    sqlstate = error.sqlstate if isinstance(error, DatabaseError) else ""
    code, title = CRASHED, f"the check {check.code} could not be made"
    evidence = f"{type(error).__name__}: {error}"
    if isinstance(error, NegmemError):
        evidence = f"{error.message}: {error.why}"
    if sqlstate == CANCELLED:
        code = TIMED_OUT
        title = f"the check {check.code} did not end within {probe.timeout_ms:,} ms"
        evidence = "the server cancelled it (doctor.check_timeout_ms)"
    elif sqlstate == LOCK_NOT_HAD:
        code, title = TIMED_OUT, f"the check {check.code} waited for a lock and gave up"
        evidence = "another session holds a table: SELECT * FROM pg_locks WHERE NOT granted;"
    elif sqlstate in _CONNECTION_LOST or (
        isinstance(error, NegmemError) and error.code in ("connection_lost", "server_unreachable")
    ):
        code, title = "connection_lost", "the server closed the connection while it was looked at"
    return Finding(
        code=code,
        severity="fail" if code == "connection_lost" else "warn",
        title=title,
        evidence=evidence,
        remedy=f"negmem doctor --only {check.code} -vv",
        area=check.area,
        blocks=code == "connection_lost",
    )


def _capabilities(probe: Probe) -> Capabilities:
    """The capabilities; all unknown where even those probes failed."""
    try:
        return probe.capabilities
    except NegmemError:
        return Capabilities()


Opening = Callable[[], "Session"]


def diagnose_target(
    opening: Opening,
    *,
    only: Sequence[str] = (),
    fix: bool = False,
    dry_run: bool = False,
    on_repair: Callable[[str], None] = lambda text: None,
    schema_name: str = "",
    app: str = "",
) -> Diagnosis:
    """As `diagnose`, for a session that may not even open: that too is an answer.

    Raises: UsageError where the command line or the YAML is wrong.
    """
    choose(only)
    try:
        session = opening()
    except UsageError:
        raise
    except NegmemError as error:
        return unreachable(error, target="no database", schema_name=schema_name, app=app)
    with session:
        return diagnose(session, only=only, fix=fix, dry_run=dry_run, on_repair=on_repair)
