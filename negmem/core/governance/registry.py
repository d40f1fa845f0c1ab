"""The one list of every column that can hold personal data, and what becomes of it.

Scan, repair, export, anonymisation and erasure work from this list. A test holds it to the catalog: a table
or column without an entry fails it. docs/data-inventory.md is written from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "texts", "json", "name", "person", "actor", "terms", "vector", "hash"]
Owner = Literal["user", "kind", "hmac", "none"]
Erasure = Literal["rows", "cascade", "key", "none"]

KINDS: dict[Kind, tuple[str, str, bool]] = {
    "text": ("text", "rewritten", True),
    "texts": ("list of texts", "rewritten", True),
    "json": ("JSON, keys and values", "rewritten", True),
    "name": ("name that rows are asked by", "kept unless it names the person", True),
    "person": ("identifier of a person", "replaced by a pseudonym", True),
    "actor": (
        "who did it: a role, an operator, an agent",
        "replaced where it names the person",
        True,
    ),
    "terms": ("words of a text", "computed from what is left", False),
    "vector": ("computed from a text", "computed from what is left", False),
    "hash": ("hash of a text", "kept: the same input must be known again", False),
}
"""kind → what it is, what anonymising does with it, whether an export has it."""

SCANNED: tuple[Kind, ...] = ("text", "texts", "json", "name", "person", "actor")
REWRITTEN: tuple[Kind, ...] = ("text", "texts", "json")

OWNERS: dict[Owner, str] = {
    "user": "`user_id`, `app_name`",
    "kind": "`owner_kind` = user, `owner`, `app_name`",
    "hmac": "an HMAC under a key",
    "none": "nobody",
}
ERASURES: dict[Erasure, str] = {
    "rows": "deleted",
    "cascade": "deleted with the row that it belongs to",
    "key": "stays; it names nobody once the person's key is destroyed",
    "none": "stays: of no person",
}


@dataclass(frozen=True)
class Table:
    """One table: what it holds, whose, what erasure does, and its columns by kind.

    Columns that can't hold personal data are `plain`. `fixed` says that its texts may be rewritten in
    place; where they may not, `why_not` says why.
    """

    name: str
    holds: str
    owner: Owner
    erasure: Erasure
    columns: dict[str, Kind] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    is_fixed: bool = True
    why_not: str = ""

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Its columns of these kinds, in order."""
        return [name for name, kind in self.columns.items() if kind in kinds]


def _table(
    name: str,
    holds: str,
    owner: Owner = "user",
    erasure: Erasure = "rows",
    *,
    plain: str = "",
    why_not: str = "",
    **kinds: str,
) -> Table:
    """Columns are given by kind, separated by blanks; the owner's columns are added by themselves."""
    columns: dict[str, Kind] = {}
    if owner == "user":
        columns["user_id"] = "person"
    if owner == "kind":
        columns["owner"] = "person"
        plain += " owner_kind"
    if owner in ("user", "kind"):
        plain += " app_name"
    for kind in KINDS:
        columns.update(
            dict.fromkeys(kinds.pop(f"{kind}_" if kind == "name" else kind, "").split(), kind)
        )
    assert not kinds, f"{name}: {sorted(kinds)} are no kinds"
    return Table(
        name, holds, owner, erasure, columns, frozenset(plain.split()), not why_not, why_not
    )


