-- Facts: written by key, read as they are, were, or were believed to be.

-- name: upsert
-- params: user_id, app_name, facts, actor
SELECT u.place AS position, u.action, u.id, u.previous_id, u.conflict_id
FROM :"schema".upsert_facts(%(user_id)s::text, %(app_name)s::text, %(facts)s::jsonb, %(actor)s::text) AS u
ORDER BY u.place;

-- name: standing
-- params: user_id, app_name, types, keys
-- returns: the values that stand under these keys, so that a name said in another way is known again
SELECT f.id, f.fact_type::text AS type, f.key::text AS key, f.value,
    f.status = 'active' AND (f.valid_until IS NULL OR f.valid_until = 'infinity') AS is_current,
    EXISTS (SELECT 1 FROM :"schema".fact_vectors AS v
            WHERE v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id) AS embedded
FROM :"schema".facts AS f
JOIN (SELECT DISTINCT t.type, t.key FROM unnest(%(types)s::text[], %(keys)s::text[]) AS t (type, key)) AS wanted
    ON f.fact_type = wanted.type AND f.key = wanted.key
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.deleted_at IS NULL AND f.expired_at IS NULL;

-- name: owners
-- params: app_name, ids
-- returns: whose facts these are; for commands that name a fact and no user
SELECT DISTINCT f.user_id::text AS user_id
FROM :"schema".facts AS f
WHERE f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[]);

-- name: show
-- params: user_id, app_name, ids
SELECT f.id, f.fact_type::text AS type, f.key::text AS key, f.value, :"schema".fact_text(f.key, f.value) AS text,
    f.confidence, f.importance_score AS importance, f.origin::text AS origin, f.status::text AS status,
    f.user_id::text AS user, f.app_name::text AS app, t.external_id AS thread, f.thread_id, f.metadata, f.version,
    f.valid_from, NULLIF(f.valid_until, 'infinity') AS valid_until, f.created_at, f.updated_at, f.expired_at,
    f.superseded_at, f.superseded_by, f.access_count, f.last_accessed_at, f.pinned_at, f.deleted_at, f.deleted_reason,
    EXISTS (SELECT 1 FROM :"schema".fact_vectors AS v
            WHERE v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id) AS embedded,
    (SELECT count(*) FROM :"schema".item_sources AS s
     WHERE s.user_id = f.user_id AND s.app_name = f.app_name AND s.item_id = f.id)::integer AS sources
FROM :"schema".facts AS f
LEFT JOIN :"schema".threads AS t
    ON t.user_id = f.user_id AND t.app_name = f.app_name AND t.id = f.thread_id
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.id = ANY (%(ids)s::uuid[])
ORDER BY array_position(%(ids)s::uuid[], f.id);

-- name: list
-- params: user_id, app_name, fact_type, key, names, thread, as_of, believed_at, row_limit, row_offset
-- names: of the profile's field that the key is
-- What was true at as_of, by what was believed at believed_at: facts_held().
SELECT f.id, count(*) OVER () AS total
FROM :"schema".facts_held(%(user_id)s::text, %(app_name)s::text, %(as_of)s::timestamptz,
    %(believed_at)s::timestamptz) AS h (id)
JOIN :"schema".facts AS f
    ON f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = h.id
LEFT JOIN :"schema".threads AS t
    ON t.user_id = f.user_id AND t.app_name = f.app_name AND t.id = f.thread_id
WHERE (%(fact_type)s::text IS NULL OR f.fact_type = %(fact_type)s::text)
    AND (%(key)s::text IS NULL OR f.key = %(key)s::text OR f.fact_type = 'profile' AND f.key = ANY (%(names)s::text[]))
    AND (%(thread)s::text IS NULL OR t.external_id = %(thread)s::text)
