"""What people do to a database by hand: what `diff` must find, and what it must not.

A statement is run as it stands. `Edit` changes the text of a function as an editor would: the server's own
text of it, some words replaced, run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

Found = tuple[str, str, str]
"""Kind, name (of a function without its arguments), reason."""


@dataclass(frozen=True)
class Edit:
    """Words of a function's text replaced by others."""

    function: str
    old: str
    new: str

    def run(self, connection: psycopg.Connection[Any]) -> None:
        """Write the function anew with other words."""
        row = connection.execute(
            "SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p"
            " WHERE p.pronamespace = 'negentropy'::regnamespace AND p.proname = %s",
            (self.function,),
        ).fetchone()
        assert row is not None
        assert self.old in row[0], f"{self.old!r} is not in {self.function}"
        connection.execute(row[0].replace(self.old, self.new).encode())


@dataclass(frozen=True)
class Alteration:
    """One thing done by hand. `found` is everything that must be found, `differs` what of it differs."""

    name: str
    act: str | Edit
    found: tuple[Found, ...]
    differs: tuple[str, ...] = ()
    significance: str = "semantic"

    def run(self, connection: psycopg.Connection[Any]) -> None:
        """Do it."""
        if isinstance(self.act, Edit):
            self.act.run(connection)
        else:
            connection.execute(self.act.encode())


def function(name: str, reason: str = "edited") -> tuple[Found, ...]:
    """One function, found for one reason."""
    return (("function", name, reason),)


def index(name: str, reason: str) -> tuple[Found, ...]:
    """One index, found for one reason."""
    return (("index", name, reason),)


def config(key: str, reason: str = "stored_changed") -> tuple[Found, ...]:
    """One key of the stored config, found for one reason."""
    return (("config", f"automation.{key}", reason),)


def alter(name: str, what: str) -> str:
    """ALTER FUNCTION of a function that has one form."""
    return f"ALTER FUNCTION negentropy.{name} {what}"


def again(name: str, create: str) -> str:
    """A function dropped and made anew."""
    return f"DROP FUNCTION negentropy.{name}; CREATE FUNCTION negentropy.{create}"


def stored(path: str, value: str) -> str:
    """A value of the stored config, changed past negmem."""
    return (
        "UPDATE negentropy.memory_automation_configs SET config ="
        f" jsonb_set(config, '{{{path.replace('.', ',')}}}', '{value}', true)"
    )


def reindex(name: str, definition: str, *, unique: bool = False) -> str:
    """An index dropped and made otherwise under the same name."""
    kind = "UNIQUE INDEX" if unique else "INDEX"
    return f"DROP INDEX negentropy.{name}; CREATE {kind} {name} ON negentropy.{definition}"


RRF_HEAD = "RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE"
RRF = "rrf_score(p_rank bigint, p_k integer DEFAULT 60)"
RRF_BODY = """
    SELECT CASE WHEN p_rank >= 1 THEN 1 / (GREATEST(0, p_k) + p_rank)::float8 ELSE 0 END
"""
OTHER_FORM = "CREATE FUNCTION negentropy.rrf_score(integer, integer) RETURNS float8 LANGUAGE sql AS 'SELECT 1.0::float8'"
STAMPED = "CREATE FUNCTION negentropy.{0}() RETURNS integer LANGUAGE sql AS 'SELECT 1'; COMMENT ON FUNCTION negentropy.{0} IS 'once [negmem 0.0.1 template 0123456789abcdef definition 0123456789abcdef]'"

