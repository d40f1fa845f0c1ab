"""Checks of what is stored: bounded looks and samples, never a full count of a large table."""

from __future__ import annotations

from negmem.core.diagnostics import repairs
from negmem.core.diagnostics.probe import Probe
from negmem.core.diagnostics.registry import Found, check
from negmem.db.sqlfiles import quote_identifier

_COUNT_MOST = 20_000
_SAMPLE = 5_000
_POSTINGS_SAMPLE = 20_000
_STATISTICS_USERS = 10
_STATISTICS_DOCUMENTS = 1_000
_LOOK_MOST = 1_000
_LOOK_MOST_USERS = 10_000
_QUEUE_OLD_S = 86_400
_PURGE_GRACE_DAYS = 2
_READABLE = ("schema_outdated", "table_missing", "table_not_readable")


def _percent(probe: Probe, table: str, wanted: int) -> float:
    """The share of a table's pages to sample so that about `wanted` rows come back."""
    estimated = probe.tables[table]["estimated_rows"]
    return 100.0 if estimated <= wanted else max(0.001, 100.0 * wanted / estimated)


def _about(probe: Probe, table: str, wanted: int) -> str:
    return "" if _percent(probe, table, wanted) == 100.0 else "about "


def _memories(probe: Probe) -> str:
    """How many memories there are, exact where that is cheap."""
    counted = int(probe.row("diagnostics", "memory_count", {"most": _COUNT_MOST + 1})["counted"])
    if counted <= _COUNT_MOST:
        return f"{counted:,}"
    return f"about {max(counted, probe.tables['memories']['estimated_rows']):,}"


@check("embedding_missing", "data", needs=_READABLE, slow=True, repair=repairs.embed_missing)
def embedding_missing(probe: Probe) -> Found | None:
    """Every live memory has a vector of its app's active model."""
    total = _memories(probe)
    probe.note("data", "1 memory" if total == "1" else f"{total} memories")
    params = {"percent": _percent(probe, "memories", _SAMPLE), "most": _SAMPLE}
    row = probe.row("diagnostics", "embedding_missing", params)
    if row["seen"] == 0:
        if total != "0":
            probe.note("data", "no embedding model: keyword search only")
        return None
    if row["missing"] == 0:
        probe.note("data", "all embedded")
        return None
    share = row["missing"] / row["seen"]
    about = _about(probe, "memories", _SAMPLE)
    probe.note("data", f"{about}{share:.1%} without embedding")
    return Found(
        "these memories are out of reach for vector search; keyword search finds them",
        evidence=f"{row['missing']:,} of {row['seen']:,} looked at ({share:.1%}) have no vector of"
        f" their app's active model ({', '.join(row['apps'])}); the oldest was written"
        f" {row['oldest']:%Y-%m-%d %H:%M} UTC",
        remedy=f"negmem doctor --fix --only embedding_missing --app {row['apps'][0]}",
    )


@check("vector_dims_differ", "data", needs=_READABLE, slow=True)
def vector_dims_differ(probe: Probe) -> Found | None:
    """The stored vectors have the dimensions that their model says."""
    params = {"percent": _percent(probe, "memory_vectors", _SAMPLE), "most": _SAMPLE}
    row = probe.row("diagnostics", "vector_dims", params)
    if not row["wrong"] and not row["unknown"]:
        return None
    schema = quote_identifier(probe.database.schema)
    return Found(
        "vectors that don't fit their model: searches that meet them fail",
        evidence=f"of {row['seen']:,} looked at, {row['wrong']:,} have other dimensions,"
        f" {row['unknown']:,} name no known model",
        remedy=f"DELETE FROM {schema}.memory_vectors AS v USING {schema}.embedding_models AS m"
        " WHERE m.app_name = v.app_name AND m.id = v.model_id"
        " AND length(v.bits) <> m.dims;   then negmem doctor --fix",
        severity="fail",
    )


@check("orphan_terms", "data", needs=_READABLE, slow=True, repair=repairs.remove_orphan_terms)
def orphan_terms(probe: Probe) -> Found | None:
    """No search term points to a memory that is gone."""
    percent = _percent(probe, "memory_terms", _POSTINGS_SAMPLE)
    params = {"percent": percent, "most": _POSTINGS_SAMPLE}
    found = probe.rows("diagnostics", "orphan_terms", params)
    if not found:
        return None
    return Found(
        "search terms point to memories that are gone: keyword scores are off",
        evidence=f"{len(found):,} such memories in a look at {_POSTINGS_SAMPLE:,} postings, one is"
        f" {found[0]['memory_id']}",
        remedy="negmem doctor --fix",
    )


@check(
    "term_statistics_wrong",
    "data",
    needs=_READABLE,
    slow=True,
    repair=repairs.recount_term_statistics,
)
def term_statistics_wrong(probe: Probe) -> Found | None:
    """The counts that BM25 divides by agree with the stored terms."""
    params = {
        "percent": _percent(probe, "memory_term_stats", _LOOK_MOST),
        "users": _STATISTICS_USERS,
        "most": _STATISTICS_DOCUMENTS,
    }
    found = probe.rows("diagnostics", "term_statistics", params)
    if not found:
        return None
    first = found[0]
    return Found(
        "term statistics don't agree with the terms: keyword scores are off",
        evidence=f"{len(found)} of up to {_STATISTICS_USERS} users looked at; one has"
        f" {first['documents']} memories and length {first['total_len']} on record,"
        f" {first['real_documents']} and {first['real_total_len']} in the terms",
        remedy="negmem doctor --fix",
    )


