-- Embedding models: what is stored with which, and the online change from one to another.

-- name: stored
-- params: app_name
-- returns: the model whose vectors are searched, with the settings it was made by
SELECT m.id, m.provider::text AS provider, m.model::text AS model, m.version::text AS version, m.dims, m.settings
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: models
-- params: app_name
-- returns: every model of the app; how many live memories, active facts, learnings and entities have its vector, and
--   how many lack it
SELECT m.id, m.provider::text AS provider, m.model::text AS model, m.version::text AS version, m.dims,
    m.status::text AS status, m.settings, m.activated_at, m.retired_at, m.created_at, m.lease_by,
    m.lease_until > now() AS is_leased, v.memories, v.memories_missing, f.facts, f.facts_missing, s.shared,
    s.shared_missing
FROM :"schema".embedding_models AS m
CROSS JOIN LATERAL (
    SELECT count(x.memory_id)::integer AS memories, (count(*) - count(x.memory_id))::integer AS memories_missing
    FROM :"schema".memories AS one
    LEFT JOIN :"schema".memory_vectors AS x
        ON x.user_id = one.user_id AND x.app_name = one.app_name AND x.memory_id = one.id AND x.model_id = m.id
    WHERE one.app_name = m.app_name AND one.deleted_at IS NULL
) AS v
CROSS JOIN LATERAL (
    SELECT count(x.fact_id)::integer AS facts, (count(*) - count(x.fact_id))::integer AS facts_missing
    FROM :"schema".facts AS one
    LEFT JOIN :"schema".fact_vectors AS x
        ON x.user_id = one.user_id AND x.app_name = one.app_name AND x.fact_id = one.id AND x.model_id = m.id
    WHERE one.app_name = m.app_name AND one.deleted_at IS NULL AND one.status = 'active'
) AS f
CROSS JOIN LATERAL (
    SELECT count(x.item_id)::integer AS shared, (count(*) - count(x.item_id))::integer AS shared_missing
    FROM (
        SELECT l.owner_kind, l.owner, l.app_name, 'learning' AS item_kind, l.id FROM :"schema".learnings AS l
        WHERE l.app_name = m.app_name AND l.deleted_at IS NULL
        UNION ALL
        SELECT e.owner_kind, e.owner, e.app_name, 'entity', e.id FROM :"schema".entities AS e
        WHERE e.app_name = m.app_name AND e.deleted_at IS NULL AND e.archived_at IS NULL
    ) AS one
    LEFT JOIN :"schema".shared_vectors AS x
        ON x.owner_kind = one.owner_kind AND x.owner = one.owner AND x.app_name = one.app_name
        AND x.item_kind = one.item_kind AND x.item_id = one.id AND x.model_id = m.id
) AS s
WHERE m.app_name = %(app_name)s::varchar
ORDER BY m.id;

-- name: size
-- params: app_name, model_id
-- returns: how many texts lack a vector of the model (all of them where it is none yet), and their tokens by the
--   estimate of a sample
SELECT count(*)::integer AS texts,
    COALESCE(ceil(avg(:"schema".estimate_tokens(left(t.text, 8000))) FILTER (WHERE t.number <= 2000) * count(*)), 0)::bigint
        AS tokens
FROM (
    SELECT due.text, row_number() OVER () AS number
    FROM (
        SELECT one.content AS text
        FROM :"schema".memories AS one
        WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM :"schema".memory_vectors AS v
            WHERE v.user_id = one.user_id AND v.app_name = one.app_name AND v.memory_id = one.id
                AND v.model_id = %(model_id)s::smallint)
        UNION ALL
        SELECT :"schema".fact_text(one.key, one.value)
        FROM :"schema".facts AS one
        WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM :"schema".fact_vectors AS v
            WHERE v.user_id = one.user_id AND v.app_name = one.app_name AND v.fact_id = one.id
                AND v.model_id = %(model_id)s::smallint)
        UNION ALL
        SELECT :"schema".shared_item_text(one.owner_kind::text, one.owner::text, one.app_name::text, 'learning', one.id)
        FROM :"schema".learnings AS one
        WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM :"schema".shared_vectors AS v
            WHERE v.owner_kind = one.owner_kind AND v.owner = one.owner AND v.app_name = one.app_name
                AND v.item_kind = 'learning' AND v.item_id = one.id AND v.model_id = %(model_id)s::smallint)
        UNION ALL
        SELECT :"schema".shared_item_text(one.owner_kind::text, one.owner::text, one.app_name::text, 'entity', one.id)
        FROM :"schema".entities AS one
        WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND one.archived_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM :"schema".shared_vectors AS v
            WHERE v.owner_kind = one.owner_kind AND v.owner = one.owner AND v.app_name = one.app_name
                AND v.item_kind = 'entity' AND v.item_id = one.id AND v.model_id = %(model_id)s::smallint)
    ) AS due
) AS t;

