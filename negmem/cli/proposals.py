"""`negmem proposals …`: writes that wait for a person, and what a person decides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_pairs
from negmem.cli.options import Common, Limit, Offset, User, command, new_app

app = new_app("Writes that wait for a person.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Of a proposal.")]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="NAME", help="Who decides. Default: role and system user."),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept with it.")]


Namespace = Annotated[
    str | None, typer.Option("--namespace", metavar="NAME", help="Of this namespace alone.")
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="NAME", help="profile, memory, entity or knowledge."),
]
Op = Annotated[str | None, typer.Option("--op", metavar="OP", help="add, update or delete.")]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Of this agent alone.")]
Sure = Annotated[
    float | None,
    typer.Option("--min-confidence", metavar="0..1", help="A model was at least so sure."),
]
Status = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="pending, edited, stale, failed, applied, rejected, expired; waiting: the first four.",
    ),
]
Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID…]", help="These; none: all that wait and that the options name."),
]


@command(app, "list", path="proposals list")
def list_(
    common: Common,
    user: User = None,
    namespace: Namespace = None,
    store: Store = None,
    op: Op = None,
    agent: Agent = None,
    min_confidence: Sure = None,
    status: Status = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> int:
    """What waits, oldest first, then what was decided; with --user what that user may see."""
    from negmem.cli.render.proposals import draw_list
    from negmem.core.learning import proposals

    owner = None if user is None else common.require_user(user)
    with common.session() as session:
        session.require_installed()
        found = proposals.list_proposals(
            session,
            owner,
            namespace=namespace,
            store=store,
            op=op,
            agent=agent,
            min_confidence=min_confidence,
            status=status,
            limit=limit,
            offset=offset,
        )
        common.console.answer("proposals.list/1", found, draw_list)
    return ExitCode.DONE


@command(app, "show", path="proposals show")
def show(common: Common, id: Id, user: User = None) -> int:
    """One proposal, what it would change, and on what evidence."""
    from negmem.cli.render.proposals import draw_shown
    from negmem.core.learning import proposals

    owner = None if user is None else common.require_user(user)
    with common.session() as session:
        session.require_installed()
        found = proposals.show(session, owner, proposals.parse_id(id))
        common.console.answer("proposals.show/1", found, draw_shown)
    return ExitCode.DONE


@command(app, "edit", path="proposals edit", writes=True)
def edit(
    common: Common,
    id: Id,
    set: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="NAME=VALUE", help="An argument as `show` names it; may be repeated."
        ),
    ],
    user: User = None,
    actor: Actor = None,
) -> int:
    """Change what was proposed before it is approved; what was proposed is kept."""
    from negmem.cli.render.proposals import draw_edited
    from negmem.core.learning import proposal_edits, proposals

    owner = None if user is None else common.require_user(user)
    changes = parse_pairs(set, "--set")
    with common.session() as session:
        session.require_installed()
        done = proposal_edits.edit(
            session,
            proposals.parse_id(id),
            changes,
            user=owner,
            actor=actor,
            as_typed=True,
            dry_run=common.dry_run,
        )
        common.console.answer("proposals.edit/1", done, draw_edited)
    return ExitCode.DONE


@command(app, "approve", path="proposals approve", writes=True)
def approve(
    common: Common,
    id: Id,
    user: User = None,
    actor: Actor = None,
    reason: Reason = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Though what it changes was changed meanwhile.")
    ] = False,
) -> int:
    """Make the write that was proposed, once; in mode hitl by another person than proposed it."""
    from negmem.cli.render.proposals import draw_decision
    from negmem.core.learning import proposals

    owner = None if user is None else common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = proposals.approve(
            session,
            proposals.parse_id(id),
            user=owner,
            actor=actor,
            reason=reason,
            anyway=anyway,
            dry_run=common.dry_run,
        )
        common.console.answer("proposals.approve/1", done, draw_decision)
    return ExitCode.DONE


@command(app, "reject", path="proposals reject", writes=True)
def reject(
    common: Common, id: Id, user: User = None, actor: Actor = None, reason: Reason = None
) -> int:
    """Decide against a proposal; the same is not proposed again for 30 days."""
    from negmem.cli.render.proposals import draw_decision
    from negmem.core.learning import proposals

    owner = None if user is None else common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = proposals.reject(
            session,
            proposals.parse_id(id),
            user=owner,
            actor=actor,
            reason=reason,
            dry_run=common.dry_run,
        )
        common.console.answer("proposals.reject/1", done, draw_decision)
    return ExitCode.DONE


@command(app, "approve-all", path="proposals approve-all", writes=True)
def approve_all(
    common: Common,
    ids: Ids = None,
    user: User = None,
    namespace: Namespace = None,
    store: Store = None,
    op: Op = None,
    agent: Agent = None,
    min_confidence: Sure = None,
    actor: Actor = None,
    reason: Reason = None,
) -> int:
    """Approve several, each in a transaction of its own; ends with 3 where some were left.

    Asks first, or needs --yes. What is stale or was refused keeps no other back.
    """
    wanted = {"namespace": namespace, "store": store, "op": op, "agent": agent}
    wanted_more = {**wanted, "min_confidence": min_confidence}
    return _decide_all(common, "approve", ids, user, actor, reason, wanted_more)


@command(app, "reject-all", path="proposals reject-all", writes=True)
def reject_all(
    common: Common,
    ids: Ids = None,
    user: User = None,
    namespace: Namespace = None,
    store: Store = None,
    op: Op = None,
    agent: Agent = None,
    min_confidence: Sure = None,
    actor: Actor = None,
    reason: Reason = None,
) -> int:
    """Reject several, each in a transaction of its own. Asks first, or needs --yes."""
    wanted = {"namespace": namespace, "store": store, "op": op, "agent": agent}
    wanted_more = {**wanted, "min_confidence": min_confidence}
    return _decide_all(common, "reject", ids, user, actor, reason, wanted_more)


def _decide_all(
    common: Common,
    verb: str,
    ids: list[str] | None,
    user: str | None,
    actor: str | None,
    reason: str | None,
    wanted: dict[str, Any],
) -> int:
    from negmem.cli.render.proposals import draw_decisions
    from negmem.core.learning import proposal_batches, proposals
    from negmem.errors import UsageError

    owner = None if user is None else common.require_user(user)
    if ids and any(value is not None for value in wanted.values()):
        raise UsageError(
            "proposal_filter_unknown",
            "ids and a filter can't both say which proposals",
            why="both were given",
            hint=f"negmem proposals {verb}-all ID…",
        )
    named = [proposals.parse_id(one) for one in ids or ()]
    with common.session() as session:
        session.require_installed()
        which = named or proposal_batches.waiting(session, owner, **wanted)
        if which and not common.dry_run:
            deed = "writes what was proposed" if verb == "approve" else "decides on several"
            common.console.confirm(f"{verb} {len(which):,} proposals?", deed=deed)
        act = proposal_batches.approve_all if verb == "approve" else proposal_batches.reject_all
        done = act(
            session,
            which,
            user=owner,
            actor=actor,
            reason=reason,
            dry_run=common.dry_run,
        )
        common.console.answer(f"proposals.{verb}-all/1", done, draw_decisions)
    return ExitCode.ATTENTION if done.left else ExitCode.DONE


@command(app, "export", path="proposals export")
def export(
    common: Common,
    user: User = None,
    namespace: Namespace = None,
    store: Store = None,
    op: Op = None,
    agent: Agent = None,
    min_confidence: Sure = None,
    status: Status = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE|-", help="Where to; - is stdout, the default."
        ),
    ] = "-",
) -> int:
    """Proposals as JSON Lines, what waits first; a file is readable by its owner alone."""
    from negmem.cli.render.proposals import draw_exported
    from negmem.core.learning import proposal_batches
    from negmem.errors import UsageError

    owner = None if user is None else common.require_user(user)
    if output == "-" and common.json:
        raise UsageError(
            "output_needed",
            "lines and the document of --json can't both stand on stdout",
            why="no --output was given",
            hint="negmem proposals export --output FILE --json",
        )
    wanted = {"namespace": namespace, "store": store, "op": op, "agent": agent, "status": status}
    wanted_more: dict[str, Any] = {**wanted, "min_confidence": min_confidence}
    with common.session() as session:
        session.require_installed()
        if output != "-":
            done = proposal_batches.export_to_file(session, Path(output), owner, **wanted_more)
            common.console.answer("proposals.export/1", done, draw_exported)
            return ExitCode.DONE
        count = proposal_batches.export(session, sys.stdout.write, owner, **wanted_more)
        sys.stdout.flush()
        common.console.note(f"{count:,} proposals")
        for warning in common.warnings:
            common.console.note(f"warning[{warning['code']}]: {warning['message']}")
    return ExitCode.DONE
