-- Single memories: add, show, list, edit, pin.

-- name: owners
-- params: app_name, ids
-- returns: whose memories these are; for commands that name a memory and no user
SELECT DISTINCT m.user_id::text AS user_id
FROM :"schema".memories AS m
WHERE m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[]);

-- name: user_known
-- params: user_id, app_name
SELECT 1 AS known FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar;

-- name: add_user
-- params: user_id, app_name
-- The user is known from here on, and may be written for: refused while erased or paused.
SELECT :"schema".admit_writer(%(user_id)s::text, %(app_name)s::text);

-- name: open_thread
-- params: user_id, app_name, thread
INSERT INTO :"schema".threads AS t (user_id, app_name, external_id, occurred_at)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(thread)s::text, now())
ON CONFLICT (user_id, app_name, external_id) DO UPDATE SET updated_at = now(), version = t.version + 1
RETURNING t.id;

-- name: add
-- params: id, user_id, app_name, thread_id, memory_type, content, metadata, occurred_at
-- returns: the id; none when a memory with this id stands already
INSERT INTO :"schema".memories
    (id, user_id, app_name, thread_id, memory_type, content, metadata, occurred_at, importance_score)
VALUES (%(id)s::uuid, %(user_id)s::varchar, %(app_name)s::varchar, %(thread_id)s::uuid,
    %(memory_type)s::varchar, %(content)s::text, %(metadata)s::jsonb,
    COALESCE(%(occurred_at)s::timestamptz, now()),
    :"schema".calculate_importance_score(0, now(), now(), %(memory_type)s::text))
ON CONFLICT (user_id, app_name, id) DO NOTHING
RETURNING id;

-- name: put_vector
-- params: user_id, app_name, memory_id, model_id, embedding
INSERT INTO :"schema".memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)
SELECT %(user_id)s::varchar, %(app_name)s::varchar, %(memory_id)s::uuid, m.id,
    :"schema".embedding_bits(%(embedding)s::real[]:::"vector_schema".vector, m.mean),
    %(embedding)s::real[]:::"vector_schema".halfvec
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
ON CONFLICT (user_id, app_name, memory_id, model_id) DO UPDATE
    SET bits = excluded.bits, embedding = excluded.embedding, live = true;

-- name: drop_vectors
-- params: user_id, app_name, memory_id
DELETE FROM :"schema".memory_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.memory_id = %(memory_id)s::uuid;

-- name: index
-- params: user_id, app_name, ids
SELECT :"schema".index_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: unindex
-- params: user_id, app_name, ids
SELECT :"schema".unindex_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: rescore_thread
-- params: user_id, app_name, ids
-- The memories and, while their threads are small, the others of the thread: related_count is capped at five.
SELECT :"schema".rescore_memories(%(user_id)s::text, %(app_name)s::text, ARRAY(
    SELECT m.id FROM :"schema".memories AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
        AND m.id = ANY (%(ids)s::uuid[])
    UNION
    SELECT other.id
    FROM :"schema".memories AS m
    CROSS JOIN LATERAL (
        SELECT o.id FROM :"schema".memories AS o
        WHERE o.user_id = m.user_id AND o.app_name = m.app_name AND o.thread_id = m.thread_id
            AND o.deleted_at IS NULL
        ORDER BY o.position NULLS LAST
        LIMIT 8
    ) AS other
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
        AND m.id = ANY (%(ids)s::uuid[])
));

-- name: show
-- params: user_id, app_name, ids
SELECT m.id, m.user_id::text AS user, m.app_name::text AS app, m.memory_type::text AS type, m.content,
    t.external_id AS thread, m.thread_id, m.metadata, m.version,
    m.created_at, m.occurred_at, m.updated_at, m.last_accessed_at, m.access_count,
    m.importance_score AS importance, m.relevance_weight,
    m.fades_at = 'infinity' AS never_fades,
    CASE WHEN m.fades_at = 'infinity' THEN NULL ELSE m.fades_at END AS fades_at,
    m.pinned_at, m.deleted_at, m.deleted_reason,
    :"schema".calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at, m.memory_type::text,
        (SELECT LEAST(5, GREATEST(0, count(*) - 1))::integer FROM (
            SELECT 1 FROM :"schema".memories AS o
            WHERE o.user_id = m.user_id AND o.app_name = m.app_name AND o.thread_id = m.thread_id
                AND o.deleted_at IS NULL
            LIMIT 8) AS capped),
        :"schema".retention_decay_override(m.metadata)) AS retention,
    EXISTS (SELECT 1 FROM :"schema".memory_vectors AS v
            WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id) AS embedded,
    (SELECT count(*) FROM :"schema".item_sources AS s
     WHERE s.user_id = m.user_id AND s.app_name = m.app_name AND s.item_id = m.id)::integer AS sources,
    p.label::text AS topic, p.id AS topic_id
