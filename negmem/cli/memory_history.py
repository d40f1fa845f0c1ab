"""`negmem memory history`: what became of one memory."""

from __future__ import annotations

from typing import Annotated

import typer

from negmem.cli.options import Common, User, command, new_app

app = new_app("The history of a memory.")


@command(app, "memory history")
def history(
    common: Common, memory_id: Annotated[str, typer.Argument(metavar="ID")], user: User = None
) -> None:
    """What a memory said before, what it took in or went into, and the turns it comes from."""
    from negmem.cli.render.memory_history import draw_history
    from negmem.core import memories, memory_history

    wanted = memories.parse_id(memory_id)
    if user is not None:
        common.require_user(user)
    with common.installed() as session:
        owner = user or memories.owner_of(session, [wanted])
        found = memory_history.history(session, owner, wanted)
        common.answer(found, draw_history)
