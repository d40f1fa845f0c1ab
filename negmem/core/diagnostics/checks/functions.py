"""Checks of the managed functions: there, as this program writes them, and callable."""

from __future__ import annotations

from negmem.core.diagnostics import repairs
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, check
from negmem.core.formulas.fusion import rrf_score
from negmem.core.formulas.retention import retention_score
from negmem.db.sqlfiles import function_names, quote_identifier


def _missing(probe: Probe) -> list[str]:
    have = {row["name"] for row in probe.functions}
    return [name for name in function_names() if name not in have]


@check(
    "function_missing",
    "functions",
    needs=("schema_outdated", "table_missing", "config_missing"),
    repair=repairs.create_missing_functions,
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


# Terms of one sentence in two languages: stems, no stop words, Chinese pairs and single characters.
_TERMS = ["check", "doctor", "忆", "记", "记忆"]
_AGE_DAYS, _ACCESSES = 7.0, 3


@check("function_answers_wrong", "functions", needs=("function_missing", "function_not_executable"))
def function_answers_wrong(probe: Probe) -> Found | None:
    """Managed functions answer on this server as their twins in this program do."""
    row = probe.row("diagnostics", "answers", {"age_days": _AGE_DAYS, "accesses": _ACCESSES})
    wrong = []
    if row["terms"] != _TERMS:
        wrong.append(f"search_terms gives {row['terms']}, not {_TERMS}")
    for name, expected in (
        ("retention", retention_score(_ACCESSES, _AGE_DAYS, _AGE_DAYS, decay_lambda=0.1)),
        ("fused", rrf_score([1])),
    ):
        if abs(row[name] - expected) > 1e-9:
            function = {"retention": "calculate_retention_score", "fused": "rrf_score"}[name]
            wrong.append(f"{function} gives {row[name]:.6f}, not {expected:.6f}")
    if not wrong:
        return None
    probe.note("functions", f"{len(wrong)} answer wrongly")
    return Found(
        "managed functions give other answers here than they must",
        evidence="; ".join(wrong),
        remedy="negmem diff    shows what differs; negmem sync puts it right",
        severity="fail",
    )