@check("words_missing", "data", needs=_READABLE, slow=True, repair=repairs.index_missing_words)
def words_missing(probe: Probe) -> Found | None:
    """Memories are indexed by their words."""
    params = {
        "percent": _percent(probe, "memory_term_stats", _LOOK_MOST),
        "users": _STATISTICS_USERS,
        "most": 20 * _STATISTICS_DOCUMENTS,
    }
    found = probe.rows("diagnostics", "unsearchable_words", params)
    if not found:
        return None
    first = found[0]
    return Found(
        "memories are out of reach for keyword search",
        evidence=f"{len(found)} of up to {_STATISTICS_USERS} users looked at; one has"
        f" {first['memories']} memories, {first['documents']} of them indexed by word",
        remedy="negmem doctor --fix",
    )


@check("accesses_waiting", "data", needs=_READABLE, repair=repairs.apply_accesses)
def accesses_waiting(probe: Probe) -> Found | None:
    """What searches recorded has been added to the memories."""
    row = probe.row("diagnostics", "waiting_accesses", {"most": _LOOK_MOST})
    if row["oldest_s"] < _QUEUE_OLD_S:
        return None
    more = "or more " if row["waiting"] == _LOOK_MOST else ""
    is_long = row["waiting"] == _LOOK_MOST
    return Found(
        "recorded accesses wait to be added: retention and importance lag behind",
        evidence=f"{row['waiting']:,} {more}searches, the oldest of"
        f" {row['oldest']:%Y-%m-%d %H:%M} UTC; the job cleanup_memories adds them",
        remedy="negmem doctor --fix",
        severity="warn" if is_long else "info",
    )


@check("forgetting_held_back", "data", needs=_READABLE)
def forgetting_held_back(probe: Probe) -> Found | None:
    """The last sweep took all that was due, and was not held back by max_share."""
    rows = probe.rows("diagnostics", "last_sweep")
    if not rows or not rows[0]["message"]:
        return None
    probe.note("data", "some wait to be forgotten")
    return Found(
        "the last sweep was held back; the rest goes on the following days",
        evidence=f"{rows[0]['message']} (run of {rows[0]['finished_at']:%Y-%m-%d %H:%M} UTC)",
        remedy="negmem config set automation.retention.max_share SHARE    to let more go in a day",
        severity="info",
    )


@check("purge_overdue", "data", needs=_READABLE)
def purge_overdue(probe: Probe) -> Found | None:
    """What is over its lifetime is purged: removed memories, and searches with their feedback."""
    limits = probe.session.config.retention
    row = probe.row(
        "diagnostics",
        "purge_overdue",
        {
            "app_name": probe.session.app,
            "window_days": limits.restore_window_days,
            "log_days": limits.retrieval_log_days,
            "grace_days": _PURGE_GRACE_DAYS,
            "most": _LOOK_MOST_USERS,
        },
    )
    found = [
        f"a {what} of {row[at]:%Y-%m-%d} still stands, and should for {days} days"
        for what, at, days in (
            ("memory removed", "removed_at", limits.restore_window_days),
            ("search", "searched_at", limits.retrieval_log_days),
        )
        if row[at] is not None
    ]
    if not found:
        return None
    app = probe.session.app
    return Found(
        "nobody purges what is over its lifetime: neither pg_cron nor the predefined jobs do",
        evidence="; ".join(found),
        remedy="negmem scheduler run    or the line that negmem automation export gives, in cron"
        if limits.purge_daily
        else f"negmem retention purge --dry-run --app {app}    daily: retention.purge_daily",
        severity="warn" if limits.purge_daily else "info",
    )


@check("jobs_parked", "data", needs=_READABLE)
def jobs_parked(probe: Probe) -> Found | None:
    """No consolidation job used up its attempts."""
    row = probe.row("diagnostics", "parked_jobs", {"most": _LOOK_MOST})
    if row["parked"] == 0:
        return None
    probe.note("data", f"{row['parked']:,} jobs parked")
    return Found(
        "consolidation jobs are parked: their threads form no facts and summaries",
        evidence=f"{row['parked']:,} jobs; one says: {row['error'] or 'nothing'}",
        remedy=f"negmem consolidate --retry --app {row['app']}    the reasons:"
        f" negmem consolidate --list --state parked --app {row['app']}",
    )


@check("jobs_waiting", "data", needs=_READABLE)
def jobs_waiting(probe: Probe) -> Found | None:
    """Somebody empties the queue of consolidation."""
    row = probe.row("diagnostics", "waiting_jobs", {"most": _LOOK_MOST})
    if row["waiting"] == 0 or row["oldest_s"] < _QUEUE_OLD_S:
        return None
    more = " or more" if row["waiting"] == _LOOK_MOST else ""
    return Found(
        "conversations wait to be consolidated: what they say forms no facts, summaries and links yet",
        evidence=f"{row['waiting']:,}{more} jobs, the oldest due since"
        f" {row['oldest']:%Y-%m-%d %H:%M} UTC; nobody works on the queue",
        remedy=f"negmem consolidate --app {row['app']}    and, to keep it empty, the same in cron, or"
        " negmem scheduler run with automation.consolidation.enabled",
        severity="info",
    )
