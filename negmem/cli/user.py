"""`negmem user …`: what stands for a person: a pause, an objection, a legal hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

if TYPE_CHECKING:
    from negmem.core.governance.standing import Act

app = new_app("Pause, hold and release persons.")

Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why; stands on the trail.")
]
Actor = Annotated[
    str | None,
    typer.Option("--actor", metavar="NAME", help="Who decides. Default: role and system user."),
]


@command(app, "show", path="user show")
def show(common: Common, user: User = None) -> int:
    """Whether a person is paused, held or being erased."""
    from negmem.cli.render.standing import draw_standing
    from negmem.core.governance import standing

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        common.console.answer("user.show/1", standing.show(session, owner), draw_standing)
    return ExitCode.DONE


@command(app, "picture", path="user picture")
def picture(
    common: Common,
    user: User = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Items of each store at most.")
    ] = 20,
) -> int:
    """All that is known of a person, store by store, with where it came from."""
    from negmem.cli.render.pictures import draw_picture
    from negmem.core.learning.picture import picture as draw

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        common.console.answer("user.picture/1", draw(session, owner, limit=limit), draw_picture)
    return ExitCode.DONE


@command(app, "pause", path="user pause", writes=True)
def pause(
    common: Common,
    user: User = None,
    reason: Reason = None,
    actor: Actor = None,
    objection: Annotated[
        bool, typer.Option("--objection", help="The person objects to being remembered.")
    ] = False,
) -> int:
    """Remember nothing of a person from now on. What is stored stays, and can be read."""
    return _stand(common, "object" if objection else "pause", user, reason, actor)


@command(app, "resume", path="user resume", writes=True)
def resume(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> int:
    """End a pause or an objection."""
    return _stand(common, "resume", user, reason, actor)


@command(app, "hold", path="user hold", writes=True)
def hold(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> int:
    """Legal hold: nothing of the person is deleted, by whatever command or job."""
    return _stand(common, "hold", user, reason, actor)


@command(app, "release", path="user release", writes=True)
def release(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> int:
    """End a legal hold."""
    return _stand(common, "release", user, reason, actor)


def _stand(
    common: Common, act: Act, user: str | None, reason: str | None, actor: str | None
) -> int:
    from negmem.cli.render.standing import draw_standing
    from negmem.core.governance import standing

    owner = common.require_user(user)
    with common.session() as session:
        session.require_installed()
        done = standing.stand(
            session, owner, act, reason=reason, actor=actor, dry_run=common.dry_run
        )
        common.console.answer(f"{common.name.replace(' ', '.')}/1", done, draw_standing)
    return ExitCode.DONE
