-- Searches: one statement in one round trip, that finds, records and reads what is shown.

-- name: open
BEGIN;

-- name: open_read_only
BEGIN READ ONLY;

-- name: timeouts
-- params: lock_timeout_ms, statement_timeout_ms
-- Like SET LOCAL, but as a statement with parameters, so that it can stand in a pipeline. The commit does not wait for
-- the disk: a crash of the server within a second may lose the record of a search, never more.
SELECT set_config('synchronous_commit', 'off', true),
    set_config('lock_timeout', %(lock_timeout_ms)s::integer::text, true),
    set_config('statement_timeout', %(statement_timeout_ms)s::integer::text, true);

-- name: search
-- params: user_id, app_name, query, embedding, provider, model, version, dims, level, row_limit, row_offset,
--   semantic_weight, keyword_weight, kinds, types, thread, since, until, metadata, explain, record, fallbacks,
--   repeat_window_s
-- returns: a row a result, in order, each with what is known about the whole search; one row without id: no result
WITH asked AS MATERIALIZED (
    SELECT
        EXISTS (
            SELECT 1 FROM :"schema".users AS u
            WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar) AS user_known,
        m.provider, m.model, m.version, m.dims,
        m.provider = %(provider)s::text AND m.model = %(model)s::text AND m.version = %(version)s::text
            AND m.dims = %(dims)s::integer AS is_same_space,
        EXISTS (
            SELECT 1 FROM :"schema".memory_vectors AS v
            WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar AND v.model_id = m.id
                AND v.live)
        OR EXISTS (
            SELECT 1 FROM :"schema".fact_vectors AS v
            WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar AND v.model_id = m.id
                AND v.live) AS has_vectors
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN :"schema".embedding_models AS m ON m.app_name = %(app_name)s::varchar AND m.status = 'active'
),
planned AS MATERIALIZED (
    SELECT a.*,
        CASE
            WHEN %(level)s::text IN ('hybrid', 'vector') AND (a.is_same_space AND a.has_vectors) IS NOT TRUE
            THEN 'keyword' ELSE %(level)s::text
        END AS planned_level
    FROM asked AS a
),
found AS MATERIALIZED (
    SELECT f.*
    FROM planned AS p
    CROSS JOIN LATERAL :"schema".search_items(
        %(user_id)s::text, %(app_name)s::text, %(query)s::text,
        CASE WHEN p.planned_level IN ('hybrid', 'vector') THEN %(embedding)s::text:::"vector_schema".vector END,
        p.planned_level, %(row_limit)s::integer, %(row_offset)s::integer,
        %(semantic_weight)s::float8, %(keyword_weight)s::float8, %(kinds)s::text[], %(types)s::text[],
        %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb
    ) WITH ORDINALITY AS f (kind, id, search_level, score, semantic_part, keyword_part, neighbours_part,
        session_part, speaker_part, relevance_part, retention_part, semantic, keyword, cosine, bm25,
        semantic_candidates, keyword_candidates, scope_items, postings_read, place)
),
-- A function and no INSERT: a read-only server refuses a statement that holds one, even where it would do nothing.
recorded AS MATERIALIZED (
    SELECT CASE WHEN %(record)s::boolean THEN :"schema".record_retrieval(
        %(user_id)s::text, %(app_name)s::text, %(query)s::text,
        ARRAY(SELECT f.id FROM found AS f WHERE f.kind = 'memory' ORDER BY f.place),
        ARRAY(SELECT f.id FROM found AS f WHERE f.kind = 'fact' ORDER BY f.place),
        COALESCE((SELECT jsonb_agg(jsonb_build_object('kind', f.kind, 'id', f.id,
            'rank', f.place + %(row_offset)s::integer, 'score', f.score) ORDER BY f.place) FROM found AS f), '[]'),
        COALESCE((SELECT max(f.search_level) FROM found AS f), p.planned_level),
        %(fallbacks)s::text::jsonb
            || CASE WHEN p.planned_level <> %(level)s::text THEN jsonb_build_array(jsonb_build_object(
                'from', %(level)s::text, 'to', p.planned_level, 'code', CASE
                    WHEN p.is_same_space IS NOT TRUE THEN 'embedding_space_mismatch' ELSE 'nothing_embedded' END))
                ELSE '[]' END
            || COALESCE((SELECT jsonb_build_array(jsonb_build_object(
                'from', p.planned_level, 'to', max(f.search_level), 'code', 'no_match'))
                FROM found AS f HAVING max(f.search_level) <> p.planned_level), '[]'),
        %(thread)s::text, make_interval(secs => %(repeat_window_s)s::float8)) END AS retrieval_id
    FROM planned AS p
)
SELECT
    r.retrieval_id, p.*, f.*,
    COALESCE(m.content, :"schema".fact_text(x.key, x.value)) AS content,
    COALESCE(m.memory_type, x.fact_type)::text AS type,
    COALESCE(m.metadata, x.metadata) AS metadata,
    COALESCE(m.created_at, x.created_at) AS created_at,
    COALESCE(m.occurred_at, x.valid_from) AS occurred_at,
    t.external_id AS thread,
    CASE WHEN %(explain)s::boolean THEN :"schema".calculate_retention_score(
        COALESCE(m.access_count, x.access_count), COALESCE(m.last_accessed_at, x.last_accessed_at),
        COALESCE(m.created_at, x.created_at), COALESCE(m.memory_type, 'fact')::text,
        :"schema".related_count(%(user_id)s::text, %(app_name)s::text, t.id, f.id),
        :"schema".retention_decay_override(COALESCE(m.metadata, x.metadata))) END AS retention,
    COALESCE(m.importance_score, x.importance_score) AS importance,
    COALESCE(m.relevance_weight, 1) AS relevance,
    COALESCE(m.last_accessed_at, x.last_accessed_at, m.created_at, x.created_at) AS last_accessed_at
FROM planned AS p
CROSS JOIN recorded AS r
LEFT JOIN found AS f ON true
LEFT JOIN :"schema".memories AS m
    ON f.kind = 'memory' AND m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = f.id
LEFT JOIN :"schema".facts AS x
    ON f.kind = 'fact' AND x.user_id = %(user_id)s::varchar AND x.app_name = %(app_name)s::varchar AND x.id = f.id
LEFT JOIN :"schema".threads AS t
    ON t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND t.id = COALESCE(m.thread_id, x.thread_id)
ORDER BY f.place;

-- name: only_stops
-- params: query
-- returns: whether a question holds stop words alone, so that it was searched by them
SELECT :"schema".text_terms(%(query)s::text, false) = '{}' AND :"schema".text_terms(%(query)s::text) <> '{}' AS only_stops;

-- name: why_not
-- params: user_id, app_name, query, id, kinds, types, thread, since, until, metadata
-- returns: what stands in the way of one memory; no row: it is not this user's
SELECT m.id, m.content, m.deleted_at, m.deleted_reason,
    (m.id = ANY (:"schema".allowed_items(%(user_id)s::text, %(app_name)s::text, %(kinds)s::text[],
        %(types)s::text[], %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb)))
        IS FALSE AS is_filtered,
    EXISTS (
        SELECT 1 FROM :"schema".memory_vectors AS v
        WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id AND v.live) AS has_vector,
    EXISTS (
        SELECT 1 FROM :"schema".memory_terms AS t
        WHERE t.user_id = m.user_id AND t.app_name = m.app_name AND t.memory_id = m.id
            AND t.term = ANY (:"schema".text_terms(%(query)s::text))) AS shares_terms
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid;
