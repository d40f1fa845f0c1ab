"""Proposals as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from negmem.cli.render.text import one_line

if TYPE_CHECKING:
    from negmem.cli.render.console import Console
    from negmem.core.models.proposal import (
        Proposal,
        ProposalDecision,
        ProposalDecisions,
        ProposalEdited,
        ProposalExport,
        ProposalList,
        ProposalShown,
    )

_SHOWN = ("title", "name", "field", "key", "entity", "text", "fact", "content", "relation", "id")


def draw_list(console: Console, found: ProposalList) -> None:
    """A line a proposal: id, status, what it would do, for whom."""
    for one in found.proposals:
        console.row(f"{one.id}  {one.status:<8}  ", _said(one))
    if not found.proposals:
        console.note("no proposals")
    if found.truncated:
        console.note(f"{len(found.proposals)} of {found.total:,}")


def draw_shown(console: Console, shown: ProposalShown) -> None:
    """The proposal line by line, then what it would change."""
    one = shown.proposal
    console.out(f"{console.style(str(one.id), 'name')}  {one.status}, mode {one.mode}")
    console.out(f"  would      {_said(one)}")
    console.out(f"  proposed   by {one_line(one.proposed_by)} at {one.created_at:%Y-%m-%d %H:%M}Z")
    if one.edited_by and one.edited_at:
        console.out(f"  edited     by {one_line(one.edited_by)} at {one.edited_at:%Y-%m-%d %H:%M}Z")
        for name, was in (one.proposed or {}).items():
            if was != one.arguments.get(name):
                console.out(f"  was        {one_line(name)}: {_value(was)}")
    if one.decided_by or one.reason:
        by = f"by {one_line(one.decided_by)}" if one.decided_by else ""
        at = f" at {one.decided_at:%Y-%m-%d %H:%M}Z" if one.decided_by and one.decided_at else ""
        why = f": {one_line(one.reason)}" if one.reason else ""
        console.out(f"  decided    {by}{at}{why}")
    if one.applied_id:
        console.out(f"  wrote      {one.applied_id}")
    if one.decided_at is None or one.status in ("edited", "stale", "failed"):
        console.out(f"  expires    {one.expires_at:%Y-%m-%d %H:%M}Z")
    if shown.is_stale:
        console.out("  stale      what it changes was changed meanwhile: approve with --anyway")
    for change in shown.changes:
        before = "" if change.before in (None, [], {}) else f"{_value(change.before)} → "
        console.out(f"  {one_line(change.field):<9}  {before}{_value(change.after)}")
    for source in one.evidence:
        console.out(f"  because    {one_line(str(source.get('quote', source)))}")
    for near in one.duplicates:
        console.out(f"  like       {near.score:.2f}  {near.id}  {one_line(near.text)[:80]}")


def draw_decision(console: Console, done: ProposalDecision) -> None:
    """What was decided, or would be."""
    how = "would be " if done.dry_run else "was already " if done.replayed else ""
    by = f" by {one_line(done.decided_by)}" if done.decided_by else ""
    made = f": {done.applied_id}" if done.applied_id and not done.dry_run else ""
    console.out(f"{done.id} {how}{done.status}{by}{made}")


def draw_edited(console: Console, done: ProposalEdited) -> None:
    """What was changed, or would be, and how it waits now."""
    how = "would be edited" if done.dry_run else "edited"
    console.out(f"{done.proposal.id} {how if done.edited else 'unchanged'}")
    for change in done.edited:
        before = "" if change.before in (None, [], {}) else f"{_value(change.before)} → "
        after = "taken away" if change.after is None else _value(change.after)
        console.out(f"  {one_line(change.field):<9}  {before}{after}")


def draw_decisions(console: Console, done: ProposalDecisions) -> None:
    """A line for each, then how many."""
    for one in done.decided:
        draw_decision(console, one)
    for other in done.left:
        console.out(f"{other.id} left[{other.code}]: {one_line(other.message)}")
    would = "would be " if done.dry_run else ""
    left = f", {len(done.left):,} left" if done.left else ""
    console.note(f"{len(done.decided):,} {would}decided on{left}")


def draw_exported(console: Console, done: ProposalExport) -> None:
    """How many went where."""
    console.out(f"{done.proposals:,} proposals to {one_line(done.path)}")


def _said(one: Proposal) -> str:
    words = [_value(one.arguments[name]) for name in _SHOWN if one.arguments.get(name)]
    whose = one.namespace if one.user is None else f"{one.namespace} of {one_line(one.user)}"
    return f"{one.act}  {'  '.join(words[:2])}  ({whose})"


def _value(value: Any) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(said)