FUNCTIONS = (
    # what it does
    Alteration("a constant", Edit("association_weight_entity", "0.5", "0.6"), function("association_weight_entity"), ("body",)),
    Alteration("an operator", Edit("weighted_score", "+ p_keyword_weight", "- p_keyword_weight"), function("weighted_score"), ("body",)),
    Alteration("letter case inside a literal", Edit("weighted_score", "NULLIF(p_semantic, 'NaN')", "NULLIF(p_semantic, 'nan')"), function("weighted_score"), ("body",)),
    Alteration("a space inside a literal", Edit("weighted_score", "NULLIF(p_semantic, 'NaN')", "NULLIF(p_semantic, ' NaN')"), function("weighted_score"), ("body",)),
    Alteration("<=> written as sqlglot would", Edit("ranked_items", "(1 - (v.embedding <=> v_embedding)", "(1 - (v.embedding IS NOT DISTINCT FROM v_embedding)::integer"), function("ranked_items"), ("body",)),
    Alteration("another distance", Edit("ranked_items", "v.embedding <=> v_embedding)", "v.embedding <-> v_embedding)"), function("ranked_items"), ("body",)),
    Alteration("parentheses that regroup", Edit("rrf_score", "1 / (GREATEST(0, p_k) + p_rank)::float8", "1 / GREATEST(0, p_k)::float8 + p_rank"), function("rrf_score"), ("body",)),
    Alteration("a condition left out", Edit("forget_memories", "SET deleted_at = now(), ", "SET deleted_at = clock_timestamp(), "), function("forget_memories"), ("body",)),
    Alteration("code commented out", Edit("proactive_rank", "+ 0.10", "-- + 0.10"), function("proactive_rank"), ("body",)),
    # how it is called
    Alteration("another default", Edit("rrf_score", "DEFAULT 60", "DEFAULT 61"), function("rrf_score"), ("defaults",)),
    Alteration("a default's type", Edit("weighted_score", "0.7", "0.70"), function("weighted_score"), ("defaults",)),
    Alteration("a default given", Edit("rrf_score", "p_rank bigint", "p_rank bigint DEFAULT 1"), function("rrf_score"), ("defaults",)),
    Alteration("a default that config sets", Edit("cleanup_low_value_memories", "p_min_age_days integer DEFAULT 8", "p_min_age_days integer DEFAULT 0"), function("cleanup_low_value_memories"), ("defaults",)),
    Alteration("a default taken", again("rrf_score", f"rrf_score(p_rank bigint, p_k integer) {RRF_HEAD} AS $${RRF_BODY}$$"), function("rrf_score", "unmanaged"), ("defaults",)),
    Alteration("a parameter's name", again("rrf_score", f"rrf_score(p_rank bigint, p_const integer DEFAULT 60) {RRF_HEAD} AS $$ SELECT 1.0::float8 $$"), function("rrf_score", "unmanaged"), ("parameters", "body")),
    Alteration("a parameter's type", again("rrf_score", f"rrf_score(p_rank integer, p_k integer DEFAULT 60) {RRF_HEAD} AS $$ SELECT 1.0::float8 $$"), function("rrf_score", "missing")),
    Alteration("a parameter more", again("rrf_score", f"rrf_score(p_rank bigint, p_k integer, p_more integer) {RRF_HEAD} AS $$ SELECT 1.0::float8 $$"), function("rrf_score", "missing")),
    Alteration("an OUT parameter", again("rrf_score", "rrf_score(p_rank bigint, p_k integer DEFAULT 60, OUT score float8) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 1.0::float8 $$"), function("rrf_score", "unmanaged"), ("parameters", "body")),
    Alteration("the return type", again("rrf_score", f"rrf_score(p_rank bigint, p_k integer DEFAULT 60) RETURNS real LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$"), function("rrf_score", "unmanaged"), ("result",)),
    Alteration("a set instead of a value", again("rrf_score", f"rrf_score(p_rank bigint, p_k integer DEFAULT 60) RETURNS SETOF float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$"), function("rrf_score", "unmanaged"), ("result", "rows")),
    # how it runs
    Alteration("the language", f"CREATE OR REPLACE FUNCTION negentropy.{RRF} RETURNS float8 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN 1; END $$", function("rrf_score"), ("language", "body")),
    Alteration("volatile", alter("rrf_score", "VOLATILE"), function("rrf_score"), ("volatility",)),
    Alteration("immutable", alter("proactive_rank", "IMMUTABLE"), function("proactive_rank"), ("volatility",)),
    Alteration("parallel unsafe", alter("rrf_score", "PARALLEL UNSAFE"), function("rrf_score"), ("parallel",)),
    Alteration("parallel restricted", alter("weighted_score", "PARALLEL RESTRICTED"), function("weighted_score"), ("parallel",)),
    Alteration("strict", alter("rrf_score", "STRICT"), function("rrf_score"), ("strict",)),
    Alteration("security definer", alter("rrf_score", "SECURITY DEFINER"), function("rrf_score"), ("security",)),
    Alteration("security definer of a writer", alter("forget_memories", "SECURITY DEFINER"), function("forget_memories"), ("security",)),
    Alteration("leakproof", alter("rrf_score", "LEAKPROOF"), function("rrf_score"), ("leakproof",)),
    Alteration("a search path", alter("rrf_score", "SET search_path = public"), function("rrf_score"), ("settings",)),
    Alteration("no search path", alter("forget_memories", "RESET search_path"), function("forget_memories"), ("settings",)),
    Alteration("a wider search path", alter("forget_memories", "SET search_path = negentropy, public, pg_catalog, pg_temp"), function("forget_memories"), ("settings",)),
    Alteration("another setting", alter("get_context_window", "SET work_mem = '1GB'"), function("get_context_window"), ("settings",)),
    Alteration("a standard body written as text", "CREATE OR REPLACE FUNCTION negentropy.index_terms(p_speaker text, p_content text, p_occurred_at timestamptz) RETURNS TABLE (term text, tf smallint, len integer) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 25 AS $$ SELECT 'x', 1::smallint, 1 $$", function("index_terms"), ("body",)),
    # whether it is there
    Alteration("dropped", "DROP FUNCTION negentropy.proactive_rank", function("proactive_rank", "missing")),
    Alteration("one form of two dropped", "DROP FUNCTION negentropy.calculate_retention_score(integer, timestamptz, double precision)", function("calculate_retention_score", "missing")),
    Alteration("renamed", alter("proactive_rank", "RENAME TO proactive_rank_old"), (("function", "proactive_rank", "missing"), ("function", "proactive_rank_old", "leftover"))),
    Alteration("moved", alter("proactive_rank", "SET SCHEMA public"), function("proactive_rank", "missing")),
    Alteration("a procedure in its place", "DROP FUNCTION negentropy.related_count; CREATE PROCEDURE negentropy.related_count() LANGUAGE sql AS 'SELECT 1'", function("related_count", "missing")),
    Alteration("a form negmem once wrote", STAMPED.format("once_wanted"), function("once_wanted", "leftover")),
    Alteration("another form of a wanted name, once negmem's", STAMPED.format("rrf_score").replace("FUNCTION negentropy.rrf_score IS", "FUNCTION negentropy.rrf_score() IS"), function("rrf_score", "leftover")),
    # whose it is, who may call it
    Alteration("the owner", alter("rrf_score", "OWNER TO negmem_t_other"), (("function", "rrf_score", "owner_changed"),), ("owner",)),
    Alteration("the owner of a writer", alter("forget_memories", "OWNER TO negmem_t_other"), (("function", "forget_memories", "owner_changed"),), ("owner",)),
    Alteration("nobody but the owner may call it", "REVOKE EXECUTE ON FUNCTION negentropy.forget_memories FROM PUBLIC", (("grant", "forget_memories", "grants_changed"),), ("grants",)),
    Alteration("not even the owner", "REVOKE EXECUTE ON FUNCTION negentropy.rrf_score FROM CURRENT_USER", (("grant", "rrf_score", "grants_changed"),), ("grants",)),
    Alteration("one role may call it", "GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO negmem_t_other", (("grant", "rrf_score", "grants_changed"),), ("grants",)),
    Alteration("one role may pass it on", "GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO negmem_t_other WITH GRANT OPTION", (("grant", "rrf_score", "grants_changed"),), ("grants",)),
    Alteration("owner and grants", f"{alter('rrf_score', 'OWNER TO negmem_t_other')}; REVOKE EXECUTE ON FUNCTION negentropy.rrf_score FROM PUBLIC", (("function", "rrf_score", "owner_changed"), ("grant", "rrf_score", "grants_changed"))),
    Alteration("edited, and given away", f"{alter('rrf_score', 'STRICT')}; {alter('rrf_score', 'OWNER TO negmem_t_other')}", (("function", "rrf_score", "edited"), ("function", "rrf_score", "owner_changed"))),
)  # fmt: skip

