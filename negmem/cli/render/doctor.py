"""What `doctor` says on a screen: one line an area, then each finding in full, then the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import safe_text, wrapped

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.diagnosis import CheckList, Diagnosis, Finding

_CODE_WIDTH = 21
_MIN_ROOM = 30
_WORDS = {"ok": "ok", "warn": "warn", "fail": "FAIL", "skip": "skip", "info": "info"}
_STYLES = {"ok": "ok", "warn": "warn", "fail": "fail", "skip": "dim", "info": "dim"}
_VERDICTS = {"healthy": "ok", "degraded": "warn", "unusable": "fail"}


def draw_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    """The whole screen; with -q only what is wrong, and nothing at all when nothing is."""
    quiet = console.common.quiet
    if quiet and diagnosis.status == "healthy" and not diagnosis.repairs:
        return
    if not quiet:
        for line in _lines(console, _text(_head(diagnosis)), 0):
            console.out(line)
        console.out()
        for area in diagnosis.areas:
            word = _mark(console, area.status)
            console.out(f"  {word}  {area.name:<12}  {_text(area.summary)}".rstrip())
        console.out()
    shown = [f for f in diagnosis.findings if _is_shown(console, f)]
    width = max([_CODE_WIDTH, *(len(finding.code) for finding in shown)])
    for finding in shown:
        _draw_finding(console, finding, width)
    if shown:
        console.out()
    if not quiet and console.common.verbose:
        _draw_unknown(console, diagnosis)
    for repair in diagnosis.repairs:
        word = "mended" if repair.done else "would mend"
        console.out(f"{word}  {repair.code}  {_text(repair.action)}")
    console.out(_verdict(console, diagnosis))


def draw_checks(console: Console, listed: CheckList) -> None:
    """`doctor --list`: a line a check, in the order in which they run."""
    width = max(len(item.code) for item in listed.checks)
    for item in listed.checks:
        slow = "  (slow)" if item.slow else ""
        console.out(f"{item.area:<12}{item.code:<{width}}  {item.looks_at}{slow}")


def _text(text: str) -> str:
    """`text` safe and on one line; blanks that set a remedy off from its remark are kept."""
    return safe_text(text.replace("\n", " "))


def _is_shown(console: Console, finding: Finding) -> bool:
    """What counts, always; what is only reported or accepted, with -v."""
    return finding.counts or console.common.verbose > 0


def _mark(console: Console, severity: str) -> str:
    return console.style(f"{_WORDS[severity]:<4}", _STYLES[severity])


def _head(diagnosis: Diagnosis) -> str:
    parts = [f"negmem {diagnosis.negmem_version}", diagnosis.target]
    if diagnosis.capabilities.server_version is not None:
        parts.append(f"PostgreSQL {diagnosis.capabilities.server_version}")
    return " · ".join([*parts, f"schema {diagnosis.schema_name}"])


def _draw_finding(console: Console, finding: Finding, width: int) -> None:
    accepted = "accepted: " if finding.accepted else ""
    name = console.style(f"{finding.code:<{width}}", "name")
    first, *more = _lines(console, f"{accepted}{_text(finding.title)}", width + 6)
    console.out(f"{_mark(console, finding.severity)} {name} {first}")
    for line in more:
        console.out(f"{'':<{width + 5}} {line}")
    for label, text in (("evidence", finding.evidence), ("remedy", finding.remedy)):
        if text:
            first, *more = _lines(console, _text(text), 15)
            console.out(f"     {label:<9} {first}")
            for line in more:
                console.out(f"{'':<14} {line}")


def _lines(console: Console, text: str, indent: int) -> list[str]:
    """`text` in lines that fit beside `indent` columns on a terminal; one line in a pipe."""
    return wrapped(text, None if console.width is None else max(_MIN_ROOM, console.width - indent))


def _draw_unknown(console: Console, diagnosis: Diagnosis) -> None:
    for outcome in diagnosis.checks:
        if outcome.status in ("unknown", "skipped"):
            console.out(f"{outcome.status:<8} {outcome.code:<24} {_text(outcome.reason)}")


def _verdict(console: Console, diagnosis: Diagnosis) -> str:
    word = console.style(diagnosis.status, _VERDICTS[diagnosis.status])
    seconds = f"{diagnosis.took_ms / 1000:.1f} s"
    if diagnosis.status == "healthy":
        ran = len([c for c in diagnosis.checks if c.status != "skipped"])
        reported = len([f for f in diagnosis.findings if not f.counts])
        more = f" · {reported} reported, not counted (-v)" if reported else ""
        areas = f"{len(diagnosis.areas)} area{'s' if len(diagnosis.areas) != 1 else ''}"
        return f"{word}: {areas}, {ran} checks, {seconds}{more}"
    counts = []
    for status in ("fail", "warn", "skip", "ok"):
        number = len([a for a in diagnosis.areas if a.status == status])
        if number:
            counts.append(f"{number} {_WORDS[status]}")
    fixable = any(f.fixable and f.counts for f in diagnosis.findings)
    more = " · mends what is safe: negmem doctor --fix" if fixable else ""
    return f"{word}: {', '.join(counts)} · {seconds}{more}"
