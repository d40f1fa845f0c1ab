"""`negmem db …`: the embedded cluster, and migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app

if TYPE_CHECKING:
    from negmem.cli.render.console import Console

app = new_app("The embedded cluster, and migrations.")


@command(app, "db start", writes=True)
def start(common: Common) -> None:
    """Start the embedded cluster; makes it the first time."""
    from negmem.core import cluster

    found = cluster.status() if common.dry_run else cluster.start(common.wait or 60)
    common.answer(found, _draw_cluster)


@command(app, "db stop", writes=True)
def stop(common: Common) -> None:
    """Stop the embedded cluster; what was committed is on disk."""
    from negmem.core import cluster

    found = cluster.status() if common.dry_run else cluster.stop(common.wait or 60)
    common.answer(found, _draw_cluster)


@command(app, "db status")
def status(common: Common) -> int:
    """Whether the embedded cluster runs; starts nothing. Exit 3 when it is stopped."""
    from negmem.core import cluster

    found = cluster.status()
    common.answer(found, _draw_cluster)
    return ExitCode.DONE if found.running else ExitCode.ATTENTION


@command(app, "db url")
def url(common: Common) -> None:
    """The connection string of the embedded cluster, for other programs."""
    from negmem.core import cluster

    common.answer(cluster.start(), lambda c, found: c.out(found.url))


@command(app, "db psql")
def psql(
    common: Common,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- PSQL ARGUMENTS]", show_default=False)
    ] = None,
) -> None:
    """Open psql on the database that negmem would use."""
    from negmem.core import cluster

    with common.session() as session:
        cluster.run_psql(session, arguments or [])


@command(app, "db migrate", writes=True)
def migrate(common: Common) -> None:
    """Apply the migrations that are due, all of them or none."""
    from negmem.core import cluster

    with common.session() as session:
        common.answer(cluster.migrate(session, dry_run=common.dry_run), _draw_schema)


@command(app, "db upgrade", writes=True)
def upgrade(common: Common) -> None:
    """Bring an installation up to this program: pgvector's SQL, migrations, managed functions."""
    from negmem.core import cluster

    with common.session() as session:
        common.answer(cluster.upgrade(session, dry_run=common.dry_run), _draw_schema)


def _draw_cluster(console: Console, found: Any) -> None:
    state = f"running, pid {found.pid}" if found.running else "stopped"
    console.out(f"state    {state}")
    console.out(f"server   {found.server_version or 'not made yet'}")
    console.out(f"data     {found.data_dir}")
    console.out(f"url      {found.url}")


def _draw_schema(console: Console, found: Any) -> None:
    console.out(f"database {found.database}, PostgreSQL {found.server_version}")
    console.out(f"vector   {found.vector_version or 'not installed'}")
    for name in found.applied_now:
        console.out(f"applied  {name}")
    for name in found.pending:
        console.out(f"due      {name}")
    if not found.applied_now and not found.pending:
        console.out(f"schema   {found.schema_name}: all {len(found.applied)} migrations stand")
