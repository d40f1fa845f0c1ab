"""`negmem uninstall`: removes what negmem put into the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.cli.render.text import safe_text

if TYPE_CHECKING:
    from negmem.cli.render.console import Console

app = new_app("Remove what negmem put into the database.")


@command(app, "uninstall", writes=True)
def uninstall(common: Common) -> int:
    """Drop the schema with all memories in it; shows the reach and asks first.

    The extension pgvector stays. Objects elsewhere that depend on the schema stop it, and so do others' tables in it.
    """
    from negmem.core import installation

    console = common.console
    with common.session() as session:
        console.note(
            f"target: {session.database.label} (from {session.database.target.origin}),"
            f' schema "{session.database.schema}"'
        )
        found = installation.reach(session)
        if common.dry_run:
            common.answer(found, _draw)
            return ExitCode.DONE
        rows = sum(found.tables.values())
        console.confirm(
            f'drop schema "{found.schema_name}" with {len(found.tables)} tables, about {rows:,} rows'
            f" and {found.functions} functions"
            + (f", the jobs {', '.join(found.jobs)}" if found.jobs else "")
            + (f", and the roles {', '.join(found.roles)}" if found.roles else "")
            + "?"
        )
        common.answer(installation.uninstall(session), _draw)
    return ExitCode.DONE


def _draw(console: Console, reach: Any) -> None:
    verb = "removed" if reach.removed else "would remove"
    console.out(
        f"{verb} schema {reach.schema_name}: {len(reach.tables)} tables, {reach.functions} functions"
    )
    if reach.refused:
        console.out(f"not as this role: {safe_text(reach.refused)}")
    for name, rows in reach.tables.items():
        if rows:
            console.out(f"  {name}  about {rows:,} rows")
    if reach.jobs:
        console.out(safe_text(f"{verb} jobs {', '.join(reach.jobs)}"))
    for name, reason in reach.kept_jobs.items():
        kept = "kept" if reach.removed else "would keep"
        console.out(safe_text(f"{kept} job {name}: {reason}"))
    if reach.roles:
        console.out(f"{verb} roles {', '.join(reach.roles)}")
    for name, reason in reach.kept_roles.items():
        verb = "kept" if reach.removed else "would keep"
        console.out(safe_text(f"{verb} role {name}: {reason}"))
