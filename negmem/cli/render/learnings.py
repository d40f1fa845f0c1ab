"""Learned knowledge as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.origins import draw_changes, draw_origins
from negmem.cli.render.text import one_line, safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negmem.cli.render.console import Console
    from negmem.core.models.learning import (
        FoundLearnings,
        ItemVersion,
        Learning,
        LearningChange,
        LearningList,
        LearningShown,
        LearningVersions,
    )


def draw_list(console: Console, found: LearningList) -> None:
    """A line a lesson."""
    for one in found.learnings:
        _line(console, one, str(one.id))
    if not found.learnings:
        console.note("no learnings")
    if found.truncated:
        console.note(f"{len(found.learnings)} of {found.total}")


def draw_found(console: Console, found: FoundLearnings) -> None:
    """A line a lesson, with its score."""
    for one in found.learnings:
        _line(console, one, f"{one.score:.3f}  {one.id}")
    if not found.learnings:
        console.note("nothing found")
    if found.reason:
        console.note(f"by {found.level} alone: {one_line(found.reason)}")


def draw_shown(console: Console, one: LearningShown) -> None:
    """One lesson, whole; the turns it rests on, who added it and who changed it."""
    draw_learning(console, one)
    draw_origins(console, one.origins)
    draw_changes(console, one.created_at, one.written_by, one.changes, one.undo)


def draw_learning(console: Console, one: Learning) -> None:
    """One lesson, whole."""
    console.out(f"{console.style(one_line(one.title), 'name')}")
    for line in safe_text(one.learning).splitlines():
        console.out(f"  {line}")
    if one.context:
        console.out(f"  when: {one_line(one.context)}")
    if one.tags:
        console.out(f"  tags: {', '.join(map(one_line, one.tags))}")
    console.out(
        f"  {one.id} · {one_line(one.namespace)} · version {one.version} ·"
        f" {stamp(console, one.updated_at)}"
    )
    if one.deleted_at is not None:
        why = f": {one_line(one.deleted_reason)}" if one.deleted_reason else ""
        console.out(f"  removed {stamp(console, one.deleted_at)}{why}")


def draw_change(console: Console, change: LearningChange) -> None:
    """What was done, or would be."""
    would = "would be " if change.dry_run and change.action != "unchanged" else ""
    if change.learning is None:
        console.out(f"{would}{change.action}")
        return
    console.out(f"{would}{change.action}")
    draw_learning(console, change.learning)


def draw_versions(console: Console, found: LearningVersions) -> None:
    """What it said before, then what it says."""
    draw_earlier(console, found.versions, ("title", "learning", "context", "tags"))
    draw_learning(console, found.learning)


def draw_earlier(console: Console, versions: Sequence[ItemVersion], names: tuple[str, ...]) -> None:
    """Each earlier version with the values of `names`."""
    for one in versions:
        console.out(
            f"version {one.version} · {one_line(one.reason)} {stamp(console, one.changed_at)}"
            f" by {one_line(one.changed_by)}"
        )
        for name in names:
            value = one.before.get(name)
            if value not in (None, [], {}, ""):
                console.out(f"  {name}: {one_line(str(value))}")


def _line(console: Console, one: Learning, head: str) -> None:
    where = "" if one.namespace == "global" else f" [{one_line(one.namespace)}]"
    console.row(f"{head}{where}  ", f"{one.title}: {one.learning}")
