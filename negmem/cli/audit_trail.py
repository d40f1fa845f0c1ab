"""`negmem audit head·verify`: the proof that nobody rewrote the trail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

app = new_app("The trail.")


@command(app, "audit head")
def head(
    common: Common,
    erasures: Annotated[
        Path | None,
        typer.Option(
            "--erasures", metavar="FILE", help="Also write the list of erased persons, as HMAC."
        ),
    ] = None,
    with_key: Annotated[
        bool,
        typer.Option(
            "--with-key", help="With the key, so that another installation can replay it."
        ),
    ] = False,
) -> None:
    """The end of the trail as one line. Keep it outside the database: it proves all entries up to it."""
    from negmem.cli.render.audit import draw_head
    from negmem.core.governance import trail
    from negmem.core.governance.erasure_list import write_list

    with common.installed() as session:
        found = trail.head(session)
        if erasures is not None:
            written = write_list(session, erasures, with_key=with_key)
            common.console.note(f"{written.persons:,} erased persons in {written.path}")
        common.answer(found, draw_head)


@command(app, "audit verify")
def verify(
    common: Common,
    heads: Annotated[
        list[str] | None,
        typer.Option(
            "--head", metavar="HEAD|FILE", help="What audit head printed. May be repeated."
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="Also check one of audit erase."),
    ] = None,
) -> int:
    """Check every hash and link of the trail, and heads kept elsewhere. Exit 1: it was tampered with.

    Says what it can't prove without a head.
    """
    from negmem.cli.render.audit import draw_verified
    from negmem.core.governance import trail
    from negmem.core.governance.erasure_list import check_certificate

    with common.installed() as session:
        found = trail.verify(session, heads or ())
        if certificate is not None:
            faults, remarks = check_certificate(session, certificate)
            found = found.model_copy(
                update={
                    "faults": [*found.faults, *faults],
                    "whole": found.whole and not faults,
                    "remarks": [*found.remarks, *remarks],
                }
            )
        common.answer(found, draw_verified)
    return ExitCode.DONE if found.whole else ExitCode.FAILED
