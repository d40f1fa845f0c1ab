"""Checks of the managed functions: there, as this program writes them, and callable."""

from __future__ import annotations

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, RepairPlan, check
from negmem.db.sqlfiles import function_names, quote_identifier


def _missing(probe: Probe) -> list[str]:
    have = {row["name"] for row in probe.functions}
    return [name for name in function_names() if name not in have]


def _install_missing(probe: Probe) -> RepairPlan | None:
    """Install the managed functions again, where some are missing."""
    missing = _missing(probe)
    if not missing:
        return None

    def act() -> str:
        from negmem.core.installation import install

        install(probe.session)
        return f"created {', '.join(missing)}"

    return RepairPlan(f"create {', '.join(missing)}", act)


@check(
    "function_missing",
    "functions",
    needs=("schema_outdated", "table_missing", "config_missing"),
    repair=_install_missing,
)
def function_missing(probe: Probe) -> Found | list[Found] | None:
    """Every managed function exists."""
    names = function_names()
    missing = _missing(probe)
    probe.note("functions", f"{len(names) - len(missing)} of {len(names)} present")
    if not missing:
        return None
    probe.note("functions", f"{len(missing)} missing")
    schema = quote_identifier(probe.database.schema)
    return Found(
        f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}: what calls it fails",
        evidence=f"pg_proc has no such function in schema {schema}",
        remedy="negmem sync    or: negmem doctor --fix",
        severity="fail",
    )


@check("function_not_executable", "functions", needs=("function_missing",))
def function_not_executable(probe: Probe) -> Found | None:
    """This role may call the managed functions."""
    names = set(function_names())
    refused = sorted(
        {f["name"] for f in probe.functions if f["name"] in names and not f["can_execute"]}
    )
    if not refused:
        return None
    schema, role = quote_identifier(probe.database.schema), quote_identifier(probe.server.role)
    probe.note("functions", f"{len(refused)} not callable")
    return Found(
        f"this role may not call {', '.join(refused[:4])}",
        evidence=f"no EXECUTE as {probe.server.role}",
        remedy=f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role};",
    )
