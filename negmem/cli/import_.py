"""`negmem import`: an export of one person, back with the same ids."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.options import Common, command, new_app
from negmem.cli.pii import progress

app = new_app("Bring an export of one person back, with the same ids.")


@command(app, "import", writes=True)
def import_(
    common: Common,
    path: Annotated[str, typer.Argument(metavar="FILE", help="What `audit export` wrote.")],
) -> None:
    """Bring an export of one person back, with the same ids, searchable.

    The file is checked whole before anything is written; what stands stays. Safe to repeat. Asks first
    where the person was erased here.
    """
    from negmem.cli.render.export import draw_imported
    from negmem.core.governance.bring_back import bring_back

    with common.installed() as session:
        common.tell_target(session)

        def ask(user: str, at: datetime) -> bool:
            question = f"{user} was erased here on {at:%Y-%m-%d}: bring the person back?"
            common.console.confirm(question, deed=f"brings back {user}, who was erased here")
            return True

        done = bring_back(
            session,
            Path(path),
            dry_run=common.dry_run,
            consent=ask,
            on_progress=progress(common),
        )
        common.answer(done, draw_imported)
