"""`negmem proposals …`: writes that wait for a person, and what a person decides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.moments import parse_pairs
from negmem.cli.options import Actor, Common, Limit, Offset, User, command, new_app

app = new_app("Writes that wait for a person.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Of a proposal.")]
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


@command(app, "proposals list")
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
) -> None:
    """What waits, oldest first, then what was decided; with --user what that user may see."""
    from negmem.cli.render.proposals import draw_list
    from negmem.core.learning import proposals

    owner = common.checked_user(user)
    with common.installed() as session:
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
        common.answer(found, draw_list)


@command(app, "proposals show")
def show(common: Common, id: Id, user: User = None) -> None:
    """One proposal, what it would change, and on what evidence."""
    from negmem.cli.render.proposals import draw_shown
    from negmem.core.learning import proposals

    owner = common.checked_user(user)
    with common.installed() as session:
        found = proposals.show(session, owner, proposals.parse_id(id))
        common.answer(found, draw_shown)


@command(app, "proposals edit", writes=True)
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
) -> None:
    """Change what was proposed before it is approved; what was proposed is kept."""
    from negmem.cli.render.proposals import draw_edited
    from negmem.core.learning import proposal_edits, proposals

    owner = common.checked_user(user)
    changes = parse_pairs(set, "--set")
    with common.installed() as session:
        done = proposal_edits.edit(
            session,
            proposals.parse_id(id),
            changes,
            user=owner,
            actor=actor,
            as_typed=True,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_edited)


@command(app, "proposals approve", writes=True)
def approve(
    common: Common,
    id: Id,
    user: User = None,
    actor: Actor = None,
    reason: Reason = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Though what it changes was changed meanwhile.")
    ] = False,
) -> None:
    """Make the write that was proposed, once; in mode hitl by another person than proposed it."""
    from negmem.cli.render.proposals import draw_decision
    from negmem.core.learning import proposals

    owner = common.checked_user(user)
    with common.installed() as session:
        done = proposals.approve(
            session,
            proposals.parse_id(id),
            user=owner,
            actor=actor,
            reason=reason,
            anyway=anyway,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_decision)


@command(app, "proposals reject", writes=True)
def reject(
    common: Common, id: Id, user: User = None, actor: Actor = None, reason: Reason = None
) -> None:
    """Decide against a proposal; the same is not proposed again for 30 days."""
    from negmem.cli.render.proposals import draw_decision
    from negmem.core.learning import proposals

    owner = common.checked_user(user)
    with common.installed() as session:
        done = proposals.reject(
            session,
            proposals.parse_id(id),
            user=owner,
            actor=actor,
            reason=reason,
            dry_run=common.dry_run,
        )
        common.answer(done, draw_decision)


@command(app, "proposals approve-all", writes=True)
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
    return _decide_all(
        common,
        "approve",
        ids,
        user,
        actor,
        reason,
        namespace=namespace,
        store=store,
        op=op,
        agent=agent,
        min_confidence=min_confidence,
    )


@command(app, "proposals reject-all", writes=True)
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
    return _decide_all(
        common,
        "reject",
        ids,
        user,
        actor,
        reason,
        namespace=namespace,
        store=store,
        op=op,
        agent=agent,
        min_confidence=min_confidence,
    )


def _decide_all(
    common: Common,
    verb: str,
    ids: list[str] | None,
    user: str | None,
    actor: str | None,
    reason: str | None,
    **wanted: Any,
) -> int:
    from negmem.cli.render.proposals import draw_decisions
    from negmem.core.learning import proposal_batches, proposals
    from negmem.errors import UsageError

    owner = common.checked_user(user)
    if ids and any(value is not None for value in wanted.values()):
        raise UsageError(
            "proposal_filter_unknown",
            "ids and a filter can't both say which proposals",
            why="both were given",
            hint=f"negmem proposals {verb}-all ID…",
        )
    named = [proposals.parse_id(one) for one in ids or ()]
    with common.installed() as session:
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
        common.answer(done, draw_decisions)
    return ExitCode.ATTENTION if done.left else ExitCode.DONE


@command(app, "proposals export")
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

    owner = common.checked_user(user)
    if output == "-" and common.json:
        raise UsageError(
            "output_needed",
            "lines and the document of --json can't both stand on stdout",
            why="no --output was given",
            hint="negmem proposals export --output FILE --json",
        )
    wanted: dict[str, Any] = {
        "namespace": namespace,
        "store": store,
        "op": op,
        "agent": agent,
        "min_confidence": min_confidence,
        "status": status,
    }
    with common.installed() as session:
        if output != "-":
            done = proposal_batches.export_to_file(session, Path(output), owner, **wanted)
            common.answer(done, draw_exported)
            return ExitCode.DONE
        count = proposal_batches.export(session, sys.stdout.write, owner, **wanted)
        sys.stdout.flush()
        common.console.note(f"{count:,} proposals")
        for warning in common.warnings:
            common.console.note(f"warning[{warning['code']}]: {warning['message']}")
    return ExitCode.DONE
