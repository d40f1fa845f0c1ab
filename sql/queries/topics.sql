-- Topics: groups of similar memories of one user.

-- name: model
-- params: app_name
-- returns: the active embedding model and its calibration
SELECT m.id, m.calibration FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: pending
-- params: user_id, app_name, thread_id, model_id, step, row_limit
-- returns: live memories with a vector that have no topic for their present text, in the order of what was said
SELECT m.id
FROM :"schema".memories AS m
JOIN :"schema".memory_vectors AS v
    ON v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id
    AND v.model_id = %(model_id)s::smallint AND v.live
LEFT JOIN :"schema".threads AS t
    ON t.user_id = m.user_id AND t.app_name = m.app_name AND t.id = m.thread_id
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND (%(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s::uuid)
    AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_formation AS d
        WHERE d.user_id = m.user_id AND d.app_name = m.app_name AND d.memory_id = m.id
            AND d.step = %(step)s::text AND d.content_version = m.version)
ORDER BY m.occurred_at NULLS FIRST, t.external_id, m.position, m.content, m.id
LIMIT %(row_limit)s::integer;

-- name: lock
-- params: user_id, app_name
-- One at a time works on the topics of a user, until its transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(
    'negmem:topics:' || :'schema' || ':' || %(app_name)s::text || ':' || %(user_id)s::text, 0));

-- name: chosen
-- params: user_id, app_name, model_id, step, ids
-- returns: those of the memories that are still pending, with their vectors, in the order of the ids
SELECT m.id, m.version, v.embedding::real[] AS vector, b.topic_id
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place)
JOIN :"schema".memories AS m
    ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = g.id
    AND m.deleted_at IS NULL
JOIN :"schema".memory_vectors AS v
    ON v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id
    AND v.model_id = %(model_id)s::smallint AND v.live
LEFT JOIN :"schema".memory_topic_members AS b
    ON b.user_id = m.user_id AND b.app_name = m.app_name AND b.memory_id = m.id
WHERE NOT EXISTS (
    SELECT 1 FROM :"schema".memory_formation AS d
    WHERE d.user_id = m.user_id AND d.app_name = m.app_name AND d.memory_id = m.id
        AND d.step = %(step)s::text AND d.content_version = m.version)
ORDER BY g.place;

-- name: leave
-- params: user_id, app_name, ids
DELETE FROM :"schema".memory_topic_members AS b
WHERE b.user_id = %(user_id)s::varchar AND b.app_name = %(app_name)s::varchar AND b.memory_id = ANY (%(ids)s::uuid[]);

-- name: drop_empty
-- params: user_id, app_name, ids
DELETE FROM :"schema".memory_topics AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.id = ANY (%(ids)s::uuid[])
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_topic_members AS b
        WHERE b.user_id = t.user_id AND b.app_name = t.app_name AND b.topic_id = t.id);

-- name: recentre
-- params: user_id, app_name, model_id, ids
-- Topics of another model, and those given by id, take the mean of their members' vectors of this one.
UPDATE :"schema".memory_topics AS t
SET centroid = fresh.centroid, model_id = %(model_id)s::smallint, member_count = fresh.members
FROM (
    SELECT b.topic_id, avg(v.embedding:::"vector_schema".vector) AS centroid, count(*)::integer AS members
    FROM :"schema".memory_topic_members AS b
    JOIN :"schema".memory_topics AS o
        ON o.user_id = b.user_id AND o.app_name = b.app_name AND o.id = b.topic_id
    JOIN :"schema".memory_vectors AS v
        ON v.user_id = b.user_id AND v.app_name = b.app_name AND v.memory_id = b.memory_id
        AND v.model_id = %(model_id)s::smallint
    WHERE b.user_id = %(user_id)s::varchar AND b.app_name = %(app_name)s::varchar
        AND (o.model_id <> %(model_id)s::smallint OR o.id = ANY (%(ids)s::uuid[]))
    GROUP BY b.topic_id
) AS fresh
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.id = fresh.topic_id;

-- name: centres
-- params: user_id, app_name, model_id
SELECT t.id, t.centroid::real[] AS centroid, t.member_count AS members, t.labelled_at_count AS labelled
FROM :"schema".memory_topics AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND t.model_id = %(model_id)s::smallint
ORDER BY t.created_at, t.id;

