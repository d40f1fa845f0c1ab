"""`negmem init`: sets negmem up in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

if TYPE_CHECKING:
    from negmem.cli.render.console import Console

app = new_app("Set negmem up in a database.")

Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="PROVIDER",
        help="local, onnx, litellm or none. Default: local where installed, else none.",
    ),
]
Dims = Annotated[
    int | None,
    typer.Option("--dims", metavar="N", min=1, help="Default: what the provider gives."),
]

Roles = Annotated[
    bool,
    typer.Option(
        "--roles", help="Make the roles owner, app, reader and auditor, with their grants."
    ),
]

RowLevel = Annotated[
    bool | None,
    typer.Option(
        "--rls/--no-rls",
        help="Row-level security: app and reader see one user at a time. Needs the roles.",
    ),
]


Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="What a new YAML says of the learning stores: minimal, standard or complete.",
    ),
]


@command(app, "init", writes=True)
def init(
    common: Common,
    embedder: Embedder = None,
    dims: Dims = None,
    roles: Roles = False,
    rls: RowLevel = None,
    preset: Preset = None,
) -> int:
    """Make the YAML if there is none, the schema, its migrations and the managed functions.

    Safe to repeat, to run twice at once and to kill; ends with what doctor says.
    """
    from negmem.core import setup

    with setup.open_for_init(
        dsn=common.dsn,
        config_path=common.config,
        schema=common.schema,
        app=common.app,
        embedder=embedder,
        dims=dims,
        wait_s=common.wait,
        warnings=common.warnings,
    ) as session:
        console = common.console
        console.note(
            f"target: {session.database.label} (from {session.database.target.origin}),"
            f' schema "{session.database.schema}", app "{session.app}"'
        )
        if common.dry_run:
            planned = setup.plan(session, roles=roles, rls=rls, preset=preset)
            common.answer(planned, _draw_plan)
            return ExitCode.DONE
        done = setup.run(session, roles=roles, rls=rls, preset=preset)
        common.answer(done, _draw)
    return ExitCode.DONE


def _draw_plan(console: Console, planned: Any) -> None:
    if planned.adoption is not None:
        _draw_adoption(console, planned.adoption, "-- would ")
    for statement in planned.statements:
        console.out(statement)


def _draw_adoption(console: Console, adoption: Any, lead: str) -> None:
    """What is taken over from the first design, a line a thing; as SQL comments in a plan."""
    verb = ("adopt", "repair", "leave", "note") if lead else ("adopted", "repaired", "left", "note")
    console.out(f"{lead}{verb[0]} the schema of the first design; kept aside as {adoption.kept_as}")
    for name, rows in adoption.rows.items():
        console.out(f"{lead}{verb[0]} {name}: {rows:,} rows")
    for what, rows in adoption.repaired.items():
        console.out(f"{lead}{verb[1]} {what}: {rows:,}")
    for name in adoption.left_aside:
        console.out(f"{lead}{verb[2]} {name} aside")
    for note in adoption.notes:
        console.out(f"{'-- ' if lead else ''}note: {note}")


def _draw(console: Console, result: Any) -> None:
    from negmem.cli.render.doctor import draw_diagnosis

    if result.config_written:
        console.out(f"wrote     {result.config_path}")
    if result.adopted is not None:
        _draw_adoption(console, result.adopted, "")
    if result.migrations:
        console.out(f"applied   {len(result.migrations)} migrations to schema {result.schema_name}")
    else:
        console.out(f"unchanged schema {result.schema_name}: all migrations stand already")
    model = result.embedding_model or "none: search works by keyword"
    console.out(f"embedding {model}")
    if result.roles_made:
        console.out(f"roles     made {', '.join(result.roles_made)}")
    if result.row_security:
        console.out("rows      app and reader see one user at a time")
    console.out()
    draw_diagnosis(console, result.diagnosis)
