"""`negmem user …`: what stands for a person: a pause, an objection, a legal hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.options import Actor, Common, User, command, new_app

if TYPE_CHECKING:
    from negmem.core.governance.standing import Act

app = new_app("Pause, hold and release persons.")

Reason = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why; stands on the trail.")
]


@command(app, "user show")
def show(common: Common, user: User = None) -> None:
    """Whether a person is paused, held or being erased."""
    from negmem.cli.render.standing import draw_standing
    from negmem.core.governance import standing

    owner = common.require_user(user)
    with common.installed() as session:
        common.answer(standing.show(session, owner), draw_standing)


@command(app, "user picture")
def picture(
    common: Common,
    user: User = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Items of each store at most.")
    ] = 20,
) -> None:
    """All that is known of a person, store by store, with where it came from."""
    from negmem.cli.render.pictures import draw_picture
    from negmem.core.learning.picture import picture as draw

    owner = common.require_user(user)
    with common.installed() as session:
        common.answer(draw(session, owner, limit=limit), draw_picture)


@command(app, "user pause", writes=True)
def pause(
    common: Common,
    user: User = None,
    reason: Reason = None,
    actor: Actor = None,
    objection: Annotated[
        bool, typer.Option("--objection", help="The person objects to being remembered.")
    ] = False,
) -> None:
    """Remember nothing of a person from now on. What is stored stays, and can be read."""
    _stand(common, "object" if objection else "pause", user, reason, actor)


@command(app, "user resume", writes=True)
def resume(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> None:
    """End a pause or an objection."""
    _stand(common, "resume", user, reason, actor)


@command(app, "user hold", writes=True)
def hold(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> None:
    """Legal hold: nothing of the person is deleted, by whatever command or job."""
    _stand(common, "hold", user, reason, actor)


@command(app, "user release", writes=True)
def release(common: Common, user: User = None, reason: Reason = None, actor: Actor = None) -> None:
    """End a legal hold."""
    _stand(common, "release", user, reason, actor)


def _stand(
    common: Common, act: Act, user: str | None, reason: str | None, actor: str | None
) -> None:
    from negmem.cli.render.standing import draw_standing
    from negmem.core.governance import standing

    owner = common.require_user(user)
    with common.installed() as session:
        done = standing.stand(
            session, owner, act, reason=reason, actor=actor, dry_run=common.dry_run
        )
        common.answer(done, draw_standing)
