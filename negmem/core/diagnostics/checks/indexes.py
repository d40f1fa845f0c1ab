"""Checks of the indexes: there, valid, as the migrations made them, and used by search and sweep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, NotNeededError, check
from negmem.db.expected import expected_schema
from negmem.db.sqlfiles import quote_identifier

# Below these sizes a scan of the whole table is what a good planner does.
_LARGE_PAGES = 2_000
_PAGE_BYTES = 8_192
_MIN_VISIBLE_SHARE = 0.7
_SCANNED_TABLES = ("memory_vectors", "memory_terms")
_SHAPE = re.compile(
    r" ON \S+ \((?P<key>[^()]*)\)(?: INCLUDE \((?P<included>[^()]*)\))?(?: |$)(?!\()"
)


def _broken(probe: Probe) -> list[str]:
    return [name for name, index in probe.indexes.items() if not index["is_valid"]]


@check("index_missing", "indexes", needs=("schema_outdated", "table_missing"))
def index_missing(probe: Probe) -> Found | None:
    """Every index that the migrations made still stands."""
    expected = expected_schema().indexes
    missing = [name for name in expected if name not in probe.indexes]
    if not missing:
        if not _broken(probe):
            probe.note("indexes", f"{len(expected)} indexes valid")
        return None
    probe.note("indexes", f"{len(missing)} missing")
    return Found(
        "indexes are missing: what they carry reads whole tables, or is not unique any more",
        evidence=", ".join(f"{name} on {expected[name]}" for name in missing[:6]),
        remedy="negmem sync",
    )


@check("index_invalid", "indexes", needs=("schema_foreign",))
def index_invalid(probe: Probe) -> Found | None:
    """No index is left over from a build that failed."""
    broken = _broken(probe)
    if not broken:
        return None
    probe.note("indexes", f"{len(broken)} invalid")
    expected = expected_schema().indexes
    others = [name for name in broken if name not in expected]
    by_hand = (
        quote_identifier(probe.database.schema) + "." + quote_identifier((others or broken)[0])
    )
    return Found(
        "an index is invalid: it costs every write and serves no read",
        evidence=f"indisvalid is false for {', '.join(broken[:6])}",
        remedy=f"REINDEX INDEX CONCURRENTLY {by_hand};"
        if len(others) == len(broken)
        else "negmem sync" + (f"    and REINDEX INDEX CONCURRENTLY {by_hand};" if others else ""),
    )


@check("index_differs", "indexes", needs=("index_missing",))
def index_differs(probe: Probe) -> Found | None:
    """The indexes hold the columns that the migrations gave them."""
    differing = []
    for name, statement in expected_schema().statements.items():
        live = probe.indexes.get(name)
        columns = _columns(statement)
        if live is None or columns is None:
            continue
        is_unique = statement.startswith("CREATE UNIQUE")
        if (live["columns"], live["is_unique"]) != (columns, is_unique):
            differing.append((name, live, columns))
    if not differing:
        return None
    name, live, columns = differing[0]
    probe.note("indexes", f"{len(differing)} differ")
    return Found(
        f"{', '.join(n for n, _, _ in differing[:6])}: not the index that negmem made",
        evidence=f"{name} holds {', '.join(live['columns'])}; expected {', '.join(columns)}",
        remedy="negmem sync",
    )


def _columns(statement: str) -> list[str] | None:
    """Key and included columns that a CREATE INDEX names; None where it has expressions."""
    match = _SHAPE.search(" ".join(statement.split()))
    if match is None:
        return None
    names = [match["key"], *([match["included"]] if match["included"] else [])]
    return [part.split()[0] for name in names for part in name.split(",")]


@check("search_reads_table", "indexes", needs=("index_missing", "table_not_readable"), slow=True)
def search_reads_table(probe: Probe) -> Found | list[Found] | None:
    """Search finds its rows by index, in both arms (the plans, not the settings, are looked at)."""
    return _plans(
        probe,
        (("explain_vector_arm", "memory_vectors"), ("explain_word_arm", "memory_terms")),
        "search reads the whole table",
    )


@check("sweep_reads_table", "indexes", needs=("index_missing", "table_not_readable"), slow=True)
def sweep_reads_table(probe: Probe) -> Found | list[Found] | None:
    """The forgetting sweep finds what is due by index."""
    return _plans(probe, (("explain_sweep", "memories"),), "the sweep reads the whole table")


def _plans(probe: Probe, arms: tuple[tuple[str, str], ...], title: str) -> list[Found]:
    large = [(block, table) for block, table in arms if _is_large(probe, table)]
    owners = probe.rows("diagnostics", "largest_owner") if large else []
    if not owners:
        raise NotNeededError("the tables are small: any plan is right")
    findings = []
    for block, table in large:
        plan = probe.rows("diagnostics", block, owners[0])[0]["QUERY PLAN"]
        scans = [n for n in _nodes(plan[0]["Plan"]) if n["Node Type"].endswith("Seq Scan")]
        if scans:
            findings.append(
                Found(
                    f"{title} {table}: time grows with all users, not with one",
                    evidence=f"EXPLAIN: {scans[0]['Node Type']} on {table},"
                    f" {probe.tables[table]['pages']:,} pages",
                    remedy=f"ANALYZE {quote_identifier(probe.database.schema)}.{table};"
                    "   and look at enable_indexscan, random_page_cost",
                )
            )
    return findings


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from _nodes(inner)


def _is_large(probe: Probe, table: str) -> bool:
    found = probe.tables.get(table)
    return found is not None and found["pages"] >= _LARGE_PAGES


@check("visibility_low", "indexes", needs=("table_not_readable",))
def visibility_low(probe: Probe) -> Found | None:
    """The visibility map lets index-only scans stay in the index."""
    low = []
    for name in _SCANNED_TABLES:
        if not _is_large(probe, name):
            continue
        table = probe.tables[name]
        share = table["visible_pages"] / max(1, table["pages"])
        if share < _MIN_VISIBLE_SHARE:
            low.append((name, share))
    if not low:
        return None
    schema = quote_identifier(probe.database.schema)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in low)
    probe.note("indexes", f"visible pages: {shares}")
    return Found(
        "index-only scans go to the table for each row: searches take several times as long",
        evidence=f"all-visible pages: {shares}; autovacuum keeps them near 100 %",
        remedy=f"VACUUM {', '.join(f'{schema}.{name}' for name, _ in low)};",
    )


@check("statistics_missing", "indexes", needs=("table_not_readable",), slow=True)
def statistics_missing(probe: Probe) -> Found | None:
    """Large tables have statistics for the planner."""
    unmeasured = [name for name, table in probe.tables.items() if table["is_unmeasured"]]
    if not unmeasured:
        return None
    params = {"schema": probe.database.schema, "names": unmeasured}
    rows = probe.rows("diagnostics", "sizes", params)
    blind = [row["name"] for row in rows if row["bytes"] >= _LARGE_PAGES * _PAGE_BYTES]
    if not blind:
        return None
    schema = quote_identifier(probe.database.schema)
    return Found(
        "tables were never analyzed: the planner guesses",
        evidence=f"no statistics for {', '.join(blind[:6])}; is autovacuum on?",
        remedy=f"ANALYZE {', '.join(f'{schema}.{name}' for name in blind)};",
    )
