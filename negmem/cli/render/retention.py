"""Forgetting as text: what went, what will go, and what is gone for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negmem.cli.render.memories import stamp
from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negmem.cli.render.console import Console
    from negmem.core.models.retention import (
        DueByUser,
        RetentionPreview,
        RetentionPurge,
        RetentionRun,
    )

_MOST_USERS = 10


def draw_run(console: Console, done: RetentionRun) -> None:
    """What went, or would go now, and what waits for another day."""
    whose = f" of {one_line(done.user)}" if done.user else ""
    if done.dry_run:
        _users(console, done.users)
        console.out(f"would forget {done.forgotten:,}{whose}")
    elif done.status == "skipped":
        console.out("skipped: another sweep is under way")
        return
    else:
        batches = "1 batch" if done.calls == 1 else f"{done.calls:,} batches"
        console.out(f"forgot {done.forgotten:,}{whose} · {batches}, {done.took_ms:,.0f} ms")
    if done.waiting:
        console.out(
            f"{done.waiting:,} more are due and wait: max_share is a user's ceiling for a day"
        )
    if done.forgotten and not done.dry_run:
        console.note("bring one back with: negmem memory restore ID --user USER")


def _users(console: Console, users: Sequence[DueByUser], *, is_plan: bool = True) -> None:
    for one in users[:_MOST_USERS]:
        waits = f", {one.due - one.today:,} wait" if is_plan and one.due > one.today else ""
        tokens = f"{one.tokens:,} tokens"
        console.out(
            f"{one.due:>9,}  {tokens:>16}  {one_line(one.user)} ({one_line(one.app)}){waits}"
        )
    if len(users) > _MOST_USERS:
        console.note(f"{_MOST_USERS} of {len(users):,} users; all of them with --json")


def draw_preview(console: Console, found: RetentionPreview) -> None:
    """The memories in the order in which they go, then the sums."""
    for item in found.items:
        head = f"{stamp(console, item.goes_at)}  {item.id}  {item.score:.4f}  "
        width = None if console.width is None else max(20, console.width - len(head))
        console.out(head + one_line(item.content, width))
        console.out(f"    {one_line(item.user)} · {one_line(item.why)} · {item.tokens:,} tokens")
    if found.items:
        console.out()
    _users(console, found.users, is_plan=False)
    named = found.settings
    days = "1 day" if found.days == 1 else f"{found.days:,} days"
    console.out(f"within {days} {found.total:,} may go, {found.tokens:,} tokens")
    console.out(
        f"by decay_lambda {named.decay_lambda:g}, low_retention_threshold"
        f" {named.low_retention_threshold:g}, min_age_days {named.min_age_days},"
        f" keep_importance {named.keep_importance:g}"
    )
    if found.difference is not None:
        console.out(found.effect())
    if found.truncated:
        console.note(f"{len(found.items):,} of {found.total:,} listed; more with --limit")


def draw_purge(console: Console, done: RetentionPurge) -> None:
    """What is gone for good, and what is still within its window."""
    verb = "would purge" if done.dry_run else "purged"
    for one in done.users[:_MOST_USERS]:
        state = (
            "on hold, stays"
            if one.held
            else f"{one.memories:,} memories, {one.retrieval_logs:,} searches"
        )
        console.out(f"{state:<36}  {one_line(one.user)}")
    if len(done.users) > _MOST_USERS:
        console.note(f"{_MOST_USERS} of {len(done.users):,} users; all of them with --json")
    console.out(
        f"{verb} {done.memories:,} memories removed over {done.restore_window_days:,} days ago and"
        f" {done.retrieval_logs:,} searches older than {done.retrieval_log_days:,} days"
    )
    for other in done.others:
        console.out(f"{verb} {other.rows:,} rows of {other.table}")
    console.out(f"{done.waiting:,} removed memories remain and can be restored")
