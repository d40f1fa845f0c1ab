"""`negmem proposals …`: writes that wait for a person, and what a person decides."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

app = new_app("Writes that wait for a person.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Of a proposal.")]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="NAME", help="Who decides. Default: role and system user."),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept with it.")]


@command(app, "list", path="proposals list")
def list_(
    common: Common,
    user: User = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="NAME", help="Of this namespace alone.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="NAME", help="profile, memory, entity or knowledge."),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="STATUS",
            help="pending, stale, failed, applied, rejected or expired.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N")] = 20,
    offset: Annotated[int, typer.Option("--offset", metavar="N")] = 0,
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
