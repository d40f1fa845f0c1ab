"""`negmem profile …`: who a user is, field by field."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, TrailNote, User, command, new_app

app = new_app("Profiles: who a user is, field by field.")

Field = Annotated[str, typer.Argument(metavar="FIELD", help="Such as name or city.")]


@command(app, "profile show")
def show(common: Common, user: User = None) -> None:
    """What is known of a user, set by hand or extracted."""
    from negmem.cli.render.profiles import draw_profile
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.installed() as session:
        common.answer(profile.show(session, owner), draw_profile)


@command(app, "profile set", writes=True)
def set_(
    common: Common,
    field: Field,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A list: with commas.")],
    user: User = None,
    note: TrailNote = None,
) -> None:
    """Set a field of the schema; what is extracted does not change it."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.installed() as session:
        done = profile.set_field(session, owner, field, value, note=note, dry_run=common.dry_run)
        common.answer(done, draw_change)


@command(app, "profile unset", writes=True)
def unset(common: Common, field: Field, user: User = None) -> None:
    """Take what is known of a field away."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.installed() as session:
        done = profile.unset_field(session, owner, field, dry_run=common.dry_run)
        common.answer(done, draw_change)


@command(app, "profile undo", writes=True)
def undo(common: Common, field: Field, user: User = None) -> None:
    """Take the last change of a field back; a second undo takes back the first."""
    from negmem.cli.render.profiles import draw_change
    from negmem.core.learning import profile

    owner = common.require_user(user)
    with common.installed() as session:
        done = profile.undo(session, owner, field, dry_run=common.dry_run)
        common.answer(done, draw_change)
