-- Proactive recall: the cache with what it rests on, candidates for a new one, and the record of what was shown.

-- name: cached
-- params: user_id, app_name
-- returns: one row; whether the user is known, and the cache with what speaks for and against it, if there is one
SELECT u.user_id IS NOT NULL AS user_known, now() AS now, c.user_id IS NOT NULL AS is_cached,
    c.preload_context AS text, c.token_count AS tokens, c.details, c.updated_at AS made_at, c.expires_at,
    c.expires_at > now() AS is_fresh, c.basis,
    :"schema".preload_basis(%(user_id)s::text, %(app_name)s::text) AS basis_now,
    NOT EXISTS (
        SELECT 1 FROM unnest(c.memory_ids) WITH ORDINALITY AS shown (id, place)
        LEFT JOIN :"schema".memories AS m
            ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = shown.id
        WHERE m.id IS NULL OR m.deleted_at IS NOT NULL
            OR m.version IS DISTINCT FROM (c.details -> 'versions' ->> shown.id::text)::integer
    ) AS is_unedited
FROM (VALUES (1)) AS one (row)
LEFT JOIN :"schema".users AS u
    ON u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
LEFT JOIN :"schema".memory_preload_cache AS c
    ON c.user_id = %(user_id)s::varchar AND c.app_name = %(app_name)s::varchar;

-- name: candidates
-- params: user_id, app_name
-- returns: the candidates, each with the basis as the same snapshot has it
SELECT r.kind, r.id, r.label, r.content, r.is_cut, r.score, r.occurred_at, r.version, r.metadata, r.valid_until
FROM :"schema".recall_candidates(%(user_id)s::text, %(app_name)s::text) AS r
ORDER BY array_position('{core,memory,fact}'::text[], r.kind), r.rank;

-- name: basis
-- params: user_id, app_name
SELECT :"schema".preload_basis(%(user_id)s::text, %(app_name)s::text) AS basis, now() AS now;

-- name: keep
-- params: user_id, app_name, text, memory_ids, fact_ids, tokens, basis, details, lifetime_s, until
INSERT INTO :"schema".memory_preload_cache AS c
    (user_id, app_name, preload_context, memory_ids, fact_ids, token_count, basis, details, expires_at, updated_at)
SELECT u.user_id, u.app_name, %(text)s::text, %(memory_ids)s::uuid[], %(fact_ids)s::uuid[], %(tokens)s::integer,
    %(basis)s::jsonb, %(details)s::jsonb,
    LEAST(now() + make_interval(secs => %(lifetime_s)s::float8), %(until)s::timestamptz), now()
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
ON CONFLICT (user_id, app_name) DO UPDATE
    SET preload_context = excluded.preload_context, memory_ids = excluded.memory_ids, fact_ids = excluded.fact_ids,
        token_count = excluded.token_count, basis = excluded.basis, details = excluded.details,
        expires_at = excluded.expires_at, updated_at = excluded.updated_at
RETURNING c.updated_at AS made_at, c.expires_at;

-- name: record
-- params: user_id, app_name, memory_ids, fact_ids, items, budget_tokens, used_tokens
-- What nobody asked for is no access of it: the row is for feedback alone.
INSERT INTO :"schema".memory_retrieval_logs
    (user_id, app_name, query, retrieved_memory_ids, retrieved_fact_ids, items, search_level, budget_tokens,
     used_tokens, counted, applied_at)
SELECT u.user_id, u.app_name, '', %(memory_ids)s::uuid[], %(fact_ids)s::uuid[], %(items)s::jsonb, 'recall',
    %(budget_tokens)s::integer, %(used_tokens)s::integer, false, now()
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
RETURNING id AS retrieval_id;
