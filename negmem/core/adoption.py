"""Takes over a schema that the first design's own migrations made: all of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from negmem.config.automation import effective_automation
from negmem.core.models.base import Model
from negmem.core.session import Session
from negmem.db import adoption as db
from negmem.db import ledger
from negmem.db.adoption import FoundTable
from negmem.db.connect import Connection
from negmem.errors import NegmemError

_ID = {"id": "uuid"}
_OWNER = {"user_id": "text", "app_name": "text"}
_TIMES = {"created_at": "timestamptz", "updated_at": "timestamptz"}

# table → column → the type as which it is read
FIRST_DESIGN: dict[str, dict[str, str]] = {
    "threads": {
        **_ID, **_OWNER, "state": "jsonb", "version": "integer", "metadata": "jsonb", **_TIMES,
    },
    "events": {
        **_ID, "thread_id": "uuid", "invocation_id": "uuid", "author": "text", "event_type": "text",
        "content": "jsonb", "actions": "jsonb", "created_at": "timestamptz", "sequence_num": "bigint",
    },
    "memories": {
        **_ID, "thread_id": "uuid", **_OWNER, "memory_type": "text", "content": "text",
        "embedding": "vector", "metadata": "jsonb", "retention_score": "float8",
        "importance_score": "float8", "access_count": "integer", "last_accessed_at": "timestamptz",
        **_TIMES,
    },
    "facts": {
        **_ID, "thread_id": "uuid", **_OWNER, "fact_type": "text", "key": "text", "value": "jsonb",
        "embedding": "vector", "confidence": "float8", "importance_score": "float8",
        "valid_from": "timestamptz", "valid_until": "timestamptz", "superseded_by": "uuid",
        "status": "text", "superseded_at": "timestamptz", **_TIMES,
    },
    "consolidation_jobs": {
        **_ID, "thread_id": "uuid", "status": "text", "job_type": "text", "result": "jsonb",
        "error": "text", "started_at": "timestamptz", "completed_at": "timestamptz",
        "created_at": "timestamptz",
    },
    "instructions": {
        **_ID, "app_name": "text", "instruction_key": "text", "content": "text", "version": "integer",
        "metadata": "jsonb", "created_at": "timestamptz",
    },
    "memory_automation_configs": {
        **_ID, "app_name": "text", "config": "jsonb", "updated_by": "text", **_TIMES,
    },
    "memory_audit_logs": {
        **_ID, **_OWNER, "memory_id": "text", "decision": "text", "note": "text",
        "idempotency_key": "text", "version": "integer", **_TIMES,
    },
    "memory_summaries": {
        **_ID, **_OWNER, "summary_type": "text", "content": "text", "token_count": "integer",
        "source_memory_count": "integer", "source_fact_count": "integer", "model_used": "text", **_TIMES,
    },
    "memory_retrieval_logs": {
        **_ID, **_OWNER, "thread_id": "uuid", "query": "text", "retrieved_memory_ids": "uuid[]",
        "retrieved_fact_ids": "uuid[]", "was_referenced": "boolean", "reference_count": "integer",
        "outcome_feedback": "text", "created_at": "timestamptz",
    },
    "memory_conflicts": {
        **_ID, **_OWNER, "old_fact_id": "uuid", "new_fact_id": "uuid", "conflict_type": "text",
        "resolution": "text", "confidence_delta": "float8", "detected_by": "text", "metadata": "jsonb",
        **_TIMES,
    },
    "memory_associations": {
        **_ID, "source_id": "uuid", "source_type": "text", "target_id": "uuid", "target_type": "text",
        "association_type": "text", "weight": "float8", "metadata": "jsonb", **_OWNER,
        "created_at": "timestamptz",
    },
    "memory_core_blocks": {
        **_ID, **_OWNER, "scope": "text", "thread_id": "uuid", "label": "text", "content": "text",
        "token_count": "integer", "version": "integer", "updated_by": "text", "metadata": "jsonb", **_TIMES,
    },
}  # fmt: skip
# What is made anew by itself, belongs to another part of that product, or is the record of its migrations.
LEFT_ASIDE = (
    "memory_preload_cache", "alembic_version", "kg_entities", "kg_relations", "scheduled_tasks",
    "task_executions",
)  # fmt: skip
_DERIVED_COLUMNS = frozenset({("memories", "search_vector")})
_MARKS = frozenset(
    {"id", "user_id", "app_name", "content", "memory_type", "retention_score", "metadata"}
)
# In an order in which every row finds what it refers to.
_ORDER = (
    "users", "threads", "events", "memories", "models", "memory_vectors", "facts", "fact_vectors",
    "memory_conflicts", "memory_associations", "memory_summaries", "memory_core_blocks",
    "instructions", "consolidation_jobs", "memory_retrieval_logs", "memory_audit_logs",
)  # fmt: skip
# Tables in which every row must arrive.
_COUNTED = (
    "threads", "events", "memories", "facts", "consolidation_jobs", "instructions",
    "memory_automation_configs", "memory_audit_logs", "memory_retrieval_logs", "memory_conflicts",
)  # fmt: skip


class Adoption(Model):
    """What `init` takes over: rows by table, what it puts right, what stays in the schema set aside."""

    kept_as: str
    rows: dict[str, int]
    repaired: dict[str, int]
    left_aside: list[str]
    notes: list[str]


def aside_name(schema: str) -> str:
    """What the old schema is called afterwards; names have at most 63 bytes."""
    suffix = "_before_negmem"
    return schema.encode()[: 63 - len(suffix)].decode(errors="ignore") + suffix


def recognised(session: Session) -> dict[str, FoundTable] | None:
    """The tables, where what stands in the schema was made by the first design; else None."""
    tables = db.found_tables(session.database)
    columns = {name: found.columns for name, found in tables.items()}
    return tables if is_first_design(columns) else None


def is_first_design(columns: Mapping[str, Collection[str]]) -> bool:
    """Whether tables with these columns are the first design's."""
    return "threads" in columns and set(columns.get("memories", ())) >= _MARKS


