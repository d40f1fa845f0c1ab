"""Checks of the managed functions: there, as this program writes them, and callable."""

from __future__ import annotations

import time

from negmem.core.diagnostics import repairs
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, NotNeededError, check
from negmem.core.formulas.fusion import rrf_score
from negmem.core.formulas.retention import retention_score
from negmem.core.models.grants import AS_OWNER
from negmem.db.failures import DatabaseError
from negmem.db.functions import Comparison
from negmem.db.look import CANCELLED
from negmem.db.sqlfiles import function_names, quote_identifier

_READY = ("schema_outdated", "table_missing", "config_missing", "stored_config_invalid")
_SHOWN = 4
_SLOW_SEARCH_MS = 1_000
_WRITER_MENDS = "negmem sync    or: negmem doctor --fix"


@check("function_missing", "functions", needs=_READY, repair=repairs.update_functions)
def function_missing(probe: Probe) -> Found | None:
    """Every managed function stands, each overload."""
    wanted = [c for c in probe.comparisons.items if c.wanted is not None]
    missing = [c.signature for c in wanted if c.state == "missing"]
    probe.note("functions", f"{len(wanted) - len(missing)} of {len(wanted)} present")
    if not missing:
        return None
    probe.note("functions", f"{len(missing)} missing")
    return Found(
        f"{_named(missing)}: what calls {'it' if len(missing) == 1 else 'them'} fails",
        evidence=f"not in schema {quote_identifier(probe.database.schema)} (pg_proc)",
        remedy=_WRITER_MENDS,
        severity="fail",
    )


def _named(signatures: list[str]) -> str:
    shown = ", ".join(signatures[:_SHOWN])
    return shown + (f" and {len(signatures) - _SHOWN} more" if len(signatures) > _SHOWN else "")


@check("function_drifted", "functions", needs=_READY, repair=repairs.update_functions)
def function_drifted(probe: Probe) -> list[Found]:
    """The managed functions are what this program and the stored config make of them."""
    differing = [
        c for c in probe.comparisons.items if c.state in ("outdated", "edited", "unmanaged")
    ]
    drifted = [c for c in differing if c.signature not in probe.cosmetic]
    cosmetic = [c.signature for c in differing if c.signature in probe.cosmetic]
    if drifted:
        probe.note("functions", f"{len(drifted)} drifted")
    if probe.comparisons.reduced:
        probe.note("functions", "bodies alone compared")
    by_hand = [c for c in drifted if c.is_by_hand]
    outdated = [c for c in drifted if not c.is_by_hand]
    found = [*map(_edited, by_hand), *([_outdated(outdated)] if outdated else [])]
    if cosmetic:
        found.append(
            Found(
                f"{_named(cosmetic)}: written differently, and does the same",
                evidence="spacing, comments, cost or rows differ",
                remedy="negmem sync",
                severity="info",
            )
        )
    return found


def _outdated(comparisons: list[Comparison]) -> Found:
    stamp = comparisons[0].live.stamp if comparisons[0].live else None
    parts = sorted({part for c in comparisons for part in c.differences})
    return Found(
        f"{_named([c.signature for c in comparisons])}: outdated; the stored config or the program"
        " changed since",
        evidence=f"as negmem {stamp.version if stamp else '?'} wrote them; {', '.join(parts)} differ",
        remedy=_WRITER_MENDS,
        severity="fail",
    )


def _edited(comparison: Comparison) -> Found:
    stamp = comparison.live.stamp if comparison.live else None
    written = f"negmem {stamp.version} wrote it" if stamp else "it bears no mark of negmem"
    how = "edited by hand" if stamp else "not written by negmem"
    return Found(
        f"{comparison.signature}: {how}; it may not do what the documentation says",
        evidence=f"{written}; {', '.join(comparison.differences)} differ",
        remedy="negmem diff    look before overwriting: negmem sync --overwrite-edited --yes",
        severity="fail",
    )


@check("function_leftover", "functions", needs=_READY)
def function_leftover(probe: Probe) -> Found | None:
    """No function stands that negmem wrote once and ships no more."""
    left = [c.signature for c in probe.comparisons.items if c.state == "leftover"]
    if not left:
        return None
    return Found(
        "functions of an older negmem still stand; nothing calls them",
        evidence=", ".join(left[:6]),
        remedy="negmem sync --prune --yes",
        severity="info",
    )


@check("function_not_executable", "functions", needs=("function_missing",))
def function_not_executable(probe: Probe) -> Found | None:
    """This role may call the managed functions."""
    names = set(function_names())
    if not all(table["can_write"] for name, table in probe.tables.items() if name == "memories"):
        # Who only reads has no use for what writes with the owner's rights.
        names -= AS_OWNER.keys()
    trail = probe.tables.get("memory_audit_logs")
    if trail is not None and not trail["can_read"]:
        # The trail is not this role's to read, and neither is what reads it with the owner's rights.
        names -= {name for name, (app, _, _) in AS_OWNER.items() if not app}
    refused = sorted(
        {f["name"] for f in probe.function_access if f["name"] in names and not f["can_execute"]}
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
    probe.search_ms = (time.perf_counter() - started) * 1000
    probe.note("functions", f"a search in {probe.search_ms:.0f} ms")
    return None


@check("search_slow", "functions", needs=("search_fails",), slow=True)
def search_slow(probe: Probe) -> Found | None:
    """That search comes back within a second."""
    took_ms = probe.search_ms
    if took_ms is None:
        raise NotNeededError("no search was made")
    if took_ms < _SLOW_SEARCH_MS:
        return None
    compiles = probe.row("diagnostics", "compiles")["compiles"]
    database = quote_identifier(probe.server.database)
    return Found(
        f"a search for one row takes {took_ms / 1000:.1f} s",
        evidence=f"{took_ms:,.0f} ms for one row of one user; jit is {'on' if compiles else 'off'}",
        remedy=f"ALTER DATABASE {database} SET jit = off;    if that does not help: negmem doctor"
        " --only indexes"
        if compiles
        else "negmem doctor --only indexes    and look at what else the server does",
    )
