"""A schema as the first design's own migrations made it, with its known faults, and rows in it."""

from __future__ import annotations

from tests.support.databases import TestDatabase

VECTOR = "[" + ",".join(["0.5", "-0.25"] + ["0"] * 1534) + "]"

TABLES = """
CREATE SCHEMA negentropy;
CREATE SEQUENCE negentropy.events_sequence_num_seq;
CREATE TABLE negentropy.threads (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), app_name varchar(255) NOT NULL, user_id varchar(255) NOT NULL,
    state jsonb NOT NULL DEFAULT '{}', version integer NOT NULL DEFAULT 1, metadata jsonb DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT threads_app_user_unique UNIQUE (app_name, user_id, id));
CREATE TABLE negentropy.events (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    thread_id uuid NOT NULL REFERENCES negentropy.threads (id) ON DELETE CASCADE,
    invocation_id uuid NOT NULL, author varchar(50) NOT NULL, event_type varchar(50) NOT NULL,
    content jsonb NOT NULL DEFAULT '{}', actions jsonb DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now(),
    sequence_num integer NOT NULL DEFAULT nextval('negentropy.events_sequence_num_seq'));
CREATE TABLE negentropy.memories (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    thread_id uuid REFERENCES negentropy.threads (id) ON DELETE SET NULL,
    user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    memory_type varchar(50) NOT NULL DEFAULT 'episodic', content text NOT NULL, embedding vector(1536),
    metadata jsonb DEFAULT '{}', retention_score float8 NOT NULL DEFAULT 1.0,
    importance_score float8 NOT NULL DEFAULT 0.5, access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz DEFAULT now(), created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(), search_vector tsvector);
CREATE INDEX idx_memories_search_vector ON negentropy.memories USING gin (search_vector);
CREATE FUNCTION negentropy.memories_update_search_vector() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.search_vector := to_tsvector('english', coalesce(NEW.content, '')); RETURN NEW; END $$;
CREATE TRIGGER trigger_memories_search_vector BEFORE INSERT OR UPDATE OF content ON negentropy.memories
    FOR EACH ROW EXECUTE FUNCTION negentropy.memories_update_search_vector();
CREATE TABLE negentropy.facts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    thread_id uuid REFERENCES negentropy.threads (id) ON DELETE SET NULL,
    user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    fact_type varchar(50) NOT NULL DEFAULT 'preference', key varchar(255) NOT NULL, value jsonb NOT NULL,
    embedding vector(1536), confidence float8 NOT NULL DEFAULT 1.0, importance_score float8 NOT NULL DEFAULT 0.5,
    valid_from timestamptz DEFAULT now(), valid_until timestamptz,
    superseded_by uuid CONSTRAINT fk_facts_superseded_by REFERENCES negentropy.facts (id) ON DELETE SET NULL,
    status varchar(20) NOT NULL DEFAULT '''active''', superseded_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT facts_user_key_unique UNIQUE (user_id, app_name, fact_type, key));
CREATE TABLE negentropy.consolidation_jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    thread_id uuid NOT NULL REFERENCES negentropy.threads (id) ON DELETE CASCADE,
    status varchar(20) NOT NULL DEFAULT 'pending', job_type varchar(50) NOT NULL, result jsonb DEFAULT '{}',
    error text, started_at timestamptz, completed_at timestamptz, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE negentropy.memory_automation_configs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), app_name varchar(255) NOT NULL UNIQUE,
    config jsonb NOT NULL DEFAULT '{}', updated_by varchar(255),
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE negentropy.memory_audit_logs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), app_name varchar(255) NOT NULL, user_id varchar(255) NOT NULL,
    memory_id varchar(255) NOT NULL, decision varchar(20) NOT NULL, note text, idempotency_key varchar(255),
    version integer NOT NULL DEFAULT 1, created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memory_audit_logs_idempotency_unique UNIQUE (app_name, user_id, memory_id, idempotency_key));
CREATE TABLE negentropy.memory_summaries (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    summary_type varchar(50) NOT NULL DEFAULT '''user_profile''', content text NOT NULL, token_count integer,
    source_memory_count integer, source_fact_count integer, model_used varchar(255),
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memory_summaries_user_type_unique UNIQUE (user_id, app_name, summary_type));
CREATE TABLE negentropy.memory_retrieval_logs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    thread_id uuid, query text NOT NULL, retrieved_memory_ids uuid[] NOT NULL, retrieved_fact_ids uuid[],
    was_referenced boolean, reference_count integer DEFAULT 0, outcome_feedback varchar(50),
    created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE negentropy.memory_conflicts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    old_fact_id uuid REFERENCES negentropy.facts (id) ON DELETE SET NULL,
    new_fact_id uuid REFERENCES negentropy.facts (id) ON DELETE CASCADE,
    conflict_type varchar(50) NOT NULL DEFAULT '''contradiction''',
    resolution varchar(50) NOT NULL DEFAULT '''supersede''', confidence_delta float8,
    detected_by varchar(50) NOT NULL DEFAULT '''key_collision''', metadata jsonb DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE negentropy.memory_associations (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), source_id uuid NOT NULL,
    source_type varchar(20) NOT NULL DEFAULT '''memory''', target_id uuid NOT NULL,
    target_type varchar(20) NOT NULL DEFAULT '''memory''',
    association_type varchar(50) NOT NULL DEFAULT '''semantic''', weight float8 NOT NULL DEFAULT 0.5,
    metadata jsonb DEFAULT '{}', user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT assoc_unique UNIQUE (source_id, target_id, association_type));
CREATE TABLE negentropy.memory_preload_cache (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    preload_context text NOT NULL, memory_ids uuid[] NOT NULL, fact_ids uuid[] DEFAULT '{}', token_count integer,
    relevance_basis varchar(50) NOT NULL DEFAULT '''importance_recency''',
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE negentropy.memory_core_blocks (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id varchar(255) NOT NULL, app_name varchar(255) NOT NULL,
    scope varchar(20) NOT NULL DEFAULT '''user''', thread_id uuid, label varchar(64) NOT NULL DEFAULT '''persona''',
    content text NOT NULL, token_count integer, version integer NOT NULL DEFAULT 1, updated_by varchar(64),
    metadata jsonb DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memory_core_blocks_scope_check CHECK (scope IN ('user', 'app', 'thread')),
    CONSTRAINT memory_core_blocks_unique UNIQUE NULLS NOT DISTINCT (user_id, app_name, scope, thread_id, label));
CREATE TABLE negentropy.alembic_version (version_num varchar(32) PRIMARY KEY);
INSERT INTO negentropy.alembic_version VALUES ('0047');
"""