-- name: begin
-- params: app_name, provider, model, version, dims, calibration, mean, settings
-- returns: the id of the model, made or found; its settings are those of today
INSERT INTO :"schema".embedding_models AS m
    (app_name, id, provider, model, version, dims, status, calibration, mean, settings)
SELECT %(app_name)s::varchar,
    COALESCE((SELECT max(o.id) FROM :"schema".embedding_models AS o WHERE o.app_name = %(app_name)s::varchar), 0) + 1,
    %(provider)s::text, %(model)s::text, %(version)s::text, %(dims)s::integer, 'building', %(calibration)s::jsonb,
    %(mean)s::real[]:::"vector_schema".vector, %(settings)s::jsonb
ON CONFLICT ON CONSTRAINT embedding_models_unique DO UPDATE SET settings = excluded.settings
RETURNING m.id;

-- name: lock_app
-- params: app_name
-- Two who begin a change at once agree on its number.
SELECT pg_advisory_xact_lock(hashtextextended('negmem:embedding:' || :'schema' || ':' || %(app_name)s::text, 0));

-- name: lease
-- params: app_name, model_id, by, seconds, over
-- returns: the id, where the model is free, ours, or held by `over`, who is known to be gone
UPDATE :"schema".embedding_models AS m
SET lease_by = %(by)s::text, lease_until = now() + make_interval(secs => %(seconds)s::float8)
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
    AND (m.lease_until IS NULL OR m.lease_until <= now() OR m.lease_by IN (%(by)s::text, %(over)s::text))
RETURNING m.id;

-- name: release
-- params: app_name, model_id, by
UPDATE :"schema".embedding_models AS m
SET lease_by = NULL, lease_until = NULL
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint AND m.lease_by = %(by)s::text;

