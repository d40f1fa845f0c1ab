-- What doctor --fix mends: each step is small, commits by itself and may be repeated.

-- name: orphan_batch
-- params: most
-- returns: memories that are not live any more and still have search terms, grouped by owner
SELECT s.user_id, s.app_name, array_agg(s.memory_id) AS ids
FROM (
    SELECT DISTINCT t.user_id, t.app_name, t.memory_id
    FROM :"schema".memory_terms AS t
    WHERE NOT EXISTS (
        SELECT 1 FROM :"schema".memories AS m
        WHERE m.user_id = t.user_id AND m.app_name = t.app_name AND m.id = t.memory_id
            AND m.deleted_at IS NULL)
    LIMIT %(most)s::integer
) AS s
GROUP BY s.user_id, s.app_name;

-- name: unindex
-- params: user_id, app_name, ids
SELECT :"schema".unindex_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS unindexed;

-- name: term_owners
-- params: after_user, after_app, most
-- returns: owners of terms or of statistics, in order, after the one that was named
SELECT o.user_id, o.app_name
FROM (
    SELECT s.user_id, s.app_name FROM :"schema".memory_term_stats AS s
    WHERE (s.user_id, s.app_name) > (%(after_user)s::varchar, %(after_app)s::varchar)
    UNION
    SELECT m.user_id, m.app_name FROM :"schema".memories AS m
    WHERE m.deleted_at IS NULL
        AND (m.user_id, m.app_name) > (%(after_user)s::varchar, %(after_app)s::varchar)
) AS o
ORDER BY o.user_id, o.app_name
LIMIT %(most)s::integer;

-- name: lock_statistics
-- params: user_id, app_name
-- The row is made where it is missing and locked, so that no writer counts in between.
INSERT INTO :"schema".memory_term_stats AS s (user_id, app_name, documents, total_len)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, 0, 0)
ON CONFLICT (user_id, app_name) DO UPDATE SET documents = s.documents
RETURNING documents, total_len;

-- name: recount_statistics
-- params: user_id, app_name
-- returns: the number of rows that changed
UPDATE :"schema".memory_term_stats AS s
SET documents = p.documents, total_len = p.total_len
FROM (
    SELECT count(*) AS documents, COALESCE(sum(d.len), 0)::bigint AS total_len
    FROM (
        SELECT DISTINCT t.memory_id, t.len FROM :"schema".memory_terms AS t
        WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    ) AS d
) AS p
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
    AND (s.documents, s.total_len) IS DISTINCT FROM (p.documents, p.total_len);

-- name: unindexed
-- params: user_id, app_name
-- returns: live memories of one owner without any search term
SELECT COALESCE(array_agg(m.id), '{}') AS ids
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.deleted_at IS NULL
    AND m.id NOT IN (
        SELECT t.memory_id FROM :"schema".memory_terms AS t
        WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar);

-- name: index_memories
-- params: user_id, app_name, ids
SELECT :"schema".index_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS indexed;

-- name: apply_accesses
-- params: app_name
SELECT :"schema".apply_recorded_accesses(%(app_name)s::text) AS applied;

-- name: bare_memories
-- params: app_name, model_id, after_user, after_id, most
-- returns: live memories without a vector of the model, in order, after the one that was named
SELECT m.user_id::text AS user_id, m.id, m.content, m.metadata ->> 'speaker' AS speaker
FROM :"schema".memories AS m
WHERE m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND (m.user_id, m.id) > (%(after_user)s::varchar, %(after_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_vectors AS v
        WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id
            AND v.model_id = %(model_id)s::smallint)
ORDER BY m.user_id, m.id
LIMIT %(most)s::integer;
