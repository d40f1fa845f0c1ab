"""`negmem namespace …`: who shares what."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, command, new_app

app = new_app("Namespaces: who shares learned knowledge and entities.")

Name = Annotated[str, typer.Argument(metavar="NAMESPACE", help="A team, or global.")]
Member = Annotated[str, typer.Argument(metavar="USER", help="Who.")]


@command(app, "namespace create", writes=True)
def create(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The team.")],
    admin: Annotated[
        str | None, typer.Option("--admin", metavar="USER", help="Its first member.")
    ] = None,
) -> None:
    """Make a namespace of a team; global and each user's own exist without."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    first = None if admin is None else common.require_user(admin)
    with common.installed() as session:
        done = namespaces.create(session, name, admin=first, dry_run=common.dry_run)
        common.answer(done, draw_change)


@command(app, "namespace list")
def list_(
    common: Common,
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="Only where USER has a role.")
    ] = None,
) -> None:
    """The namespaces of the app, with their members."""
    from negmem.cli.render.namespaces import draw_list
    from negmem.core.learning import namespaces

    whose = common.checked_user(user)
    with common.installed() as session:
        found = namespaces.list_namespaces(session, user=whose)
        common.answer(found, draw_list)


@command(app, "namespace grant", writes=True)
def grant(
    common: Common,
    name: Name,
    user: Member,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="reader, writer or admin.")
    ] = "reader",
) -> None:
    """Give a user a role, in place of the one before."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    member = common.require_user(user)
    with common.installed() as session:
        done = namespaces.grant(session, name, member, role=role, dry_run=common.dry_run)
        common.answer(done, draw_change)


@command(app, "namespace revoke", writes=True)
def revoke(common: Common, name: Name, user: Member) -> None:
    """Take a user's role away; what the user wrote there stays."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    member = common.require_user(user)
    with common.installed() as session:
        done = namespaces.revoke(session, name, member, dry_run=common.dry_run)
        common.answer(done, draw_change)
