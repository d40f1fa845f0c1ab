-- Feedback on what a search, context or recall gave.

-- name: owners
-- params: app_name, id
-- returns: whose retrieval this is, for callers that name no user; reads the logs of the app
SELECT l.user_id::text AS user_id
FROM :"schema".memory_retrieval_logs AS l
WHERE l.app_name = %(app_name)s::varchar AND l.id = %(id)s::uuid;

-- name: lock
-- params: user_id, app_name, id
-- returns: what the retrieval gave; the row is held, so that two who say the same at once are counted once
SELECT l.retrieved_memory_ids AS memory_ids, COALESCE(l.retrieved_fact_ids, '{}') AS fact_ids, l.query,
    l.search_level AS level, l.created_at
FROM :"schema".memory_retrieval_logs AS l
WHERE l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar AND l.id = %(id)s::uuid
FOR UPDATE;

-- name: same
-- params: user_id, app_name, retrieval_id, outcome, memory_ids, used_ids, rating
-- returns: the feedback that says just this, unless a later one on the same items says otherwise
SELECT f.id, f.created_at
FROM :"schema".retrieval_feedback AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.retrieval_id = %(retrieval_id)s::uuid
    AND f.outcome = %(outcome)s::text AND f.memory_ids = %(memory_ids)s::uuid[]
    AND f.used_ids = %(used_ids)s::uuid[] AND f.rating IS NOT DISTINCT FROM %(rating)s::smallint
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".retrieval_feedback AS g
        WHERE g.user_id = f.user_id AND g.app_name = f.app_name AND g.retrieval_id = f.retrieval_id
            AND (g.created_at, g.id) > (f.created_at, f.id)
            AND ((g.memory_ids || g.used_ids) && (f.memory_ids || f.used_ids)
                OR cardinality(g.memory_ids || g.used_ids) + cardinality(f.memory_ids || f.used_ids) = 0))
ORDER BY f.created_at DESC
LIMIT 1;

-- name: give
-- params: user_id, app_name, retrieval_id, outcome, memory_ids, used_ids, rating, given_by
INSERT INTO :"schema".retrieval_feedback
    (user_id, app_name, retrieval_id, outcome, memory_ids, used_ids, rating, given_by, created_at)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(retrieval_id)s::uuid, %(outcome)s::varchar,
    %(memory_ids)s::uuid[], %(used_ids)s::uuid[], %(rating)s::smallint, %(given_by)s::text, clock_timestamp())
RETURNING id, created_at;

-- name: mark
-- params: user_id, app_name, id
-- The log says the last outcome, and how many of its items were named as used, by any feedback.
UPDATE :"schema".memory_retrieval_logs AS l
SET outcome_feedback = said.outcome, was_referenced = said.used > 0, reference_count = said.used
FROM (
    SELECT (array_agg(f.outcome ORDER BY f.created_at DESC, f.id DESC))[1] AS outcome,
        (SELECT count(DISTINCT u.id)::integer
         FROM :"schema".retrieval_feedback AS g
         CROSS JOIN LATERAL unnest(
             g.used_ids || CASE WHEN g.outcome = 'helpful' THEN g.memory_ids ELSE '{}' END) AS u (id)
         WHERE g.user_id = %(user_id)s::varchar AND g.app_name = %(app_name)s::varchar
            AND g.retrieval_id = %(id)s::uuid) AS used
    FROM :"schema".retrieval_feedback AS f
    WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.retrieval_id = %(id)s::uuid
) AS said
WHERE l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar AND l.id = %(id)s::uuid;
