"""Who may do what: the one list of roles and grants, that `init --roles` makes and `diff` compares with.

A table that is missing here is granted to nobody but the owner; a test holds the list to the migrations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

RoleKey = Literal["owner", "app", "reader", "auditor"]
ROLE_KEYS: tuple[RoleKey, ...] = ("owner", "app", "reader", "auditor")
PURPOSES: Mapping[RoleKey, str] = {
    "owner": "owns the objects; migrations, sync, jobs, erasure",
    "app": "reads and writes memories; the trail only through record_audit_entries()",
    "reader": "searches and lists, writes nothing",
    "auditor": "reads the audit trail with its details, and what it speaks of",
}

ObjectKind = Literal["schema", "table", "sequence", "function", "default"]

_NOTHING = ""
_READ = "SELECT"
_WRITE = "DELETE INSERT SELECT UPDATE"
_INSTALLATION = " ".join(
    f"SELECT({column})"
    for column in (
        "single", "id", "created_at", "created_by", "roles_requested", "row_security_requested",
    )
)  # fmt: skip
"""All of it but erasure_key."""

# table → what app, reader and auditor may do
TABLES: dict[str, tuple[str, str, str]] = {
    # what was said, and what is kept of it
    "users": (_WRITE, _READ, _READ),
    "threads": (_WRITE, _READ, _READ),
    "events": (_WRITE, _READ, _READ),
    "memories": (_WRITE, _READ, _READ),
    "memory_versions": (_WRITE, _READ, _READ),
    "item_sources": (_WRITE, _READ, _READ),
    "memory_pii": (_WRITE, _READ, _READ),
    "facts": (_WRITE, _READ, _READ),
    "memory_conflicts": (_WRITE, _READ, _READ),
    "memory_associations": (_WRITE, _READ, _READ),
    "memory_summaries": (_WRITE, _READ, _READ),
    "memory_topics": (_WRITE, _READ, _READ),
    "memory_topic_members": (_WRITE, _READ, _READ),
    "memory_formation": (_WRITE, _READ, _READ),
    "memory_core_blocks": (_WRITE, _READ, _READ),
    "instructions": (_WRITE, _READ, _READ),
    "memory_preload_cache": (_WRITE, _READ, _READ),
    # what searches read, and the record of them
    "embedding_models": (_READ, _READ, _READ),
    "memory_vectors": (_WRITE, _READ, _READ),
    "memory_terms": (_WRITE, _READ, _READ),
    "memory_term_stats": (_WRITE, _READ, _READ),
    "fact_vectors": (_WRITE, _READ, _READ),
    "fact_terms": (_WRITE, _READ, _READ),
    "fact_term_stats": (_WRITE, _READ, _READ),
    "memory_retrieval_logs": (_WRITE, _NOTHING, _READ),
    "retrieval_feedback": (_WRITE, _NOTHING, _READ),
    # what is learned
    "namespaces": (_WRITE, _READ, _READ),
    "namespace_members": (_WRITE, _READ, _READ),
    "learnings": (_WRITE, _READ, _READ),
    "entities": (_WRITE, _READ, _READ),
    "entity_facts": (_WRITE, _READ, _READ),
    "entity_events": (_WRITE, _READ, _READ),
    "entity_relations": (_WRITE, _READ, _READ),
    "shared_vectors": (_WRITE, _READ, _READ),
    "shared_terms": (_WRITE, _READ, _READ),
    "shared_term_stats": (_WRITE, _READ, _READ),
    "shared_item_versions": (_WRITE, _READ, _READ),
    "proposals": (_WRITE, _READ, _READ),
    "decisions": (_WRITE, _READ, _READ),
    "tool_calls": (_WRITE, _NOTHING, _READ),
    # the queue; configuration and jobs are the owner's to change
    "consolidation_jobs": (_WRITE, _READ, _READ),
    "installation": (_INSTALLATION, _INSTALLATION, _INSTALLATION),
    "schema_migrations": (_READ, _READ, _READ),
    "memory_automation_configs": (_READ, _READ, _READ),
    "memory_automation_config_history": (_READ, _READ, _READ),
    "managed_objects": (_READ, _READ, _READ),
    "automation_runs": (_READ, _READ, _READ),
    "scheduler_leader": (_READ, _READ, _READ),
    "replaced_definitions": (_NOTHING, _NOTHING, _NOTHING),
    "benchmark_runs": (_NOTHING, _NOTHING, _NOTHING),
    # the trail: app writes it through record_audit_entries() alone, which runs as the owner
    "memory_audit_logs": (_NOTHING, _NOTHING, _READ),
    "audit_details": (_NOTHING, _NOTHING, _READ),
    "audit_requests": (_NOTHING, _NOTHING, _READ),
    "audit_keys": (_NOTHING, _NOTHING, _NOTHING),
    "erased_persons": (_NOTHING, _NOTHING, _READ),
}
SEQUENCES: dict[str, tuple[str, str, str]] = {
    "events_sequence_num_seq": ("USAGE", _NOTHING, _NOTHING),
}
# What the owner may do to a table, where that is not everything.
SCHEMA_OWNED: dict[str, str] = {"memory_audit_logs": "R, adds"}
# Functions run with the caller's rights: whoever may call one still needs the tables. The exceptions run as
# the owner.
_FUNCTIONS = ("EXECUTE", "EXECUTE", "EXECUTE")
AS_OWNER: dict[str, tuple[str, str, str]] = {
    "record_audit_entries": ("EXECUTE", _NOTHING, _NOTHING),
    "objection_since": ("EXECUTE", "EXECUTE", "EXECUTE"),
    "erased_on": ("EXECUTE", "EXECUTE", "EXECUTE"),
    "trail_details": (_NOTHING, _NOTHING, "EXECUTE"),
    "trail_persons": (_NOTHING, _NOTHING, "EXECUTE"),
}
# What the owner makes later. Tables get nothing by themselves: one may hold a secret.
LATER: dict[str, tuple[str, str, str]] = {
    "functions": ("EXECUTE", "EXECUTE", "EXECUTE"),
    "sequences": ("USAGE", _NOTHING, _NOTHING),
}
_SCHEMA = ("USAGE", "USAGE", "USAGE")


class Grant(NamedTuple):
    """One privilege on one object; `grantee` is a role's name or PUBLIC.

    `name`: of a function with its argument types; for kind `default` functions or sequences.
    """

    kind: ObjectKind
    name: str
    grantee: str
    privilege: str


def declared(
    names: Mapping[RoleKey, str],
    *,
    schema: str,
    tables: Iterable[str],
    sequences: Iterable[str],
    functions: Iterable[str],
) -> set[Grant]:
    """What should be granted on the objects that stand; the owner needs none, and PUBLIC gets none.

    Args: functions, signatures such as `related_count(text, text, uuid, uuid)`.
    """
    listed: list[tuple[ObjectKind, str, tuple[str, str, str]]] = [("schema", schema, _SCHEMA)]
    listed += [("table", name, TABLES[name]) for name in tables if name in TABLES]
    listed += [("sequence", name, SEQUENCES[name]) for name in sequences if name in SEQUENCES]
    listed += [
        ("function", one, AS_OWNER.get(one.partition("(")[0], _FUNCTIONS)) for one in functions
    ]
    listed += [("default", name, given) for name, given in LATER.items()]
    return {
        Grant(kind, name, names[key], privilege)
        for kind, name, given in listed
        for key, privileges in zip(ROLE_KEYS[1:], given, strict=True)
        for privilege in privileges.split()
    }
