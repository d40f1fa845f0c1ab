-- Contexts: how large, of what, and the record of what was shown.

-- name: settings
-- params: app_name
-- returns: the app's context_assembler, the main app's where it has none; no row before init
SELECT c.config -> 'context_assembler' AS context_assembler
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar OR c.is_main
ORDER BY c.is_main
LIMIT 1;

-- name: thread
-- params: user_id, app_name, thread
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text;

-- name: candidates
-- params: user_id, app_name, thread_id
SELECT c.section, c.id, c.label, c.content, c.occurred_at, c.thread
FROM :"schema".context_candidates(%(user_id)s::text, %(app_name)s::text, %(thread_id)s::uuid) AS c
ORDER BY c.section, c.rank;

-- name: knowledge
-- params: user_id, app_name, query
SELECT k.id, k.title, k.content, k.updated_at, k.score
FROM :"schema".knowledge_candidates(%(user_id)s::text, %(app_name)s::text, %(query)s::text) AS k
ORDER BY k.rank;

-- name: record
-- params: user_id, app_name, query, memory_ids, fact_ids, items, level, fallbacks, thread, repeat_window_s
-- returns: the id that feedback names; NULL for a user whom the app does not know
SELECT :"schema".record_retrieval(%(user_id)s::text, %(app_name)s::text, %(query)s::text, %(memory_ids)s::uuid[],
    %(fact_ids)s::uuid[], %(items)s::jsonb, %(level)s::text, %(fallbacks)s::jsonb, %(thread)s::text,
    make_interval(secs => %(repeat_window_s)s::float8)) AS retrieval_id;

-- name: record_budget
-- params: user_id, app_name, id, budget_tokens, used_tokens
UPDATE :"schema".memory_retrieval_logs AS l
SET budget_tokens = %(budget_tokens)s::integer, used_tokens = %(used_tokens)s::integer
WHERE l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar AND l.id = %(id)s::uuid;