def plan(session: Session, tables: Mapping[str, FoundTable]) -> Adoption:
    """What an adoption would do; changes nothing. Raises: NegmemError `adoption_refused`."""
    database = session.database
    refused = _strangers(session, tables)
    if refused:
        raise _refusal(session, refused)
    with database.transaction() as connection, connection.transaction(force_rollback=True):
        connection.execute(db.statement(database, "in_utc"))
        db.make_views(database, connection, FIRST_DESIGN, _taken(tables))
        return _survey(session, connection, tables)


def begin(session: Session, connection: Connection) -> Adoption | None:
    """Set an old schema aside, its rows behind views, inside the caller's transaction; None where there is none to adopt.

    Raises: NegmemError `adoption_refused` with everything that can't be taken, `schema_foreign`.
    """
    database = session.database
    if not database.facts.schema_exists or database.facts.ledger_exists:
        return None
    tables = recognised(session)
    if tables is None:
        ledger.refuse_foreign(database)
        return None
    refused = _strangers(session, tables)
    if refused:
        raise _refusal(session, refused)
    connection.execute(db.statement(database, "in_utc"))
    db.lock(database, connection, _taken(tables))
    db.make_views(database, connection, FIRST_DESIGN, _taken(tables))
    planned = _survey(session, connection, tables)
    connection.execute(
        db.statement(database, "set_aside", old=database.schema, aside=planned.kept_as)
    )
    database.forget_facts()
    return planned


def take_configs(session: Session, connection: Connection) -> None:
    """The stored configs of the apps, before any app gets one of its own."""
    db.rows(session.database, connection, "take_configs", app_name=session.app)


def finish(session: Session, connection: Connection, planned: Adoption) -> Adoption:
    """Move the rows into the present tables, index and score them.

    Raises: NegmemError `adoption_incomplete` where a row was lost; the transaction rolls back.
    """
    database = session.database
    for name in _ORDER:
        db.rows(database, connection, f"take_{name}")
    db.rows(database, connection, "next_event", schema=database.schema)
    for block in ("index_memories", "index_facts", "rescore"):
        db.rows(database, connection, block)
    _check(session, connection, planned)
    db.drop_views(database, connection, FIRST_DESIGN)
    return planned


