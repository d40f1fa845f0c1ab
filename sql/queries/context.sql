-- Contexts: how large, of what, and the record of what was shown.

-- name: thread
-- params: user_id, app_name, thread
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text;

-- name: candidates
-- params: user_id, app_name, thread_id, query, entity_query, global_access, embedding, provider, model, version, dims,
--   semantic_weight, keyword_weight
-- returns: what stands and what was learned, each with the app's context_assembler, the main app's where it has
--   none; at least one row, `has_config` false before init. Without a query nothing of what was learned, without an
--   entity_query no entities; `is_same_space` where the embedding is of the app's model and was used
SELECT a.has_config, a.context_assembler, q.embedding IS NOT NULL AS is_same_space, c.section, c.id, c.label, c.content,
    c.occurred_at, c.thread, c.score
FROM (VALUES (1)) AS one (row)
LEFT JOIN (
    SELECT true AS has_config, c.config -> 'context_assembler' AS context_assembler
    FROM :"schema".memory_automation_configs AS c
    WHERE c.app_name = %(app_name)s::varchar OR c.is_main
    ORDER BY c.is_main
    LIMIT 1
) AS a ON true
LEFT JOIN (
    SELECT %(embedding)s::text:::"vector_schema".vector AS embedding
    FROM :"schema".embedding_models AS m
    WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active' AND m.provider = %(provider)s::text
        AND m.model = %(model)s::text AND m.version = %(version)s::text AND m.dims = %(dims)s::integer
) AS q ON true
LEFT JOIN LATERAL (
    SELECT s.section, s.id, s.label, s.content, s.occurred_at, s.thread, NULL::float8 AS score, s.rank
    FROM :"schema".context_candidates(%(user_id)s::text, %(app_name)s::text, %(thread_id)s::uuid) AS s
    UNION ALL
    SELECT 'entity', e.id, e.title, e.content, e.updated_at, NULL, e.score, e.rank
    FROM :"schema".entity_candidates(%(user_id)s::text, %(app_name)s::text, %(entity_query)s::text,
        %(global_access)s::text, q.embedding, %(semantic_weight)s::float8, %(keyword_weight)s::float8) AS e
    UNION ALL
    SELECT 'knowledge', k.id, k.title, k.content, k.updated_at, NULL, k.score, k.rank
    FROM :"schema".knowledge_candidates(%(user_id)s::text, %(app_name)s::text, %(query)s::text,
        %(global_access)s::text, q.embedding, %(semantic_weight)s::float8, %(keyword_weight)s::float8) AS k
) AS c ON true
ORDER BY c.section, c.rank;

-- name: record
-- params: user_id, app_name, query, memory_ids, fact_ids, items, level, fallbacks, thread, repeat_window_s,
--   budget_tokens, used_tokens
-- returns: the id that feedback names; NULL for a user whom the app does not know
SELECT :"schema".record_context(%(user_id)s::text, %(app_name)s::text, %(query)s::text, %(memory_ids)s::uuid[],
    %(fact_ids)s::uuid[], %(items)s::jsonb, %(level)s::text, %(fallbacks)s::jsonb, %(thread)s::text,
    make_interval(secs => %(repeat_window_s)s::float8), %(budget_tokens)s::integer, %(used_tokens)s::integer)
    AS retrieval_id;