ORDER BY f.fact_type, f.key, f.valid_from, f.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: removed
-- params: user_id, app_name, fact_type, key, names, thread, row_limit, row_offset
SELECT f.id, count(*) OVER () AS total
FROM :"schema".facts AS f
LEFT JOIN :"schema".threads AS t
    ON t.user_id = f.user_id AND t.app_name = f.app_name AND t.id = f.thread_id
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NOT NULL
    AND (%(fact_type)s::text IS NULL OR f.fact_type = %(fact_type)s::text)
    AND (%(key)s::text IS NULL OR f.key = %(key)s::text OR f.fact_type = 'profile' AND f.key = ANY (%(names)s::text[]))
    AND (%(thread)s::text IS NULL OR t.external_id = %(thread)s::text)
ORDER BY f.deleted_at DESC, f.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: history
-- params: user_id, app_name, id, keys
-- returns: the ids of all versions under the key of one fact and under its field's other names, by when they were
--   true, then by when they were recorded
SELECT v.id
FROM :"schema".facts AS f
JOIN :"schema".facts AS v
    ON v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_type = f.fact_type AND v.key = ANY (%(keys)s::text[])
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = %(id)s::uuid
ORDER BY v.valid_from NULLS FIRST, v.created_at, v.valid_until NULLS LAST, v.id;

-- name: by_key
-- params: user_id, app_name, fact_type, key, names
-- returns: the newest version under a key, or under this key in each type
SELECT DISTINCT ON (f.fact_type) f.id, f.fact_type::text AS type
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND (f.key = %(key)s::text OR f.fact_type = 'profile' AND f.key = ANY (%(names)s::text[]))
    AND (%(fact_type)s::text IS NULL OR f.fact_type = %(fact_type)s::text)
ORDER BY f.fact_type, f.valid_from DESC NULLS LAST, f.created_at DESC, f.id;

-- name: forget
-- params: user_id, app_name, ids, reason, actor
SELECT :"schema".forget_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(reason)s::text,
    %(actor)s::text) AS changed;

-- name: restore
-- params: user_id, app_name, ids, actor
SELECT :"schema".restore_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(actor)s::text) AS changed;

-- name: lock
-- params: user_id, app_name
SELECT :"schema".lock_facts(%(user_id)s::text, %(app_name)s::text);

-- name: replaced
-- params: user_id, app_name, ids
-- returns: of these removed facts those under whose key another one stands by now
SELECT f.id, f.key::text AS key, f.fact_type::text AS type
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[])
    AND f.deleted_at IS NOT NULL AND f.status = 'active' AND f.valid_until IS NULL
    AND EXISTS (
        SELECT 1 FROM :"schema".facts AS o
        WHERE o.user_id = f.user_id AND o.app_name = f.app_name AND o.fact_type = f.fact_type AND o.key = f.key
            AND o.id <> f.id AND o.deleted_at IS NULL AND o.status = 'active' AND o.valid_until IS NULL);

-- name: current
-- params: user_id, app_name, row_limit
-- returns: the facts that stand, oldest first
SELECT f.id, f.fact_type::text AS type, f.key::text AS key, f.value
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NULL
    AND f.status = 'active' AND (f.valid_until IS NULL OR f.valid_until = 'infinity')
ORDER BY f.valid_from NULLS FIRST, f.created_at, f.id
LIMIT %(row_limit)s::integer;

-- name: one
-- params: user_id, app_name, id
SELECT f.value
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = %(id)s::uuid
    AND f.deleted_at IS NULL AND f.status = 'active';

-- name: move
-- params: user_id, app_name, id, key, value, actor
SELECT :"schema".move_fact(%(user_id)s::text, %(app_name)s::text, %(id)s::uuid, %(key)s::text, %(value)s::jsonb,
    %(actor)s::text) AS moved;

-- name: search
-- params: user_id, app_name, query, embedding, as_of, believed_at, fact_type, row_limit, semantic_weight, keyword_weight
SELECT s.id, s.score, s.semantic, s.keyword
FROM :"schema".search_facts(%(user_id)s::text, %(app_name)s::text, %(query)s::text,
    %(embedding)s::text:::"vector_schema".vector, %(as_of)s::timestamptz, %(believed_at)s::timestamptz,
    %(fact_type)s::text, %(row_limit)s::integer, %(semantic_weight)s::float8, %(keyword_weight)s::float8) AS s
ORDER BY s.score DESC, s.id;
