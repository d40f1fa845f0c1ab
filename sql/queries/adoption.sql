-- Adopting a schema that the first design's own migrations made. Its tables are read through temporary views
-- of the same columns (pg_temp.first_…), whatever of them an installation had; a column that it lacked is null.

-- name: tables
-- params: schema
-- returns: tables, views and columns that stand in the schema
SELECT c.relname::text AS name, c.relkind IN ('r', 'p') AS is_table,
    ARRAY(SELECT a.attname::text FROM pg_attribute AS a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_attribute AS a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
              AND a.atttypid = 'timestamp'::regtype) AS naive
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY c.relname;

-- name: in_utc
-- Times without a zone, in columns and in text, are read as UTC, and moments are written down so.
SET LOCAL TimeZone = 'UTC';

-- name: schema_exists
-- params: name
SELECT 1 AS one FROM pg_namespace AS n WHERE n.nspname = %(name)s::name;

-- name: grantees
-- params: schema
-- returns: who else may use the schema: their grants stay with the tables that are set aside
SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END AS grantee
FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
WHERE n.nspname = %(schema)s::name AND a.grantee <> n.nspowner ORDER BY 1;

-- name: in_utc
-- Times without a zone are read as UTC, whatever the session says.
SET LOCAL TimeZone = 'UTC';

-- name: lock
LOCK TABLE :"old".:"table" IN SHARE ROW EXCLUSIVE MODE;

-- name: column
CAST(t.:"name" AS :type) AS :"name"

-- name: no_column
CAST(NULL AS :type) AS :"name"

-- name: view
CREATE TEMPORARY VIEW :"view" AS SELECT :columns FROM :"old".:"table" AS t;

-- name: view_of_nothing
CREATE TEMPORARY VIEW :"view" AS SELECT :columns LIMIT 0;

-- name: drop_view
DROP VIEW pg_temp.:"view";

-- name: set_aside
ALTER SCHEMA :"old" RENAME TO :"aside";

-- name: count
SELECT count(*) AS rows FROM pg_temp.:"view";

