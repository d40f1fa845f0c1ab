"""`negmem audit erase·replay`: a person gone, and gone again after a restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Actor, Common, User, command, new_app
from negmem.cli.pii import progress

app = new_app("Erasure.")


@command(app, "audit erase", writes=True)
def erase(
    common: Common,
    user: User = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The certificate as JSON, to keep."),
    ] = None,
    actor: Actor = None,
) -> int:
    """Erase everything about one person, search for what is left, and certify it.

    In batches while others write; a run that was cut off is finished by the same command. Exit 3: rows of
    others still speak of the person.
    """
    from negmem.cli.render.erasure import draw_erased
    from negmem.core.governance import erasure
    from negmem.core.governance.certificate_file import check_free, write_certificate

    owner = common.require_user(user)
    console = common.console
    if output is not None:
        check_free(output)
    with common.installed() as session:
        common.tell_target(session)
        if not common.dry_run and not common.yes:
            planned = erasure.erase(session, owner, dry_run=True)
            console.confirm(f"erase {owner}: {planned.rows:,} rows, for good?")
        done = erasure.erase(
            session, owner, actor=actor, dry_run=common.dry_run, on_progress=progress(common)
        )
        if output is not None and not common.dry_run:
            write_certificate(output, done)
        common.answer(done, draw_erased)
    found = done.verification
    return ExitCode.ATTENTION if found and (found.mentions or found.left) else ExitCode.DONE


@command(app, "audit replay", writes=True)
def replay(
    common: Common,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What audit head --erasures wrote.")],
) -> int:
    """After a restore: erase again who is on the list and here. Exit 3: a legal hold keeps somebody."""
    from negmem.cli.render.erasure import draw_replayed
    from negmem.core.governance.erasure_list import replay as run

    console = common.console
    with common.installed() as session:
        common.tell_target(session)
        planned = run(session, file, dry_run=True)
        if common.dry_run:
            common.answer(planned, draw_replayed)
            return ExitCode.DONE
        due = sum(1 for one in planned.persons if one.action == "would_be_erased")
        if due:
            console.confirm(f"erase {due:,} persons again, for good?")
        done = run(session, file)
        common.answer(done, draw_replayed)
    held = any(one.action == "held" for one in done.persons)
    return ExitCode.ATTENTION if held else ExitCode.DONE