def _taken(tables: Mapping[str, FoundTable]) -> dict[str, FoundTable]:
    return {name: found for name, found in tables.items() if name in FIRST_DESIGN}


def _strangers(session: Session, tables: Mapping[str, FoundTable]) -> list[str]:
    """What stands there that the first design did not make, or that hinders setting it aside."""
    database = session.database
    refused = [
        f"{'table' if found.is_table else 'view'} {name}"
        for name, found in tables.items()
        if not found.is_table or name not in (*FIRST_DESIGN, *LEFT_ASIDE)
    ]
    refused += [
        f"column {name}.{column}"
        for name, found in tables.items()
        if name in FIRST_DESIGN
        for column in found.columns
        if column not in FIRST_DESIGN[name] and (name, column) not in _DERIVED_COLUMNS
    ]
    params = {"schema": database.schema}
    refused += [
        f"{row['dependent']} depends on it"
        for row in database.rows("installation", "outside_dependents", params)
    ]
    if database.facts.vector_schema == database.schema:
        refused.append(
            "the extension vector stands in it (ALTER EXTENSION vector SET SCHEMA public)"
        )
    if database.facts.vector_schema is None:
        refused.append("the extension vector is missing")
    aside = aside_name(database.schema)
    if db.schema_exists(database, aside):
        refused.append(f"schema {aside} exists already")
    return refused


def _survey(session: Session, connection: Connection, tables: Mapping[str, FoundTable]) -> Adoption:
    """Count what will be taken and put right. Raises: NegmemError `adoption_refused`."""
    database = session.database
    refused = [
        f"{row['what']} ({row['rows']:,})" for row in db.rows(database, connection, "problems")
    ]
    refused += _wrong_configs(session, connection)
    if refused:
        raise _refusal(session, refused)
    rows = {
        name: db.count_of(database, connection, name) for name in FIRST_DESIGN if name in tables
    }
    repaired = {row["what"]: int(row["rows"]) for row in db.rows(database, connection, "repairs")}
    return Adoption(
        kept_as=aside_name(database.schema),
        rows=rows,
        repaired=repaired,
        left_aside=[name for name in LEFT_ASIDE if name in tables],
        notes=_notes(session, tables),
    )


def _wrong_configs(session: Session, connection: Connection) -> list[str]:
    wrong = []
    for row in db.rows(session.database, connection, "configs"):
        try:
            effective_automation(row["config"] or {})
        except NegmemError as error:
            why = "; ".join(error.why.splitlines())
            wrong.append(f'the config of app "{row["app_name"]}": {why}')
    return wrong


def _notes(session: Session, tables: Mapping[str, FoundTable]) -> list[str]:
    notes = ["vectors are kept under an unknown model: no search compares them until it is told"]
    naive = [f"{t.name}.{column}" for t in tables.values() for column in t.naive]
    if naive:
        notes.append(f"times without a zone are read as UTC: {', '.join(naive)}")
    others = db.grantees(session.database)
    if others:
        notes.append(f"grants stay with the old tables: {', '.join(others)} need new ones")
    return notes


def _refusal(session: Session, refused: list[str]) -> NegmemError:
    return NegmemError(
        "adoption_refused",
        f'schema "{session.database.schema}" was made by the first design, and not all of it can be'
        " taken; nothing was changed",
        why="; ".join(refused),
        hint="put these right, or leave it alone: negmem init --schema ANOTHER_NAME",
    )


def _check(session: Session, connection: Connection, planned: Adoption) -> None:
    lost = []
    for name in _COUNTED:
        before = planned.rows.get(name, 0)
        after = db.taken_of(session.database, connection, name)
        if after < before:
            lost.append(f"{name}: {before - after} of {before}")
    if lost:
        raise NegmemError(
            "adoption_incomplete",
            "rows would be lost; nothing was changed",
            why="; ".join(lost),
            hint="negmem init --schema ANOTHER_NAME",
        )