-- name: missing_memories
-- params: app_name, model_id, after_user, after_id, row_limit
-- returns: live memories without a vector of the model, in the order of their key
SELECT one.user_id::text AS user_id, one.id, one.version, one.content AS text, one.metadata ->> 'speaker' AS speaker
FROM :"schema".memories AS one
WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL
    AND (one.user_id, one.id) > (%(after_user)s::varchar, %(after_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_vectors AS v
        WHERE v.user_id = one.user_id AND v.app_name = one.app_name AND v.memory_id = one.id
            AND v.model_id = %(model_id)s::smallint)
ORDER BY one.user_id, one.id
LIMIT %(row_limit)s::integer;

-- name: missing_facts
-- params: app_name, model_id, after_user, after_id, row_limit
-- returns: facts without a vector of the model, in the order of their key; what is true no more too, for a search as of
--   a day
SELECT one.user_id::text AS user_id, one.id, one.version, :"schema".fact_text(one.key, one.value) AS text,
    NULL::text AS speaker
FROM :"schema".facts AS one
WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL
    AND (one.user_id, one.id) > (%(after_user)s::varchar, %(after_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".fact_vectors AS v
        WHERE v.user_id = one.user_id AND v.app_name = one.app_name AND v.fact_id = one.id
            AND v.model_id = %(model_id)s::smallint)
ORDER BY one.user_id, one.id
LIMIT %(row_limit)s::integer;

-- name: put_memories
-- params: app_name, model_id, users, ids, versions, vectors
-- returns: those that got their vector; one that was edited or removed since it was read is left for the next pass
WITH given AS (
    SELECT g.user_id, g.id, g.version, g.vector
    FROM unnest(%(users)s::varchar[], %(ids)s::uuid[], %(versions)s::integer[], %(vectors)s::text[])
        AS g (user_id, id, version, vector)
),
held AS (
    SELECT one.user_id, one.app_name, one.id, g.vector
    FROM given AS g
    JOIN :"schema".memories AS one
        ON one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.id
    WHERE one.version = g.version AND one.deleted_at IS NULL
    ORDER BY one.user_id, one.id
    FOR SHARE OF one
)
INSERT INTO :"schema".memory_vectors AS v (user_id, app_name, memory_id, model_id, bits, embedding)
SELECT h.user_id, h.app_name, h.id, m.id,
    :"schema".embedding_bits(h.vector:::"vector_schema".vector, m.mean), h.vector:::"vector_schema".halfvec
FROM held AS h
JOIN :"schema".embedding_models AS m ON m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
ON CONFLICT DO NOTHING
RETURNING v.memory_id AS id;

-- name: put_facts
-- params: app_name, model_id, users, ids, versions, vectors
-- returns: those that got their vector, as put_memories
WITH given AS (
    SELECT g.user_id, g.id, g.version, g.vector
    FROM unnest(%(users)s::varchar[], %(ids)s::uuid[], %(versions)s::integer[], %(vectors)s::text[])
        AS g (user_id, id, version, vector)
),
held AS (
    SELECT one.user_id, one.app_name, one.id, one.status = 'active' AS live, g.vector
    FROM given AS g
    JOIN :"schema".facts AS one
        ON one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.id
    WHERE one.version = g.version AND one.deleted_at IS NULL
    ORDER BY one.user_id, one.id
    FOR SHARE OF one
)
INSERT INTO :"schema".fact_vectors AS v (user_id, app_name, fact_id, model_id, live, bits, embedding)
SELECT h.user_id, h.app_name, h.id, m.id, h.live,
    :"schema".embedding_bits(h.vector:::"vector_schema".vector, m.mean), h.vector:::"vector_schema".halfvec
FROM held AS h
JOIN :"schema".embedding_models AS m ON m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
ON CONFLICT DO NOTHING
RETURNING v.fact_id AS id;

-- name: missing_learnings
-- params: app_name, model_id, after_user, after_id, row_limit
-- returns: live learnings without a vector of the model; user_id is the owner with its kind before a colon
SELECT one.owner_kind || ':' || one.owner AS user_id, one.id, one.version, NULL::text AS speaker,
    COALESCE(:"schema".shared_item_text(one.owner_kind::text, one.owner::text, one.app_name::text, 'learning', one.id), '')
        AS text
FROM :"schema".learnings AS one
WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL
    AND (one.owner_kind || ':' || one.owner, one.id) > (%(after_user)s::text COLLATE "C", %(after_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".shared_vectors AS v
        WHERE v.owner_kind = one.owner_kind AND v.owner = one.owner AND v.app_name = one.app_name
            AND v.item_kind = 'learning' AND v.item_id = one.id AND v.model_id = %(model_id)s::smallint)
ORDER BY one.owner_kind || ':' || one.owner, one.id
LIMIT %(row_limit)s::integer;

-- name: missing_entities
-- params: app_name, model_id, after_user, after_id, row_limit
-- returns: entities without a vector of the model, as missing_learnings
SELECT one.owner_kind || ':' || one.owner AS user_id, one.id, one.version, NULL::text AS speaker,
    COALESCE(:"schema".shared_item_text(one.owner_kind::text, one.owner::text, one.app_name::text, 'entity', one.id), '')
        AS text
FROM :"schema".entities AS one
WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND one.archived_at IS NULL
    AND (one.owner_kind || ':' || one.owner, one.id) > (%(after_user)s::text COLLATE "C", %(after_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".shared_vectors AS v
        WHERE v.owner_kind = one.owner_kind AND v.owner = one.owner AND v.app_name = one.app_name
            AND v.item_kind = 'entity' AND v.item_id = one.id AND v.model_id = %(model_id)s::smallint)
ORDER BY one.owner_kind || ':' || one.owner, one.id
LIMIT %(row_limit)s::integer;

-- name: put_shared
-- params: app_name, model_id, item_kind, users, ids, texts, vectors
-- returns: those that got their vector; one that says something else by now is left for the next pass
INSERT INTO :"schema".shared_vectors AS v
    (owner_kind, owner, app_name, item_kind, item_id, model_id, live, bits, embedding)
SELECT g.owner_kind, g.owner, m.app_name, %(item_kind)s::varchar, g.id, m.id, true,
    :"schema".embedding_bits(g.vector:::"vector_schema".vector, m.mean), g.vector:::"vector_schema".halfvec
FROM (
    SELECT split_part(o.owner, ':', 1)::varchar AS owner_kind, substr(o.owner, strpos(o.owner, ':') + 1)::varchar AS owner,
        o.id, o.text, o.vector
    FROM unnest(%(users)s::text[], %(ids)s::uuid[], %(texts)s::text[], %(vectors)s::text[]) AS o (owner, id, text, vector)
) AS g
JOIN :"schema".embedding_models AS m ON m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
WHERE :"schema".shared_item_text(g.owner_kind::text, g.owner::text, m.app_name::text, %(item_kind)s::text, g.id) = g.text
ORDER BY g.owner_kind, g.owner, g.id
ON CONFLICT DO NOTHING
RETURNING v.item_id AS id;

-- name: topic_users
-- params: app_name, model_id, after_user, row_limit
-- returns: users with topics whose centre is of another model
SELECT DISTINCT t.user_id::text AS user_id
FROM :"schema".memory_topics AS t
WHERE t.app_name = %(app_name)s::varchar AND t.model_id <> %(model_id)s::smallint
    AND t.user_id > %(after_user)s::varchar
ORDER BY 1
LIMIT %(row_limit)s::integer;

-- name: drop_topics
-- params: app_name, model_id
-- Topics that no other model could give a centre: none of their members has a vector any more.
DELETE FROM :"schema".memory_topics AS t
WHERE t.app_name = %(app_name)s::varchar AND t.model_id = %(model_id)s::smallint;

-- name: retire
-- params: app_name
UPDATE :"schema".embedding_models AS m
SET status = 'retired', retired_at = now()
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: activate
-- params: app_name, model_id
UPDATE :"schema".embedding_models AS m
SET status = 'active', activated_at = now(), retired_at = NULL
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint;

-- name: remember
-- params: app_name, provider, model, version, dims, settings
-- The settings of a model that is registered without any.
UPDATE :"schema".embedding_models AS m
SET settings = %(settings)s::jsonb
WHERE m.app_name = %(app_name)s::varchar AND m.provider = %(provider)s::text AND m.model = %(model)s::text
    AND m.version = %(version)s::text AND m.dims = %(dims)s::integer AND m.settings IS NULL;

-- name: drop_memory_vectors
-- params: app_name, model_id, row_limit
DELETE FROM :"schema".memory_vectors AS v
USING (
    SELECT o.user_id, o.app_name, o.memory_id, o.model_id
    FROM :"schema".memory_vectors AS o
    WHERE o.app_name = %(app_name)s::varchar AND o.model_id = %(model_id)s::smallint
    LIMIT %(row_limit)s::integer
) AS gone
WHERE v.user_id = gone.user_id AND v.app_name = gone.app_name AND v.memory_id = gone.memory_id
    AND v.model_id = gone.model_id;

-- name: drop_fact_vectors
-- params: app_name, model_id, row_limit
DELETE FROM :"schema".fact_vectors AS v
USING (
    SELECT o.user_id, o.app_name, o.fact_id, o.model_id
    FROM :"schema".fact_vectors AS o
    WHERE o.app_name = %(app_name)s::varchar AND o.model_id = %(model_id)s::smallint
    LIMIT %(row_limit)s::integer
) AS gone
WHERE v.user_id = gone.user_id AND v.app_name = gone.app_name AND v.fact_id = gone.fact_id
    AND v.model_id = gone.model_id;

-- name: drop_shared_vectors
-- params: app_name, model_id, row_limit
DELETE FROM :"schema".shared_vectors AS v
USING (
    SELECT o.owner_kind, o.owner, o.app_name, o.item_kind, o.item_id, o.model_id
    FROM :"schema".shared_vectors AS o
    WHERE o.app_name = %(app_name)s::varchar AND o.model_id = %(model_id)s::smallint
    LIMIT %(row_limit)s::integer
) AS gone
WHERE v.owner_kind = gone.owner_kind AND v.owner = gone.owner AND v.app_name = gone.app_name
    AND v.item_kind = gone.item_kind AND v.item_id = gone.item_id AND v.model_id = gone.model_id;

-- name: drop_model
-- params: app_name, model_id
-- returns: the id; the model that is searched is never dropped
DELETE FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint AND m.status <> 'active'
RETURNING m.id;