INDEXES = (
    Alteration("an index of search dropped", "DROP INDEX negentropy.idx_memory_vectors_bits", index("idx_memory_vectors_bits", "missing")),
    Alteration("an index of the sweep dropped", "DROP INDEX negentropy.idx_memories_due", index("idx_memories_due", "missing")),
    Alteration("a unique index dropped", "DROP INDEX negentropy.facts_user_key_unique", index("facts_user_key_unique", "missing")),
    Alteration("renamed", "ALTER INDEX negentropy.idx_facts_thread RENAME TO idx_facts_by_thread", (("index", "idx_facts_thread", "missing"), )),
    Alteration("a build that failed", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'negentropy.idx_memories_due'::regclass", index("idx_memories_due", "invalid"), ("valid",)),
    Alteration("a unique build that failed", "UPDATE pg_index SET indisready = false WHERE indexrelid = 'negentropy.facts_user_key_unique'::regclass", index("facts_user_key_unique", "invalid"), ("valid",)),
    Alteration("another order of columns", reindex("idx_memories_due", "memories (app_name, user_id, due_at) WHERE deleted_at IS NULL AND pinned_at IS NULL"), index("idx_memories_due", "edited"), ("definition",)),
    Alteration("another direction", reindex("idx_memories_user_app", "memories (user_id, app_name, created_at) WHERE deleted_at IS NULL"), index("idx_memories_user_app", "edited"), ("definition",)),
    Alteration("another condition", reindex("idx_memories_due", "memories (user_id, app_name, due_at) WHERE deleted_at IS NULL"), index("idx_memories_due", "edited"), ("definition",)),
    Alteration("no condition", reindex("idx_memories_deleted", "memories (user_id, app_name, deleted_at)"), index("idx_memories_deleted", "edited"), ("definition",)),
    Alteration("nothing included", reindex("idx_memory_vectors_bits", "memory_vectors (user_id, app_name, model_id) WHERE live"), index("idx_memory_vectors_bits", "edited"), ("definition",)),
    Alteration("not unique any more", reindex("facts_user_key_unique", "facts (user_id, app_name, fact_type, key) WHERE status = 'active' AND valid_until IS NULL AND deleted_at IS NULL"), index("facts_user_key_unique", "edited"), ("definition",)),
    Alteration("empty values told apart", reindex("consolidation_jobs_open_unique", "consolidation_jobs (user_id, app_name, thread_id, job_type) WHERE status IN ('pending', 'running')", unique=True), index("consolidation_jobs_open_unique", "edited"), ("definition",)),
    Alteration("another operator class", reindex("idx_threads_user_app", "threads (user_id varchar_pattern_ops, app_name, updated_at DESC)"), index("idx_threads_user_app", "edited"), ("definition",)),
    Alteration("another collation", reindex("idx_threads_user_app", 'threads (user_id COLLATE "POSIX", app_name, updated_at DESC)'), index("idx_threads_user_app", "edited"), ("definition",)),
    Alteration("another access method", reindex("idx_threads_updated_at", "threads USING brin (updated_at)"), index("idx_threads_updated_at", "edited"), ("definition",)),
    Alteration("an expression", reindex("idx_memories_thread", "memories (user_id, app_name, (thread_id::text), position)"), index("idx_memories_thread", "edited"), ("definition",)),
    Alteration("one that negmem once made", "CREATE INDEX idx_once ON negentropy.memories (user_id, position); INSERT INTO negentropy.managed_objects (kind, name, fingerprint, definition, negmem_version) VALUES ('index', 'idx_once', 'x', 'x', '0.0.1')", index("idx_once", "leftover")),
    Alteration("a build that was cut off", "CREATE INDEX idx_memories_due_negmem_new ON negentropy.memories (user_id)", index("idx_memories_due_negmem_new", "leftover")),
)  # fmt: skip

EXTENSIONS = (
    Alteration("pgvector older than offered", "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", (("extension", "vector", "outdated"),), ("version",)),
    Alteration("pgvector a digit older", "UPDATE pg_extension SET extversion = '0.8' WHERE extname = 'vector'", (("extension", "vector", "outdated"),), ("version",)),
)  # fmt: skip

CONFIG = (
    Alteration("a threshold", stored("retention.low_retention_threshold", "0.3"), (*config("retention.low_retention_threshold"), ("function", "cleanup_low_value_memories", "outdated"), ("function", "retention_crossing_time", "outdated"), ("function", "retention_settings", "outdated"))),
    Alteration("a switch", stored("retention.auto_cleanup_enabled", "true"), config("retention.auto_cleanup_enabled")),
    Alteration("a schedule", stored("consolidation.schedule", '"5 * * * *"'), config("consolidation.schedule")),
    Alteration("an interval", stored("consolidation.lookback_interval", '"2 hours"'), (*config("consolidation.lookback_interval"), ("function", "trigger_maintenance_consolidation", "outdated"))),
    Alteration("a budget", stored("context_assembler.max_tokens", "8000"), (*config("context_assembler.max_tokens"), ("function", "get_context_window", "outdated"))),
    Alteration("the whole document emptied", "UPDATE negentropy.memory_automation_configs SET config = '{}'", (*config("retention.low_retention_threshold"), *config("retention.min_age_days"), ("function", "cleanup_low_value_memories", "outdated"), ("function", "retention_crossing_time", "outdated"), ("function", "retention_settings", "outdated"))),
    Alteration("a key taken out", "UPDATE negentropy.memory_automation_configs SET config = config #- '{retention,min_age_days}'", (*config("retention.min_age_days"), ("function", "cleanup_low_value_memories", "outdated"), ("function", "retention_settings", "outdated"))),
    Alteration("a key that no YAML declares", stored("context_assembler.memory_ratio", "0.2"), function("get_context_window", "outdated")),
    Alteration("the model's size", "UPDATE negentropy.embedding_models SET dims = 512", (("embedding", "embedding.dims", "dims_differs"),), ("dims",)),
    Alteration("the model's name", "UPDATE negentropy.embedding_models SET model = 'another'", (("embedding", "embedding.model", "model_differs"),), ("model",)),
    Alteration("the model's provider", "UPDATE negentropy.embedding_models SET provider = 'local'", (("embedding", "embedding.provider", "provider_differs"),), ("provider",)),
)  # fmt: skip

COSMETIC = (
    Alteration("spacing", Edit("rrf_score", "SELECT CASE WHEN", "SELECT\n\n      CASE   WHEN"), function("rrf_score"), ("body",), "cosmetic"),
    Alteration("a comment", Edit("rrf_score", "ELSE 0 END", "ELSE 0 END -- 倒数排名"), function("rrf_score"), ("body",), "cosmetic"),
    Alteration("a block comment", Edit("rrf_score", "ELSE 0 END", "/* rank /* nested */ */ ELSE 0 END"), function("rrf_score"), ("body",), "cosmetic"),
    Alteration("keywords in lower case", Edit("rrf_score", "SELECT CASE WHEN", "select case when"), function("rrf_score"), ("body",), "cosmetic"),
    Alteration("parentheses for the eye", Edit("proactive_rank", "0.40 * LEAST(1, GREATEST(1e-200, NULLIF(p_importance_score, 'NaN')))", "(0.40 * LEAST(1, GREATEST(1e-200, NULLIF(p_importance_score, 'NaN'))))"), function("proactive_rank"), ("body",), "cosmetic"),
    Alteration("comments of a plpgsql body", Edit("forget_memories", "BEGIN", "BEGIN\n    -- by hand"), function("forget_memories"), ("body",), "cosmetic"),
    Alteration("cost", alter("rrf_score", "COST 50"), function("rrf_score"), ("cost",), "cosmetic"),
    Alteration("rows", alter("index_terms", "ROWS 40"), function("index_terms"), ("rows",), "cosmetic"),
)  # fmt: skip

UNSEEN = {
    "ends of lines": f"CREATE OR REPLACE FUNCTION negentropy.{RRF} {RRF_HEAD} AS $${RRF_BODY}$$".replace("\n", "\r\n"),
    "the same text again": Edit("weighted_score", "AS $function$", "AS $function$"),
    "types by their other names": f"CREATE OR REPLACE FUNCTION negentropy.rrf_score(p_rank int8, p_k int4 DEFAULT '60') RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $${RRF_BODY}$$".replace("'60'", "60"),
    "a function's comment": "COMMENT ON FUNCTION negentropy.rrf_score IS 'ours'",
    "no comment": "COMMENT ON FUNCTION negentropy.rrf_score IS NULL",
    "a grant that everybody has": "GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO PUBLIC",
    "a grant given and taken back": "GRANT EXECUTE ON FUNCTION negentropy.rrf_score TO negmem_t_other; REVOKE EXECUTE ON FUNCTION negentropy.rrf_score FROM negmem_t_other",
    "dropped and made anew as it was": f"DROP FUNCTION negentropy.rrf_score; CREATE FUNCTION negentropy.{RRF} {RRF_HEAD} AS $${RRF_BODY}$$",
    "another's function": "CREATE FUNCTION negentropy.theirs(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1'",
    "another's form of a name": OTHER_FORM,
    "another's aggregate": "CREATE AGGREGATE negentropy.total(integer) (SFUNC = int4pl, STYPE = integer)",
    "another's procedure": "CREATE PROCEDURE negentropy.job() LANGUAGE sql AS 'SELECT 1'",
    "the same name elsewhere": "CREATE FUNCTION public.rrf_score(bigint, integer) RETURNS float8 LANGUAGE sql AS 'SELECT 1.0::float8'",
    "another's table, view and trigger function": "CREATE TABLE negentropy.notes (id integer); CREATE VIEW negentropy.recent AS SELECT id FROM negentropy.memories; CREATE FUNCTION negentropy.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "another's index": "CREATE INDEX idx_theirs ON negentropy.memories (position)",
    "an index's comment": "COMMENT ON INDEX negentropy.idx_memories_due IS 'ours'",
    "an index's fill factor": "ALTER INDEX negentropy.idx_memories_due SET (fillfactor = 70)",
    "an index built anew": "REINDEX INDEX negentropy.idx_memories_due",
    "an index made again as it was": reindex("idx_memories_due", "memories USING btree (user_id, app_name, due_at) WHERE (deleted_at IS NULL) AND (pinned_at IS NULL)"),
    "a table clustered by an index": "ALTER TABLE negentropy.threads CLUSTER ON idx_threads_user_app",
    "statistics": "ANALYZE negentropy.memories",
    "the path of the session": "SET LOCAL search_path = negentropy, public",
    "notation of numbers and intervals": "SET LOCAL extra_float_digits = 0; SET LOCAL intervalstyle = 'postgres_verbose'; SET LOCAL quote_all_identifiers = off",
    "rows of people": "INSERT INTO negentropy.users (user_id, app_name) VALUES ('陈', 'negmem')",
    "a default spelled out in the config": stored("retention.max_rows", "10000"),
    "a number written otherwise": stored("retention.decay_lambda", "0.10"),
}  # fmt: skip
