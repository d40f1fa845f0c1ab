-- Contexts: how large, of what, and the record of what was shown.

-- name: thread
-- params: user_id, app_name, thread
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text;

-- name: candidates
-- params: user_id, app_name, thread_id, query, entity_query, global_access, embedding, provider, model, version, dims,
--   semantic_weight, keyword_weight
-- returns: what stands and what was learned, in order; at least one row
SELECT * FROM :"schema".context_page(
    %(user_id)s::text, %(app_name)s::text, %(thread_id)s::uuid, %(query)s::text, %(entity_query)s::text,
    %(global_access)s::text, %(embedding)s::text:::"vector_schema".vector, %(provider)s::text, %(model)s::text,
    %(version)s::text, %(dims)s::integer, %(semantic_weight)s::float8, %(keyword_weight)s::float8);

-- name: record
-- params: user_id, app_name, query, memory_ids, fact_ids, items, level, fallbacks, thread, repeat_window_s,
--   budget_tokens, used_tokens
-- returns: the id that feedback names; NULL for a user whom the app does not know
SELECT :"schema".record_context(%(user_id)s::text, %(app_name)s::text, %(query)s::text, %(memory_ids)s::uuid[],
    %(fact_ids)s::uuid[], %(items)s::jsonb, %(level)s::text, %(fallbacks)s::jsonb, %(thread)s::text,
    make_interval(secs => %(repeat_window_s)s::float8), %(budget_tokens)s::integer, %(used_tokens)s::integer)
    AS retrieval_id;
