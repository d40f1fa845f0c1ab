"""`negmem namespace …`: who shares what."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

app = new_app("Namespaces: who shares learned knowledge and entities.")

Name = Annotated[str, typer.Argument(metavar="NAMESPACE", help="A team, or global.")]
Member = Annotated[str, typer.Argument(metavar="USER", help="Who.")]


@command(app, "create", path="namespace create", writes=True)
def create(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The team.")],
    admin: Annotated[
        str | None, typer.Option("--admin", metavar="USER", help="Its first member.")
    ] = None,
) -> int:
    """Make a namespace of a team; global and each user's own exist without."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    first = None if admin is None else common.require_user(admin)
    with common.session() as session:
        session.require_installed()
        done = namespaces.create(session, name, admin=first, dry_run=common.dry_run)
        common.console.answer("namespace.create/1", done, draw_change)
    return ExitCode.DONE


@command(app, "list", path="namespace list")
def list_(
    common: Common,
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="Only where USER has a role.")
    ] = None,
) -> int:
    """The namespaces of the app, with their members."""
    from negmem.cli.render.namespaces import draw_list
    from negmem.core.learning import namespaces

    whose = None if user is None else common.require_user(user)
    with common.session() as session:
        session.require_installed()
        found = namespaces.list_namespaces(session, user=whose)
        common.console.answer("namespace.list/1", found, draw_list)
    return ExitCode.DONE


@command(app, "grant", path="namespace grant", writes=True)
def grant(
    common: Common,
    name: Name,
    user: Member,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="reader, writer or admin.")
    ] = "reader",
) -> int:
    """Give a user a role, in place of the one before."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    member = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = namespaces.grant(session, name, member, role=role, dry_run=common.dry_run)
        common.console.answer("namespace.grant/1", done, draw_change)
    return ExitCode.DONE


@command(app, "revoke", path="namespace revoke", writes=True)
def revoke(common: Common, name: Name, user: Member) -> int:
    """Take a user's role away; what the user wrote there stays."""
    from negmem.cli.render.namespaces import draw_change
    from negmem.core.learning import namespaces

    member = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = namespaces.revoke(session, name, member, dry_run=common.dry_run)
        common.console.answer("namespace.revoke/1", done, draw_change)
    return ExitCode.DONE
