"""What differs, for other programs: GitHub annotations and JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.diff import change_words
from negmem.cli.render.text import counted, one_line, safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.change import Change, Difference


def write_diff_report(console: Console, found: Difference, format_name: str) -> None:
    """Write the difference as `github` or `junit`; the warnings go to stderr."""
    console.lines((_github if format_name == "github" else _junit)(found))
    for warning in console.common.warnings:
        console.note(f"warning[{warning['code']}]: {one_line(warning['message'])}")


def _sentence(change: Change) -> str:
    return one_line(
        f"{change.kind} {change.name}: {change_words(change)}; would {change.action} it"
    )


def _github(found: Difference) -> list[str]:
    """Workflow commands: an annotation a change, then the verdict as plain text."""
    lines = []
    for change in found.changes:
        level = "error" if change.significance == "semantic" else "notice"
        text = _sentence(change).replace("%", "%25")
        lines.append(f"::{level} title=negmem diff {change.kind} {change.reason}::{text}")
    word = "drift" if found.drift else "no drift"
    return [
        *lines,
        f"negmem diff: {word}, {counted(len(found.changes), 'change')}, {found.unchanged} as declared",
    ]


def _junit(found: Difference) -> list[str]:
    """One test case a change, and one for all that is as declared; what is semantic fails."""
    from xml.sax.saxutils import escape, quoteattr

    semantic = [change for change in found.changes if change.significance == "semantic"]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="negmem diff" tests="{len(found.changes) + 1}"'
        f' failures="{len(semantic)}" errors="0" skipped="0">',
        f'  <testcase classname="diff" name="{found.unchanged} as declared"/>',
    ]
    for change in found.changes:
        head = (
            f"  <testcase classname={quoteattr('diff.' + change.kind)}"
            f" name={quoteattr(one_line(change.name))}"
        )
        if change.significance == "cosmetic":
            lines.append(f"{head}/>")
            continue
        texts = (("database", change.before), ("declared", change.after))
        both = "\n".join(f"{side}:\n{text}" for side, text in texts if text is not None)
        lines += [
            f"{head}>",
            f"    <failure message={quoteattr(_sentence(change))}>{escape(safe_text(both))}</failure>",
            "  </testcase>",
        ]
    return [*lines, "</testsuite>"]
