"""`negmem conflict …`: facts that stand against each other."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, Limit, Offset, User, command, new_app

app = new_app("Facts that stand against each other, and what came of it.")

Id = Annotated[str, typer.Argument(metavar="ID")]


@command(app, "conflict list")
def list_(
    common: Common,
    user: User = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="STATUS", help="open or resolved.")
    ] = None,
    detected_by: Annotated[
        str | None,
        typer.Option("--detected-by", metavar="STAGE", help="key_collision, embedding or model."),
    ] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> None:
    """One user's conflicts, the newest first."""
    from negmem.cli.render.conflicts import draw_list
    from negmem.core import conflicts

    owner = common.require_user(user)
    with common.installed() as session:
        found = conflicts.list_conflicts(
            session, owner, status=status, detected_by=detected_by, limit=limit, offset=offset
        )
        common.answer(found, draw_list)
        if found.truncated:
            common.console.note(f"{len(found.conflicts):,} of {found.total:,}")


@command(app, "conflict show")
def show(common: Common, conflict_id: Id, user: User = None) -> None:
    """One conflict with both facts as they stand now."""
    from negmem.cli.render.conflicts import draw_conflict
    from negmem.core import conflicts

    wanted = conflicts.parse_id(conflict_id)
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or conflicts.owner_of(session, wanted)
        found = conflicts.show(session, owner, wanted)
        common.answer(found, draw_conflict)


@command(app, "conflict resolve", writes=True)
def resolve(
    common: Common,
    conflict_id: Id,
    resolution: Annotated[
        str | None,
        typer.Argument(
            metavar="RESOLUTION", help="supersede, keep_old, keep_new, keep_both or merge."
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last decision back.")] = False,
    user: User = None,
) -> None:
    """Decide which of two facts stands, or take the last decision back."""
    from negmem.cli.render.conflicts import draw_resolved
    from negmem.core import conflicts
    from negmem.errors import UsageError

    wanted = conflicts.parse_id(conflict_id)
    if (resolution is None) != undo:
        raise UsageError(
            "resolution_unknown",
            "one decision is needed" if resolution is None else "a decision or --undo, not both",
            why="a resolution says which fact stands, --undo takes the last one back",
            hint=f"negmem conflict resolve {conflict_id} keep_old",
        )
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or conflicts.owner_of(session, wanted)
        if resolution is None:
            done = conflicts.undo(session, owner, wanted, dry_run=common.dry_run)
        else:
            done = conflicts.resolve(session, owner, wanted, resolution, dry_run=common.dry_run)
        common.answer(done, draw_resolved)
