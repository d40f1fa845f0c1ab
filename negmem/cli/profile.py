"""`negmem profile …`: who a user is, field by field."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, TrailNote, User, command, new_app

app = new_app("Profiles: who a user is, field by field.")

Field = Annotated[str, typer.Argument(metavar="FIELD", help="Such as name or city.")]


@command(app, "show", path="profile show")
def show(common: Common, user: User = None) -> int:
    """What is known of a user, set by hand or extracted."""
    from negmem.cli.render.profiles import draw_profile
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        common.console.answer("profile.show/1", profile.show(session, owner), draw_profile)
    return ExitCode.DONE


@command(app, "set", path="profile set", writes=True)
def set_(
    common: Common,
    field: Field,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A list: with commas.")],
    user: User = None,
    note: TrailNote = None,
) -> int:
    """Set a field of the schema; what is extracted does not change it."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = profile.set_field(session, owner, field, value, note=note, dry_run=common.dry_run)
        common.console.answer("profile.set/1", done, draw_change)
    return ExitCode.DONE


@command(app, "unset", path="profile unset", writes=True)
def unset(common: Common, field: Field, user: User = None) -> int:
    """Take what is known of a field away."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = profile.unset_field(session, owner, field, dry_run=common.dry_run)
        common.console.answer("profile.unset/1", done, draw_change)
    return ExitCode.DONE


@command(app, "undo", path="profile undo", writes=True)
def undo(common: Common, field: Field, user: User = None) -> int:
    """Take the last change of a field back; a second undo takes back the first."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = profile.undo(session, owner, field, dry_run=common.dry_run)
        common.console.answer("profile.undo/1", done, draw_change)
    return ExitCode.DONE