TABLES: tuple[Table, ...] = (
    _table(
        "users", "whom an app knows", text="hold_reason",
        plain="created_at fades_threshold fades_lambda fades_min_age fades_importance fades_next"
        " paused_at held_at erasing_since",
    ),
    _table(
        "threads", "conversations", name_="external_id", json="state metadata",
        plain="id version occurred_at created_at updated_at",
    ),
    _table(
        "events", "what was said, turn by turn", text="author", json="content actions", hash="content_hash",
        plain="id thread_id invocation_id event_type position occurred_at created_at sequence_num",
    ),
    _table(
        "memories", "what is remembered", text="content deleted_reason", json="metadata",
        plain="id thread_id memory_type retention_score importance_score relevance_weight access_count"
        " last_accessed_at occurred_at position created_at updated_at fades_at fades_basis due_at pinned_at"
        " deleted_at version",
    ),
    _table(
        "memory_versions", "what memories said before a change", erasure="cascade", text="reason",
        json="before", actor="changed_by", plain="memory_id version changed_at",
    ),
    _table(
        "memory_vectors", "vectors of memories", erasure="cascade", vector="bits embedding",
        plain="memory_id model_id live",
    ),
    _table("memory_terms", "words of memories", terms="term", plain="memory_id tf len"),
    _table("memory_term_stats", "how many memories and words", plain="documents total_len"),
    _table(
        "memory_pii", "where personal data stands in memories: places, never the text", erasure="cascade",
        plain="memory_id kind span_start span_end score engine content_version",
    ),
    _table(
        "item_sources", "from which events an item came", plain="item_kind item_id event_id run_id extractor"
        " model created_at",
    ),
    _table(
        "memory_formation", "which step has seen a memory", erasure="cascade",
        plain="memory_id step content_version done_at",
    ),
    _table(
        "memory_topics", "groups of similar memories", text="label", vector="centroid",
        plain="id model_id member_count labelled_at_count created_at updated_at",
    ),
    _table(
        "memory_topic_members", "which memory is in which group", erasure="cascade",
        plain="memory_id topic_id similarity created_at",
    ),
    _table(
        "facts", "what is known by key, in versions", text="key deleted_reason", json="value metadata",
        plain="id thread_id fact_type confidence importance_score origin valid_from valid_until superseded_by"
        " status superseded_at expired_at access_count last_accessed_at pinned_at deleted_at version created_at"
        " updated_at",
    ),
    _table(
        "fact_vectors", "vectors of facts", erasure="cascade", vector="bits embedding",
        plain="fact_id model_id live",
    ),
    _table("fact_terms", "words of facts", terms="term", plain="fact_id tf len"),
    _table("fact_term_stats", "how many facts and words", plain="documents total_len"),
    _table(
        "memory_conflicts", "facts that stood against each other", json="metadata", actor="resolved_by",
        plain="id old_fact_id new_fact_id conflict_type resolution status confidence_delta detected_by"
        " created_at updated_at",
    ),
    _table(
        "memory_associations", "links between items", json="metadata",
        plain="id source_id source_type target_id target_type association_type weight valid_from valid_until"
        " expired_at created_at",
    ),
    _table(
        "memory_summaries", "summaries of a user or a thread", text="content", json="details",
        plain="id summary_type thread_id token_count source_memory_count source_fact_count model_used version"
        " created_at updated_at",
    ),
    _table(
        "memory_core_blocks", "texts that stand in every context", "kind", text="content", name_="label",
        json="metadata", person="user_id", actor="updated_by",
        plain="id scope thread_id token_count version created_at updated_at",
    ),
    _table(
        "memory_preload_cache", "the last recall, made anew when its basis changes", text="preload_context",
        json="details",
        plain="id memory_ids fact_ids token_count relevance_basis created_at updated_at basis expires_at",
        why_not="a cache: it is dropped instead",
    ),
    _table(
        "memory_retrieval_logs", "what was asked, by which account, and what it gave", text="query", json="items",
        actor="reader",
        plain="id thread_id retrieved_memory_ids retrieved_fact_ids search_level fallbacks latency_ms"
        " budget_tokens used_tokens was_referenced reference_count outcome_feedback counted applied_at"
        " created_at",
    ),
    _table(
        "retrieval_feedback", "what was thought of a search", erasure="cascade", actor="given_by",
        plain="id retrieval_id outcome memory_ids used_ids created_at rating",
    ),
    _table(
        "consolidation_jobs", "the queue of formation", text="error", json="payload result",
        plain="id thread_id status job_type attempts max_attempts next_attempt_at locked_by lease_until"
        " started_at completed_at parked_at created_at",
    ),
    _table(
        "decisions", "decisions of an agent and their reasons",
        text="decision reasoning context outcome", texts="alternatives tags", actor="agent_id team_id",
        plain="id thread_id decision_type confidence outcome_quality deleted_at version created_at updated_at",
    ),
    _table("tool_calls", "how often a tool was called: the rate limit", plain="tool window_start calls"),
    _table(
        "learnings", "what was learned", "kind", text="title learning context deleted_reason", texts="tags",
        json="metadata", actor="written_by", hash="body_hash",
        plain="id retention_score importance_score access_count last_accessed_at pinned_at deleted_at version"
        " created_at updated_at",
    ),
    _table(
        "entities", "people, firms and things", "kind", text="name description deleted_reason", name_="entity_id",
        texts="aliases", json="properties metadata", actor="written_by",
        plain="id entity_type importance_score access_count last_accessed_at archived_at deleted_at version"
        " created_at updated_at",
    ),
    _table(
        "entity_facts", "what is known of an entity", "kind", "cascade", text="content deleted_reason",
        actor="written_by",
        plain="id entity confidence superseded_by superseded_at deleted_at version created_at updated_at",
    ),
    _table(
        "entity_events", "what happened to an entity", "kind", "cascade",
        text="content date_text deleted_reason", actor="written_by",
        plain="id entity happened_at date_precision deleted_at version created_at updated_at",
    ),
    _table(
        "entity_relations", "how entities stand to each other", "kind", "cascade",
        text="relation deleted_reason", actor="written_by",
        plain="id source target weight valid_from valid_until expired_at deleted_at version created_at"
        " updated_at",
    ),
    _table(
        "shared_vectors", "vectors of learnings and entities", "kind", vector="bits embedding",
        plain="item_kind item_id model_id live",
    ),
    _table("shared_terms", "words of learnings and entities", "kind", terms="term", plain="item_kind item_id tf len"),
    _table("shared_term_stats", "how many of them", "kind", plain="item_kind documents total_len"),
    _table(
        "shared_item_versions", "what learnings, entities and core blocks said before", "kind",
        text="reason", json="before", actor="changed_by", plain="item_kind item_id version changed_at",
    ),
    _table(
        "proposals", "writes that wait for a person", "kind", text="rationale reason",
        json="payload evidence duplicates", person="user_id", actor="agent_id proposed_by decided_by",
        plain="id thread_id store op mode target_id target_version confidence model prompt_version status"
        " decided_at applied_id expires_at created_at",
    ),
    _table(
        "namespaces", "teams, and the app's own store", "none", "none", name_="name", actor="created_by",
        plain="app_name kind created_at",
    ),
    _table(
        "namespace_members", "who shares what", name_="namespace", actor="granted_by",
        plain="kind role granted_at",
    ),
    _table(
        "memory_audit_logs", "the trail: hashes, no text", "hmac", "key", hash="user_id note idempotency_key"
        " actor previous_hash entry_hash",
        plain="id app_name memory_id decision actor_verified version sequence created_at updated_at",
        why_not="append-only",
    ),
    _table(
        "audit_details", "the readable side of the trail", text="note idempotency_key", actor="actor",
        hash="salt", plain="log_id", why_not="its hashes stand in the trail: it is erased or stays",
    ),
    _table("audit_keys", "the key under which the trail names a person", hash="key", plain="created_at"),
    _table(
        "audit_requests", "which set of decisions a key stood for", text="idempotency_key",
        hash="request_hash", plain="created_at", why_not="a key that a repeat must meet",
    ),
    _table(
        "erased_persons", "who was erased, as HMAC under the installation's key", "hmac", "key",
        hash="person_hmac", json="certificate", plain="app_name erased_at", why_not="append-only",
    ),
    _table(
        "instructions", "texts of the operator for an app", "none", "none", text="content", name_="instruction_key",
        json="metadata", actor="created_by", plain="id app_name version created_at",
        why_not="written by the operator, who edits them",
    ),
    _table(
        "automation_runs", "runs of jobs", "none", "none", text="message", actor="started_by",
        plain="id job app_name source status rows_touched backend_pid started_at finished_at",
        why_not="a log",
    ),
    _table(
        "memory_automation_configs", "the stored config", "none", "none", actor="updated_by",
        plain="id app_name config is_main revision applied_yaml_hash applied_config_hash applied_at global_access"
        " created_at updated_at",
    ),
    _table(
        "memory_automation_config_history", "what the config was before", "none", "none", text="reason",
        actor="changed_by", plain="app_name revision config changed_keys changed_at", why_not="a log",
    ),
    _table(
        "managed_objects", "what negmem put into the database", "none", "none",
        actor="owner_name installed_by",
        plain="id kind name app_name database_name job_id fingerprint definition negmem_version installed_at",
    ),
    _table(
        "replaced_definitions", "texts of objects that were overwritten", "none", "none", actor="replaced_by",
        plain="id kind name definition reason replaced_at",
    ),
    _table(
        "schema_migrations", "the ledger of migrations", "none", "none", actor="applied_by applied_from",
        plain="version name checksum negmem_version applied_at took_ms",
    ),
    _table(
        "installation", "this installation and its key", "none", "none", actor="created_by",
        plain="single id created_at erasure_key roles_requested row_security_requested",
    ),
    _table(
        "embedding_models", "the models whose vectors are stored", "none", "none",
        plain="app_name id provider model version dims status calibration mean created_at activated_at settings"
        " lease_by lease_until"
        " retired_at",
    ),
    _table(
        "scheduler_leader", "which scheduler leads", "none", "none",
        plain="single instance host process_id since beat_at lease_until",
    ),
    _table(
        "benchmark_runs", "figures of benchmarks", "none", "none",
        plain="id kind dataset data_hash config versions metrics seed started_at finished_at",
    ),
)  # fmt: skip


def table(name: str) -> Table:
    """The entry of one table. Raises: KeyError."""
    return {one.name: one for one in TABLES}[name]


def owner_column(of: Table) -> str:
    """The column that says whose a row is, of a table with owner user or kind."""
    return "owner" if of.owner == "kind" else "user_id"


def scanned() -> Iterator[tuple[Table, list[str]]]:
    """Tables with the columns that a scan reads, in the order of the list.

    Whose a row is, is read in `users` alone.
    """
    for one in TABLES:
        columns = one.of_kind(*SCANNED)
        if one.owner in ("user", "kind") and one.name != "users":
            columns.remove(owner_column(one))
        if columns:
            yield one, columns