-- name: problems
-- returns: what can't be taken, a row a kind; none: everything can
WITH found (what, rows) AS (
    SELECT 'threads without a user or an app', count(*) FROM pg_temp.first_threads AS t
    WHERE COALESCE(t.user_id, '') = '' OR COALESCE(t.app_name, '') = ''
    UNION ALL
    SELECT 'memories without a user or an app', count(*) FROM pg_temp.first_memories AS t
    WHERE COALESCE(t.user_id, '') = '' OR COALESCE(t.app_name, '') = ''
    UNION ALL
    SELECT 'memories without a text', count(*) FROM pg_temp.first_memories AS t WHERE COALESCE(t.content, '') = ''
    UNION ALL
    SELECT 'facts without a user or an app', count(*) FROM pg_temp.first_facts AS t
    WHERE COALESCE(t.user_id, '') = '' OR COALESCE(t.app_name, '') = ''
    UNION ALL
    SELECT 'facts of an unknown status: ' || left(t.status, 30), count(*) FROM pg_temp.first_facts AS t
    WHERE trim('''' FROM t.status) NOT IN ('active', 'superseded') GROUP BY t.status
    UNION ALL
    SELECT 'jobs of an unknown status: ' || left(t.status, 30), count(*) FROM pg_temp.first_consolidation_jobs AS t
    WHERE trim('''' FROM t.status) NOT IN ('pending', 'running', 'completed', 'failed', 'cancelled') GROUP BY t.status
    UNION ALL
    SELECT 'jobs of an unknown type: ' || left(t.job_type, 30), count(*) FROM pg_temp.first_consolidation_jobs AS t
    WHERE trim('''' FROM t.job_type) NOT IN ('fast_replay', 'deep_reflection', 'full_consolidation') GROUP BY t.job_type
    UNION ALL
    SELECT 'conflicts of an unknown type or resolution', count(*) FROM pg_temp.first_memory_conflicts AS t
    WHERE trim('''' FROM t.conflict_type) NOT IN ('contradiction', 'temporal_update', 'refinement')
        OR trim('''' FROM t.resolution) NOT IN ('supersede', 'keep_both', 'merge', 'keep_old', 'keep_new')
    UNION ALL
    SELECT 'associations with an end of an unknown kind', count(*) FROM pg_temp.first_memory_associations AS t
    WHERE trim('''' FROM t.source_type) NOT IN ('memory', 'fact', 'entity')
        OR trim('''' FROM t.target_type) NOT IN ('memory', 'fact', 'entity')
    UNION ALL
    SELECT 'core blocks of an unknown scope', count(*) FROM pg_temp.first_memory_core_blocks AS t
    WHERE trim('''' FROM t.scope) NOT IN ('user', 'app', 'thread')
    UNION ALL
    SELECT 'core blocks of a thread that does not exist', count(*) FROM pg_temp.first_memory_core_blocks AS t
    WHERE trim('''' FROM t.scope) = 'thread' AND NOT EXISTS (
        SELECT FROM pg_temp.first_threads AS h
        WHERE h.id = t.thread_id AND h.user_id = t.user_id AND h.app_name = t.app_name)
    UNION ALL
    SELECT 'core blocks of an app that say different things under one label', count(*)
    FROM (SELECT FROM pg_temp.first_memory_core_blocks AS t WHERE trim('''' FROM t.scope) = 'app'
          GROUP BY t.app_name, t.label HAVING count(DISTINCT t.content) > 1) AS one
    UNION ALL
    SELECT 'rows without a user or an app in ' || one.name, count(*)
    FROM (
        SELECT 'memory_summaries' AS name, t.user_id, t.app_name FROM pg_temp.first_memory_summaries AS t
        UNION ALL
        SELECT 'memory_retrieval_logs', t.user_id, t.app_name FROM pg_temp.first_memory_retrieval_logs AS t
        UNION ALL
        SELECT 'memory_audit_logs', t.user_id, t.app_name FROM pg_temp.first_memory_audit_logs AS t
        UNION ALL
        SELECT 'memory_core_blocks', t.user_id, t.app_name FROM pg_temp.first_memory_core_blocks AS t
    ) AS one
    WHERE COALESCE(one.user_id, '') = '' OR COALESCE(one.app_name, '') = '' GROUP BY one.name
)
SELECT f.what, f.rows FROM found AS f WHERE f.rows > 0 ORDER BY f.what;

-- name: repairs
-- returns: what is put right on the way, a row a kind
WITH found (what, rows) AS (
    SELECT 'quote characters around a status or type', (
        SELECT count(*) FROM pg_temp.first_facts AS t WHERE t.status LIKE '''%''' OR t.fact_type LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_memories AS t WHERE t.memory_type LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_consolidation_jobs AS t WHERE t.status LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_memory_conflicts AS t
           WHERE t.conflict_type LIKE '''%''' OR t.resolution LIKE '''%''' OR t.detected_by LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_memory_associations AS t
           WHERE t.source_type LIKE '''%''' OR t.target_type LIKE '''%''' OR t.association_type LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_memory_core_blocks AS t WHERE t.scope LIKE '''%''' OR t.label LIKE '''%''')
        + (SELECT count(*) FROM pg_temp.first_memory_summaries AS t WHERE t.summary_type LIKE '''%''')
    UNION ALL
    SELECT 'facts superseded by themselves, active again', count(*) FROM pg_temp.first_facts AS t
    WHERE t.superseded_by = t.id
    UNION ALL
    SELECT 'deleted in metadata, deleted_at now', count(*) FROM pg_temp.first_memories AS t
    WHERE t.metadata ->> 'deleted' = 'true'
    UNION ALL
    SELECT 'links to a thread or fact of another user, cut', (
        SELECT count(*) FROM pg_temp.first_memories AS t JOIN pg_temp.first_threads AS h ON h.id = t.thread_id
        WHERE (h.user_id, h.app_name) <> (t.user_id, t.app_name))
        + (SELECT count(*) FROM pg_temp.first_facts AS t JOIN pg_temp.first_threads AS h ON h.id = t.thread_id
        WHERE (h.user_id, h.app_name) <> (t.user_id, t.app_name))
        + (SELECT count(*) FROM pg_temp.first_facts AS t JOIN pg_temp.first_facts AS h ON h.id = t.superseded_by
        WHERE (h.user_id, h.app_name) <> (t.user_id, t.app_name))
        + (SELECT count(*) FROM pg_temp.first_memory_conflicts AS t
        JOIN pg_temp.first_facts AS h ON h.id IN (t.old_fact_id, t.new_fact_id)
        WHERE (h.user_id, h.app_name) <> (t.user_id, t.app_name))
    UNION ALL
    SELECT 'queued jobs that repeat another, cancelled', count(*) - count(DISTINCT (t.thread_id, trim('''' FROM t.job_type)))
    FROM pg_temp.first_consolidation_jobs AS t WHERE trim('''' FROM t.status) IN ('pending', 'running')
    UNION ALL
    SELECT 'associations of a thing with itself, left behind', count(*) FROM pg_temp.first_memory_associations AS t
    WHERE t.source_id = t.target_id
)
SELECT f.what, f.rows FROM found AS f WHERE f.rows > 0 ORDER BY f.what;

-- name: configs
SELECT t.app_name, t.config FROM pg_temp.first_memory_automation_configs AS t ORDER BY t.created_at, t.app_name;

-- name: take_configs
-- params: app_name
WITH taken AS (
    INSERT INTO :"schema".memory_automation_configs (app_name, config, is_main, updated_by, created_at, updated_at)
    SELECT t.app_name, COALESCE(t.config, '{}'), t.app_name = %(app_name)s::text, t.updated_by,
        COALESCE(t.created_at, now()), COALESCE(t.updated_at, now())
    FROM pg_temp.first_memory_automation_configs AS t
    RETURNING app_name, revision, config, updated_by
)
INSERT INTO :"schema".memory_automation_config_history (app_name, revision, config, changed_by, reason)
SELECT t.app_name, t.revision, t.config, COALESCE(t.updated_by, 'the first design'), 'adopted' FROM taken AS t;

-- name: take_users
INSERT INTO :"schema".users (user_id, app_name, created_at)
SELECT one.user_id, one.app_name, COALESCE(min(one.created_at), now())
FROM (
    SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_threads AS t
    UNION ALL SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_memories AS t
    UNION ALL SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_facts AS t
    UNION ALL SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_memory_summaries AS t
    UNION ALL SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_memory_core_blocks AS t
    UNION ALL SELECT t.user_id, t.app_name, t.created_at FROM pg_temp.first_memory_retrieval_logs AS t
) AS one
GROUP BY one.user_id, one.app_name;

-- name: take_threads
INSERT INTO :"schema".threads
    (id, app_name, user_id, external_id, state, version, metadata, occurred_at, created_at, updated_at)
SELECT t.id, t.app_name, t.user_id, t.id::text, COALESCE(t.state, '{}'), COALESCE(t.version, 1),
    COALESCE(t.metadata, '{}'), t.created_at, COALESCE(t.created_at, now()), COALESCE(t.updated_at, t.created_at, now())
FROM pg_temp.first_threads AS t;

-- name: take_events
INSERT INTO :"schema".events
    (id, user_id, app_name, thread_id, invocation_id, author, event_type, content, actions, position, content_hash,
     occurred_at, created_at, sequence_num)
SELECT t.id, h.user_id, h.app_name, t.thread_id, COALESCE(t.invocation_id, gen_random_uuid()), t.author, t.event_type,
    COALESCE(t.content, '{}'), COALESCE(t.actions, '{}'),
    row_number() OVER (PARTITION BY t.thread_id ORDER BY t.sequence_num, t.created_at, t.id),
    sha256(convert_to(t.author || E'\n' || COALESCE(t.content, '{}')::text, 'UTF8')),
    t.created_at, COALESCE(t.created_at, now()), t.sequence_num
FROM pg_temp.first_events AS t
JOIN pg_temp.first_threads AS h ON h.id = t.thread_id;

-- name: next_event
SELECT setval(pg_get_serial_sequence(format('%%I.events', %(schema)s::text), 'sequence_num'),
    GREATEST((SELECT max(e.sequence_num) FROM :"schema".events AS e), 1));

-- name: take_memories
INSERT INTO :"schema".memories
    (id, thread_id, user_id, app_name, memory_type, content, metadata, retention_score, importance_score,
     relevance_weight, access_count, last_accessed_at, occurred_at, created_at, updated_at, deleted_at, deleted_reason)
SELECT t.id, h.id, t.user_id, t.app_name, COALESCE(NULLIF(trim('''' FROM t.memory_type), ''), 'episodic'), t.content,
    CASE WHEN COALESCE(jsonb_typeof(t.metadata), 'null') = 'null' THEN '{}'
        WHEN jsonb_typeof(t.metadata) = 'object' THEN t.metadata
        ELSE jsonb_build_object('first_design', t.metadata) END
    || CASE WHEN t.metadata ->> 'deleted' = 'true' THEN '{"deleted": true}' ELSE '{}' END::jsonb,
    COALESCE(t.retention_score, 1), LEAST(1, GREATEST(0, COALESCE(t.importance_score, 0.5))),
    CASE WHEN jsonb_typeof(t.metadata -> 'relevance_weight') = 'number'
        THEN LEAST(10, GREATEST(0, (t.metadata ->> 'relevance_weight')::numeric))::float8 ELSE 1 END,
    GREATEST(0, COALESCE(t.access_count, 0)), COALESCE(t.last_accessed_at, t.created_at), t.created_at,
    COALESCE(t.created_at, now()), COALESCE(t.updated_at, t.created_at, now()),
    CASE WHEN t.metadata ->> 'deleted' = 'true' THEN COALESCE(
        CASE WHEN pg_input_is_valid(t.metadata ->> 'deleted_at', 'timestamptz')
            THEN (t.metadata ->> 'deleted_at')::timestamptz END,
        t.updated_at, t.created_at, now()) END,
    CASE WHEN t.metadata ->> 'deleted' = 'true' THEN COALESCE(t.metadata ->> 'deleted_reason',
        CASE WHEN t.metadata ? 'merged_into' THEN 'merged' END, 'deleted before negmem') END
FROM pg_temp.first_memories AS t
LEFT JOIN pg_temp.first_threads AS h
    ON h.id = t.thread_id AND h.user_id = t.user_id AND h.app_name = t.app_name;

-- name: take_models
-- Nobody recorded which model the vectors came from. Under this name no embedder of today is the same, so that
-- searches say so and compare nothing, until somebody tells.
INSERT INTO :"schema".embedding_models (app_name, id, provider, model, version, dims, status, activated_at)
SELECT one.app_name, row_number() OVER (PARTITION BY one.app_name ORDER BY one.rows DESC, one.dims), 'unknown',
    'unknown', 'before negmem', one.dims,
    CASE WHEN row_number() OVER (PARTITION BY one.app_name ORDER BY one.rows DESC, one.dims) = 1
        THEN 'active' ELSE 'retired' END,
    now()
FROM (
    SELECT all_of.app_name, all_of.dims, count(*) AS rows
    FROM (
        SELECT t.app_name, :"vector_schema".vector_dims(t.embedding) AS dims FROM pg_temp.first_memories AS t
        WHERE t.embedding IS NOT NULL
        UNION ALL
        SELECT t.app_name, :"vector_schema".vector_dims(t.embedding) FROM pg_temp.first_facts AS t
        WHERE t.embedding IS NOT NULL
    ) AS all_of
    GROUP BY all_of.app_name, all_of.dims
) AS one;

-- name: take_memory_vectors
INSERT INTO :"schema".memory_vectors (user_id, app_name, memory_id, model_id, live, bits, embedding)
SELECT t.user_id, t.app_name, t.id, m.id, (t.metadata ->> 'deleted' = 'true') IS NOT TRUE,
    :"schema".embedding_bits(t.embedding, NULL), t.embedding:::"vector_schema".halfvec
FROM pg_temp.first_memories AS t
JOIN :"schema".embedding_models AS m
    ON m.app_name = t.app_name AND m.provider = 'unknown' AND m.dims = :"vector_schema".vector_dims(t.embedding)
WHERE t.embedding IS NOT NULL;

-- name: take_facts
INSERT INTO :"schema".facts
    (id, thread_id, user_id, app_name, fact_type, key, value, confidence, importance_score, valid_from, valid_until,
     superseded_by, status, superseded_at, created_at, updated_at)
SELECT t.id, h.id, t.user_id, t.app_name, COALESCE(NULLIF(trim('''' FROM t.fact_type), ''), 'preference'), t.key,
    t.value, LEAST(1, GREATEST(0, COALESCE(t.confidence, 1))),
    LEAST(1, GREATEST(0, COALESCE(t.importance_score, 0.5))), t.valid_from, t.valid_until, s.id,
    CASE WHEN t.superseded_by = t.id THEN 'active' ELSE COALESCE(trim('''' FROM t.status), 'active') END,
    CASE WHEN t.superseded_by = t.id THEN NULL ELSE t.superseded_at END,
    COALESCE(t.created_at, now()), COALESCE(t.updated_at, t.created_at, now())
FROM pg_temp.first_facts AS t
LEFT JOIN pg_temp.first_threads AS h
    ON h.id = t.thread_id AND h.user_id = t.user_id AND h.app_name = t.app_name
LEFT JOIN pg_temp.first_facts AS s
    ON s.id = t.superseded_by AND s.id <> t.id AND s.user_id = t.user_id AND s.app_name = t.app_name;

-- name: take_fact_vectors
INSERT INTO :"schema".fact_vectors (user_id, app_name, fact_id, model_id, bits, embedding)
SELECT t.user_id, t.app_name, t.id, m.id, :"schema".embedding_bits(t.embedding, NULL),
    t.embedding:::"vector_schema".halfvec
FROM pg_temp.first_facts AS t
JOIN :"schema".embedding_models AS m
    ON m.app_name = t.app_name AND m.provider = 'unknown' AND m.dims = :"vector_schema".vector_dims(t.embedding)
WHERE t.embedding IS NOT NULL;

-- name: take_memory_conflicts
INSERT INTO :"schema".memory_conflicts
    (id, user_id, app_name, old_fact_id, new_fact_id, conflict_type, resolution, confidence_delta, detected_by,
     metadata, created_at, updated_at)
SELECT t.id, t.user_id, t.app_name, o.id, n.id, trim('''' FROM t.conflict_type), trim('''' FROM t.resolution),
    t.confidence_delta, COALESCE(trim('''' FROM t.detected_by), 'key_collision'), COALESCE(t.metadata, '{}'),
    COALESCE(t.created_at, now()), COALESCE(t.updated_at, t.created_at, now())
FROM pg_temp.first_memory_conflicts AS t
LEFT JOIN pg_temp.first_facts AS o ON o.id = t.old_fact_id AND (o.user_id, o.app_name) = (t.user_id, t.app_name)
LEFT JOIN pg_temp.first_facts AS n ON n.id = t.new_fact_id AND (n.user_id, n.app_name) = (t.user_id, t.app_name);

-- name: take_memory_associations
INSERT INTO :"schema".memory_associations
    (id, source_id, source_type, target_id, target_type, association_type, weight, metadata, user_id, app_name,
     created_at)
SELECT t.id, t.source_id, trim('''' FROM t.source_type), t.target_id, trim('''' FROM t.target_type),
    trim('''' FROM t.association_type), LEAST(1, GREATEST(0, COALESCE(t.weight, 0.5))), COALESCE(t.metadata, '{}'),
    t.user_id, t.app_name, COALESCE(t.created_at, now())
FROM pg_temp.first_memory_associations AS t
WHERE t.source_id <> t.target_id
ON CONFLICT ON CONSTRAINT assoc_unique DO NOTHING;

-- name: take_memory_summaries
INSERT INTO :"schema".memory_summaries
    (id, user_id, app_name, summary_type, content, token_count, source_memory_count, source_fact_count, model_used,
     created_at, updated_at)
SELECT DISTINCT ON (t.user_id, t.app_name, trim('''' FROM t.summary_type))
    t.id, t.user_id, t.app_name, trim('''' FROM t.summary_type), t.content, t.token_count, t.source_memory_count,
    t.source_fact_count, t.model_used, COALESCE(t.created_at, now()), COALESCE(t.updated_at, t.created_at, now())
FROM pg_temp.first_memory_summaries AS t
ORDER BY t.user_id, t.app_name, trim('''' FROM t.summary_type), t.updated_at DESC NULLS LAST, t.id;

-- name: take_memory_core_blocks
INSERT INTO :"schema".memory_core_blocks
    (id, owner_kind, owner, user_id, app_name, scope, thread_id, label, content, token_count, version, updated_by,
     metadata, created_at, updated_at)
SELECT DISTINCT ON (one.owner_kind, one.owner, one.app_name, one.scope, one.thread_id, one.label)
    one.id, one.owner_kind, one.owner, NULLIF(one.owner, ''), one.app_name, one.scope, one.thread_id, one.label,
    one.content, one.token_count, COALESCE(one.version, 1), one.updated_by, COALESCE(one.metadata, '{}'),
    COALESCE(one.created_at, now()), COALESCE(one.updated_at, one.created_at, now())
FROM (
    SELECT t.id, CASE s.scope WHEN 'app' THEN 'global' ELSE 'user' END AS owner_kind,
        CASE s.scope WHEN 'app' THEN '' ELSE t.user_id END AS owner, t.app_name, s.scope,
        CASE s.scope WHEN 'thread' THEN t.thread_id END AS thread_id, trim('''' FROM t.label) AS label, t.content,
        t.token_count, t.version, t.updated_by, t.metadata, t.created_at, t.updated_at
    FROM pg_temp.first_memory_core_blocks AS t
    CROSS JOIN LATERAL (SELECT trim('''' FROM t.scope) AS scope) AS s
) AS one
ORDER BY one.owner_kind, one.owner, one.app_name, one.scope, one.thread_id, one.label, one.updated_at DESC NULLS LAST,
    one.id;

-- name: take_instructions
INSERT INTO :"schema".instructions (id, app_name, instruction_key, content, version, metadata, created_at)
SELECT t.id, t.app_name, t.instruction_key, t.content, t.version, COALESCE(t.metadata, '{}'),
    COALESCE(t.created_at, now())
FROM pg_temp.first_instructions AS t;

-- name: take_consolidation_jobs
INSERT INTO :"schema".consolidation_jobs
    (id, user_id, app_name, thread_id, status, job_type, result, error, started_at, completed_at, created_at)
SELECT one.id, one.user_id, one.app_name, one.thread_id,
    CASE WHEN one.status NOT IN ('pending', 'running') THEN one.status
        WHEN one.place = 1 THEN 'pending' ELSE 'cancelled' END,
    one.job_type, COALESCE(one.result, '{}'), one.error, one.started_at, one.completed_at,
    COALESCE(one.created_at, now())
FROM (
    SELECT t.id, h.user_id, h.app_name, t.thread_id, s.status, s.job_type, t.result, t.error, t.started_at,
        t.completed_at, t.created_at,
        row_number() OVER (PARTITION BY t.thread_id, s.job_type, s.status IN ('pending', 'running')
            ORDER BY t.created_at, t.id) AS place
    FROM pg_temp.first_consolidation_jobs AS t
    JOIN pg_temp.first_threads AS h ON h.id = t.thread_id
    CROSS JOIN LATERAL (SELECT trim('''' FROM t.status) AS status, trim('''' FROM t.job_type) AS job_type) AS s
) AS one;

-- name: take_memory_retrieval_logs
INSERT INTO :"schema".memory_retrieval_logs
    (id, user_id, app_name, thread_id, query, retrieved_memory_ids, retrieved_fact_ids, was_referenced,
     reference_count, outcome_feedback, applied_at, created_at)
SELECT t.id, t.user_id, t.app_name, t.thread_id, t.query, COALESCE(t.retrieved_memory_ids, '{}'),
    t.retrieved_fact_ids, t.was_referenced, COALESCE(t.reference_count, 0), t.outcome_feedback,
    COALESCE(t.created_at, now()), COALESCE(t.created_at, now())
FROM pg_temp.first_memory_retrieval_logs AS t;

-- name: take_memory_audit_logs
-- The trail has one writer. When an entry was first recorded stands beside its actor, who was not written down.
SELECT count(:"schema".record_audit_entries(t.app_name::text, t.user_id::text, ARRAY[t.memory_id::text],
    t.decision::text, t.note, t.idempotency_key::text,
    'unknown, recorded ' || COALESCE(to_char(t.created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' ', '') || 'before negmem', false)) AS rows
FROM (SELECT * FROM pg_temp.first_memory_audit_logs ORDER BY created_at, version, id) AS t;

-- name: index_memories
SELECT sum(:"schema".index_memories(u.user_id::text, u.app_name::text, ARRAY(
    SELECT m.id FROM :"schema".memories AS m
    WHERE m.user_id = u.user_id AND m.app_name = u.app_name AND m.deleted_at IS NULL))) AS rows
FROM :"schema".users AS u;

-- name: index_facts
WITH written AS (
    INSERT INTO :"schema".fact_terms (user_id, app_name, term, fact_id, tf, len)
    SELECT f.user_id, f.app_name, t.term, f.id, t.tf, t.len
    FROM :"schema".facts AS f
    CROSS JOIN LATERAL :"schema".index_terms(NULL, :"schema".fact_text(f.key, f.value), NULL) AS t
    WHERE f.status = 'active' AND f.deleted_at IS NULL
    RETURNING user_id, app_name, fact_id, len
)
INSERT INTO :"schema".fact_term_stats (user_id, app_name, documents, total_len)
SELECT one.user_id, one.app_name, count(*), sum(one.len)
FROM (SELECT DISTINCT w.user_id, w.app_name, w.fact_id, w.len FROM written AS w) AS one
GROUP BY one.user_id, one.app_name;

-- name: rescore
SELECT sum(:"schema".rescore_memories(u.user_id::text, u.app_name::text)) AS rows FROM :"schema".users AS u;

-- name: taken
SELECT count(*) AS rows FROM :"schema".:"table";
