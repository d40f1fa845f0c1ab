"""`negmem pii …`: where personal data stands, and a policy for what stands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, User, command, new_app

if TYPE_CHECKING:
    from negmem.core.models.pii import PiiFix

app = new_app("Find personal data in every column that can hold it, and apply a policy to it.")

Kind = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only these, such as email. May be repeated."),
]
Table = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="TABLE", help="Only these. May be repeated."),
]
MaxRows = Annotated[
    int, typer.Option("--max-rows", metavar="N", help="Stop after so many, and say where to go on.")
]
After = Annotated[
    str | None, typer.Option("--after", metavar="PLACE", help="Go on where `next` of a run says.")
]


@command(app, "pii scan")
def scan(
    common: Common,
    user: User = None,
    kinds: Kind = None,
    tables: Table = None,
    max_rows: MaxRows = 100_000,
    after: After = None,
) -> int:
    """Personal data by kind and place, of all or of one user; shows ids, never a text.

    Exit 3: a table or row could not be read, or rows are unscanned.
    """
    from negmem.cli.render.pii import draw_scan
    from negmem.core.governance.scan import scan as run

    owner = common.checked_user(user)
    with common.installed() as session:
        found = run(
            session,
            owner,
            kinds=kinds,
            tables=tables,
            max_rows=max_rows,
            after=after,
            on_progress=progress(common),
        )
        common.answer(found, draw_scan)
    needs_attention = found.skipped or found.failed or found.unscanned
    return ExitCode.ATTENTION if needs_attention else ExitCode.DONE


@command(app, "pii fix", writes=True)
def fix(
    common: Common,
    policy: Annotated[
        str, typer.Option("--policy", metavar="mark|mask|anonymize", help="What becomes of it.")
    ],
    user: User = None,
    kinds: Kind = None,
    tables: Table = None,
    max_rows: MaxRows = 100_000,
    after: After = None,
) -> int:
    """Mark, mask or anonymize what stands. What is masked or anonymized is gone; shows the reach, then asks.

    Exit 3: something could not be read, was changed meanwhile, or stands where it is not rewritten.
    """
    from negmem.cli.render.pii import draw_fix
    from negmem.core.governance.fix import fix as run

    owner = common.checked_user(user)
    console = common.console

    with common.installed() as session:
        common.tell_target(session)

        def act(dry_run: bool) -> PiiFix:
            return run(
                session,
                owner,
                policy=policy,
                kinds=kinds,
                tables=tables,
                max_rows=max_rows,
                after=after,
                dry_run=dry_run,
                on_progress=progress(common),
            )

        if not common.dry_run and not common.yes and policy != "mark":
            planned = act(True)
            if planned.rows:
                whose = "all users" if owner is None else owner
                console.confirm(f"{policy} personal data in {planned.rows:,} rows of {whose}?")
        done = act(common.dry_run)
        common.answer(done, draw_fix)
    needs_attention = done.skipped or done.failed or done.changed_meanwhile or done.left
    return ExitCode.ATTENTION if needs_attention else ExitCode.DONE


def progress(common: Common) -> Callable[[int, str], None] | None:
    """Shows rows and table on a terminal's stderr; None where nobody watches."""
    if common.json or common.quiet or not sys.stderr.isatty():
        return None

    def show(rows: int, table: str) -> None:
        sys.stderr.write(f"\r\x1b[K{rows:,} rows, {table}")
        sys.stderr.flush()

    return show