FROM :"schema".memories AS m
LEFT JOIN :"schema".threads AS t
    ON t.user_id = m.user_id AND t.app_name = m.app_name AND t.id = m.thread_id
LEFT JOIN :"schema".memory_topic_members AS b
    ON b.user_id = m.user_id AND b.app_name = m.app_name AND b.memory_id = m.id
LEFT JOIN :"schema".memory_topics AS p
    ON p.user_id = b.user_id AND p.app_name = b.app_name AND p.id = b.topic_id AND p.member_count > 1
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.id = ANY (%(ids)s::uuid[])
ORDER BY array_position(%(ids)s::uuid[], m.id);

-- name: list
-- params: user_id, app_name, memory_type, thread, since, until, metadata, deleted, pinned, newest_first, row_limit,
--   row_offset
-- Lists by when it was said; the ids come first, so that details are read for the page alone.
SELECT m.id, count(*) OVER () AS total
FROM :"schema".memories AS m
LEFT JOIN :"schema".threads AS t
    ON t.user_id = m.user_id AND t.app_name = m.app_name AND t.id = m.thread_id
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND (m.deleted_at IS NOT NULL) = %(deleted)s::boolean
    AND (%(memory_type)s::text IS NULL OR m.memory_type = %(memory_type)s::text)
    AND (%(thread)s::text IS NULL OR t.external_id = %(thread)s::text)
    AND (%(since)s::timestamptz IS NULL OR m.occurred_at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR m.occurred_at < %(until)s::timestamptz)
    AND (%(metadata)s::jsonb IS NULL OR m.metadata @> %(metadata)s::jsonb)
    AND (NOT %(pinned)s::boolean OR m.pinned_at IS NOT NULL)
ORDER BY
    CASE WHEN %(newest_first)s::boolean THEN m.occurred_at END DESC NULLS LAST,
    CASE WHEN NOT %(newest_first)s::boolean THEN m.occurred_at END ASC NULLS LAST,
    m.created_at DESC, m.position DESC NULLS LAST, m.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: lock
-- params: user_id, app_name, id
SELECT m.id, m.content, m.memory_type::text AS type, m.metadata, m.version, m.occurred_at,
    m.deleted_at IS NOT NULL AS is_deleted
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid
FOR UPDATE;

-- name: keep_version
-- params: user_id, app_name, id, version, before, reason, changed_by
INSERT INTO :"schema".memory_versions (user_id, app_name, memory_id, version, before, reason, changed_by)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(id)s::uuid, %(version)s::integer,
    %(before)s::jsonb, %(reason)s::text, %(changed_by)s::text);

-- name: edit
-- params: user_id, app_name, id, content, memory_type, metadata
UPDATE :"schema".memories AS m
SET content = %(content)s::text, memory_type = %(memory_type)s::varchar, metadata = %(metadata)s::jsonb,
    version = m.version + 1, updated_at = now()
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid;

-- name: pin
-- params: user_id, app_name, ids, pinned
-- returns: the memories whose state changed
UPDATE :"schema".memories AS m
SET pinned_at = CASE WHEN %(pinned)s::boolean THEN now() END, updated_at = now()
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.id = ANY (%(ids)s::uuid[]) AND m.deleted_at IS NULL
    AND (m.pinned_at IS NOT NULL) <> %(pinned)s::boolean
RETURNING m.id;

-- name: forget
-- params: user_id, app_name, ids, reason, actor
SELECT :"schema".forget_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(reason)s::text,
    %(actor)s::text) AS changed;

-- name: restore
-- params: user_id, app_name, ids, actor
SELECT :"schema".restore_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(actor)s::text) AS changed;

-- name: versions
-- params: user_id, app_name, id
SELECT v.version, v.before, v.reason, v.changed_by, v.changed_at
FROM :"schema".memory_versions AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar AND v.memory_id = %(id)s::uuid
ORDER BY v.version;
