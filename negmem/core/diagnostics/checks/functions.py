"""Checks of the managed functions: there, as this program writes them, and callable."""

from __future__ import annotations

import time

from negmem.core.diagnostics import repairs
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, check
from negmem.core.formulas.fusion import rrf_score
from negmem.core.formulas.retention import retention_score
from negmem.db.failures import DatabaseError
from negmem.db.look import CANCELLED
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


@check(
    "search_fails",
    "functions",
    needs=("function_missing", "function_not_executable", "table_not_readable", "vector_too_old"),
    slow=True,
)
def search_fails(probe: Probe) -> Found | None:
    """A search for one row comes back."""
    owners = probe.rows("diagnostics", "largest_owner")
    app = probe.session.app
    owner = owners[0] if owners else {"user_id": "doctor", "app_name": app}
    models = probe.rows("diagnostics", "active_model", {"app_name": owner["app_name"]})
    params = {
        "user_id": owner["user_id"],
        "app_name": owner["app_name"],
        "dims": models[0]["dims"] if models else None,
    }
    started = time.perf_counter()
    try:
        probe.rows("diagnostics", "search_once", params)
    except DatabaseError as error:
        if error.sqlstate == CANCELLED:
            raise
        probe.note("functions", "search fails")
        return Found(
            "a search for one row fails, and so does every other",
            evidence=error.why,
            remedy="negmem diff    shows what differs; negmem sync puts it right",
            severity="fail",
        )
    probe.note("functions", f"a search in {(time.perf_counter() - started) * 1000:.0f} ms")
    return None