ROWS = f"""
INSERT INTO negentropy.threads (id, app_name, user_id, created_at, updated_at) VALUES
    ('10000000-0000-0000-0000-000000000001', 'negmem', 'ann', '2026-03-01T08:00Z', '2026-03-02T08:00Z'),
    ('10000000-0000-0000-0000-000000000002', 'shop', 'bob', '2026-03-01T08:00Z', '2026-03-02T08:00Z');
INSERT INTO negentropy.events (id, thread_id, invocation_id, author, event_type, content, sequence_num) VALUES
    ('20000000-0000-0000-0000-000000000001', '10000000-0000-0000-0000-000000000001', gen_random_uuid(), 'user',
     'message', '{{"parts": [{{"text": "我不吃辣"}}]}}', 41),
    ('20000000-0000-0000-0000-000000000002', '10000000-0000-0000-0000-000000000001', gen_random_uuid(), 'model',
     'message', '{{"parts": [{{"text": "noted"}}]}}', 42);
INSERT INTO negentropy.memories
    (id, thread_id, user_id, app_name, memory_type, content, embedding, metadata, access_count, created_at) VALUES
    ('30000000-0000-0000-0000-000000000001', '10000000-0000-0000-0000-000000000001', 'ann', 'negmem', 'preference',
     '安不吃辣的东西', '{VECTOR}', '{{"source": "session", "relevance_weight": 1.2}}', 3, '2026-03-01T09:00Z'),
    ('30000000-0000-0000-0000-000000000002', NULL, 'ann', 'negmem', 'episodic',
     'Ann flew to Lisbon in May', '{VECTOR}', '{{"deleted": true, "deleted_reason": "asked",
     "deleted_at": "2026-03-05T10:00:00+00:00"}}', 0, '2026-03-01T09:05Z'),
    ('30000000-0000-0000-0000-000000000003', NULL, 'ann', 'negmem', 'episodic',
     'Ann flew to Lisbon', NULL, '{{"deleted": "true", "merged_into": "30000000-0000-0000-0000-000000000002"}}',
     0, '2026-03-01T09:06Z'),
    ('30000000-0000-0000-0000-000000000004', '10000000-0000-0000-0000-000000000001', 'bob', 'shop', 'core',
     'Bob is allergic to nuts', NULL, NULL, -1, '2026-03-01T09:07Z');
INSERT INTO negentropy.facts (id, user_id, app_name, key, value, embedding) VALUES
    ('40000000-0000-0000-0000-000000000001', 'ann', 'negmem', 'food', '{{"text": "不吃辣"}}', '{VECTOR}');
INSERT INTO negentropy.facts (id, user_id, app_name, key, value, status, superseded_by, superseded_at) VALUES
    ('40000000-0000-0000-0000-000000000002', 'ann', 'negmem', 'city', '{{"text": "Lisbon"}}', 'superseded',
     '40000000-0000-0000-0000-000000000002', now()),
    ('40000000-0000-0000-0000-000000000003', 'bob', 'shop', 'city', '{{"text": "Porto"}}', 'active', NULL, NULL);
INSERT INTO negentropy.consolidation_jobs (thread_id, job_type, status) VALUES
    ('10000000-0000-0000-0000-000000000001', 'full_consolidation', 'pending'),
    ('10000000-0000-0000-0000-000000000001', 'full_consolidation', 'running'),
    ('10000000-0000-0000-0000-000000000001', 'full_consolidation', 'completed');
INSERT INTO negentropy.memory_automation_configs (app_name, config, updated_by) VALUES
    ('negmem', '{{"retention": {{"min_age_days": 14}}}}', 'ops'), ('shop', '{{}}', NULL);
INSERT INTO negentropy.memory_audit_logs (app_name, user_id, memory_id, decision, note, created_at) VALUES
    ('negmem', 'ann', '30000000-0000-0000-0000-000000000002', 'delete', '她要求删除', '2026-03-05T10:00Z');
INSERT INTO negentropy.memory_summaries (user_id, app_name, content) VALUES ('ann', 'negmem', 'Ann eats mild food');
INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids, outcome_feedback)
    VALUES ('ann', 'negmem', '吃什么', ARRAY['30000000-0000-0000-0000-000000000001']::uuid[], 'helpful');
INSERT INTO negentropy.memory_conflicts (user_id, app_name, old_fact_id, new_fact_id) VALUES
    ('ann', 'negmem', '40000000-0000-0000-0000-000000000001', '40000000-0000-0000-0000-000000000002');
INSERT INTO negentropy.memory_associations (source_id, target_id, user_id, app_name) VALUES
    ('30000000-0000-0000-0000-000000000001', '30000000-0000-0000-0000-000000000002', 'ann', 'negmem'),
    ('30000000-0000-0000-0000-000000000001', '30000000-0000-0000-0000-000000000001', 'ann', 'negmem');
INSERT INTO negentropy.memory_preload_cache (user_id, app_name, preload_context, memory_ids)
    VALUES ('ann', 'negmem', 'old', '{{}}');
INSERT INTO negentropy.memory_core_blocks (user_id, app_name, scope, content) VALUES
    ('ann', 'negmem', 'user', '安住在里斯本'), ('ann', 'negmem', 'app', 'Answer briefly'),
    ('bob', 'negmem', 'app', 'Answer briefly');
"""


def make(database: TestDatabase, *, rows: bool = True) -> None:
    """Make the schema in an empty database."""
    with database.connect() as connection:
        connection.execute(b"CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute((TABLES + (ROWS if rows else "")).encode())


def everything(database: TestDatabase) -> dict[str, list[str]]:
    """Every row of the schema as text, by table: what must be the same after a refusal."""
    names = database.rows(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = 'negentropy' ORDER BY 1"
    )
    return {
        name: [
            str(row[0])
            for row in database.rows(f'SELECT t::text FROM negentropy."{name}" AS t ORDER BY 1')
        ]
        for (name,) in names
    }
