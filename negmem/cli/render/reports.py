"""A diagnosis for other programs: GitHub annotations, JUnit XML, a Nagios plugin's line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.diagnosis import CheckOutcome, Diagnosis, Finding

_GITHUB_LEVELS = {"fail": "error", "warn": "warning", "info": "notice"}
_NAGIOS_WORDS = {"healthy": "OK", "degraded": "WARNING", "unusable": "CRITICAL"}


def write_report(console: Console, diagnosis: Diagnosis, format_name: str) -> None:
    """Write the diagnosis as `github`, `junit` or `nagios`."""
    lines = {"github": _github, "junit": _junit, "nagios": _nagios}[format_name](diagnosis)
    for line in lines:
        console.out(line)


def _sentence(finding: Finding) -> str:
    parts = [finding.title, finding.evidence]
    if finding.remedy:
        parts.append(f"remedy: {finding.remedy}")
    return one_line(" · ".join(part for part in parts if part))


def _github(diagnosis: Diagnosis) -> list[str]:
    """Workflow commands: an annotation a finding, then the verdict as plain text."""
    lines = []
    for finding in diagnosis.findings:
        level = "notice" if finding.accepted else _GITHUB_LEVELS[finding.severity]
        text = _sentence(finding).replace("%", "%25")
        lines.append(f"::{level} title=negmem doctor {finding.code}::{text}")
    return [*lines, f"negmem doctor: {diagnosis.status}"]


def _junit(diagnosis: Diagnosis) -> list[str]:
    """One test case a check; what counts fails it, what could not be looked at is skipped."""
    from xml.sax.saxutils import quoteattr

    counted = [f for f in diagnosis.findings if f.counts]
    codes = {c.code for c in diagnosis.checks}
    stray = [f for f in counted if f.code not in codes]
    failed = {f.code for f in counted}
    skipped = [c for c in diagnosis.checks if c.status in ("skipped", "unknown")]
    failures = len([c for c in diagnosis.checks if c.code in failed]) + len(stray)
    total = len(diagnosis.checks) + len(stray)
    seconds = f"{diagnosis.took_ms / 1000:.3f}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="negmem doctor" tests="{total}" failures="{failures}" errors="0"'
        f' skipped="{len(skipped)}" time="{seconds}">',
    ]
    for check in diagnosis.checks:
        lines += _case(check, [f for f in counted if f.code == check.code])
    for finding in stray:
        lines += [
            f"  <testcase classname={quoteattr('doctor.' + finding.area)} name={quoteattr(finding.code)}>",
            f"    <failure message={quoteattr(_sentence(finding))}/>",
            "  </testcase>",
        ]
    return [*lines, "</testsuite>"]


def _case(check: CheckOutcome, findings: list[Finding]) -> list[str]:
    from xml.sax.saxutils import quoteattr

    head = (
        f"  <testcase classname={quoteattr('doctor.' + check.area)} name={quoteattr(check.code)}"
        f' time="{check.took_ms / 1000:.3f}"'
    )
    if findings:
        inner = [f"    <failure message={quoteattr(_sentence(f))}/>" for f in findings]
    elif check.status in ("skipped", "unknown"):
        inner = [f"    <skipped message={quoteattr(one_line(check.reason))}/>"]
    else:
        return [f"{head}/>"]
    return [f"{head}>", *inner, "  </testcase>"]


def _nagios(diagnosis: Diagnosis) -> list[str]:
    """The plugin line with its performance data, then a line a finding."""
    word = _NAGIOS_WORDS[diagnosis.status]
    reasons = ", ".join(diagnosis.degraded_reasons) or f"{len(diagnosis.areas)} areas"
    counted = [f for f in diagnosis.findings if f.counts]
    fails = len([f for f in counted if f.severity == "fail"])
    performance = (
        f"time={diagnosis.took_ms / 1000:.3f}s fail={fails};;;0 warn={len(counted) - fails};;;0"
    )
    head = f"NEGMEM {word} - {diagnosis.status}: {reasons}".replace("|", "/")
    details = [f"{f.code}: {_sentence(f)}".replace("|", "/") for f in counted]
    return [f"{head} | {performance}", *details]