-- name: put
-- params: user_id, app_name, model_id, ids, centroids, members
-- The centroids are texts such as [0.1,0.2].
INSERT INTO :"schema".memory_topics AS t (user_id, app_name, id, model_id, centroid, member_count)
SELECT %(user_id)s::varchar, %(app_name)s::varchar, g.id, %(model_id)s::smallint,
    g.centroid:::"vector_schema".vector, g.members
FROM unnest(%(ids)s::uuid[], %(centroids)s::text[], %(members)s::integer[]) AS g (id, centroid, members)
ORDER BY g.id
ON CONFLICT (user_id, app_name, id) DO UPDATE
    SET centroid = excluded.centroid, member_count = excluded.member_count, updated_at = now();

-- name: join
-- params: user_id, app_name, memory_ids, topic_ids, similarities
INSERT INTO :"schema".memory_topic_members AS b (user_id, app_name, memory_id, topic_id, similarity)
SELECT %(user_id)s::varchar, %(app_name)s::varchar, g.memory_id, g.topic_id, g.similarity
FROM unnest(%(memory_ids)s::uuid[], %(topic_ids)s::uuid[], %(similarities)s::float8[])
    AS g (memory_id, topic_id, similarity)
ORDER BY g.memory_id
ON CONFLICT (user_id, app_name, memory_id) DO UPDATE
    SET topic_id = excluded.topic_id, similarity = excluded.similarity;

-- name: evict
-- params: user_id, app_name, model_id, keep
-- Beyond a number the oldest topics of one member go: nothing came near them. Their memories stay.
DELETE FROM :"schema".memory_topics AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND t.id IN (
        SELECT o.id
        FROM (
            SELECT one.id, one.member_count,
                row_number() OVER (ORDER BY one.member_count > 1 DESC, one.updated_at DESC, one.id) AS place
            FROM :"schema".memory_topics AS one
            WHERE one.user_id = %(user_id)s::varchar AND one.app_name = %(app_name)s::varchar
                AND one.model_id = %(model_id)s::smallint
        ) AS o
        WHERE o.place > %(keep)s::integer AND o.member_count <= 1);

-- name: texts
-- params: user_id, app_name, id, row_limit
SELECT m.content
FROM :"schema".memory_topic_members AS b
JOIN :"schema".memories AS m ON m.user_id = b.user_id AND m.app_name = b.app_name AND m.id = b.memory_id
WHERE b.user_id = %(user_id)s::varchar AND b.app_name = %(app_name)s::varchar AND b.topic_id = %(id)s::uuid
    AND m.deleted_at IS NULL
ORDER BY b.similarity DESC, m.content
LIMIT %(row_limit)s::integer;

-- name: background
-- params: user_id, app_name, row_limit
-- returns: what the user has lately said of anything, to tell what words are common
SELECT m.content FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
ORDER BY m.created_at DESC, m.id
LIMIT %(row_limit)s::integer;

-- name: label
-- params: user_id, app_name, id, label, members
UPDATE :"schema".memory_topics AS t
SET label = %(label)s::varchar, labelled_at_count = %(members)s::integer
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.id = %(id)s::uuid;

-- name: list
-- params: user_id, app_name, row_limit, row_offset
-- returns: topics of two live members or more, the largest first; `total` counts them all
SELECT t.id, t.label::text AS label, live.members, t.created_at, t.updated_at, count(*) OVER () AS total,
    ARRAY(
        SELECT jsonb_build_object('id', m.id, 'content', m.content)
        FROM :"schema".memory_topic_members AS b
        JOIN :"schema".memories AS m
            ON m.user_id = b.user_id AND m.app_name = b.app_name AND m.id = b.memory_id
        WHERE b.user_id = t.user_id AND b.app_name = t.app_name AND b.topic_id = t.id AND m.deleted_at IS NULL
        ORDER BY b.similarity DESC, m.id
        LIMIT 3
    ) AS examples
FROM :"schema".memory_topics AS t
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS members
    FROM :"schema".memory_topic_members AS b
    JOIN :"schema".memories AS m
        ON m.user_id = b.user_id AND m.app_name = b.app_name AND m.id = b.memory_id
    WHERE b.user_id = t.user_id AND b.app_name = t.app_name AND b.topic_id = t.id AND m.deleted_at IS NULL
) AS live
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND live.members >= 2
ORDER BY live.members DESC, t.created_at, t.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;
