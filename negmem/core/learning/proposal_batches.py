"""Several proposals decided on at once, each as if alone; and all of them as lines of JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from negmem.core.learning import items, proposals
from negmem.core.models.proposal import (
    NotDecided,
    Proposal,
    ProposalDecision,
    ProposalDecisions,
    ProposalExport,
    ProposalList,
)
from negmem.core.session import Session
from negmem.errors import NegmemError

_PAGE = 500
# What stands against one stands against all: the server is gone, a privilege is missing.
_ENDS_ALL = frozenset(
    (
        *("server_unreachable", "connection_lost", "connection_failed", "too_many_connections"),
        *(
            "privilege_missing",
            "read_only_server",
            "function_missing",
            "schema_missing",
            "disk_full",
        ),
    )
)


def waiting(session: Session, user: str | None = None, **wanted: Any) -> list[UUID]:
    """The ids of what waits, oldest first. Args: wanted, as of `list_proposals`, its status aside."""
    return [one.id for one in each(session, user, **{"status": "waiting", **wanted})]


def approve_all(
    session: Session,
    ids: Sequence[UUID],
    *,
    user: str | None = None,
    actor: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> ProposalDecisions:
    """Approve each as `proposals.approve` does; one that is refused keeps no other back.

    With `dry_run` each is tried against what stands now, not against what those before it would write.
    """

    def one(id: UUID) -> ProposalDecision:
        return proposals.approve(
            session, id, user=user, actor=actor, reason=reason, dry_run=dry_run
        )

    return _each_decided(ids, one, dry_run)


def reject_all(
    session: Session,
    ids: Sequence[UUID],
    *,
    user: str | None = None,
    actor: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> ProposalDecisions:
    """Reject each as `proposals.reject` does."""

    def one(id: UUID) -> ProposalDecision:
        return proposals.reject(session, id, user=user, actor=actor, reason=reason, dry_run=dry_run)

    return _each_decided(ids, one, dry_run)


def each(session: Session, user: str | None = None, **wanted: Any) -> Iterator[Proposal]:
    """All proposals of a filter, through the gate for personal data, page by page."""
    offset = 0
    while True:
        page: ProposalList = proposals.list_proposals(
            session, user, **wanted, limit=min(_PAGE, items.MAX_ROWS - offset), offset=offset
        )
        yield from page.proposals
        offset += _PAGE
        if offset >= page.total:
            return
        if offset >= items.MAX_ROWS:
            session.warn(
                "proposals_truncated", f"only the first {items.MAX_ROWS:,} of {page.total:,}"
            )
            return


def export(
    session: Session, write: Callable[[str], object], user: str | None = None, **wanted: Any
) -> int:
    """Write proposals as JSON Lines, what waits first; returns how many. Args: as `each`."""
    count = 0
    for one in each(session, user, **wanted):
        write(one.model_dump_json() + "\n")
        count += 1
    return count


def export_to_file(
    session: Session, path: Path, user: str | None = None, **wanted: Any
) -> ProposalExport:
    """As `export`, into a file that its owner alone can read; it stands whole or not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(
            os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            count = export(session, file.write, user, **wanted)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return ProposalExport(path=str(path), proposals=count)


def _each_decided(
    ids: Sequence[UUID],
    decide: Callable[[UUID], ProposalDecision],
    dry_run: bool,
) -> ProposalDecisions:
    decided: list[ProposalDecision] = []
    left: list[NotDecided] = []
    for id in dict.fromkeys(ids):
        try:
            decided.append(decide(id))
        except NegmemError as error:
            if error.code in _ENDS_ALL:
                raise
            left.append(NotDecided(id=id, code=error.code, message=error.message))
    return ProposalDecisions(decided=decided, left=left, dry_run=dry_run)
