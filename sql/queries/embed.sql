-- Embedding models: what is stored with which, and the online change from one to another.

-- name: stored
-- params: app_name
-- returns: the model whose vectors are searched, with the settings it was made by
SELECT m.id, m.provider::text AS provider, m.model::text AS model, m.version::text AS version, m.dims, m.settings
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: models
-- params: app_name
-- returns: every model of the app; how many live memories and active facts have its vector, and how many lack it
SELECT m.id, m.provider::text AS provider, m.model::text AS model, m.version::text AS version, m.dims,
    m.status::text AS status, m.settings, m.activated_at, m.retired_at, m.created_at, m.lease_by,
    m.lease_until > now() AS is_leased, v.memories, v.memories_missing, f.facts, f.facts_missing
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
        WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND one.status = 'active' AND NOT EXISTS (
            SELECT 1 FROM :"schema".fact_vectors AS v
            WHERE v.user_id = one.user_id AND v.app_name = one.app_name AND v.fact_id = one.id
                AND v.model_id = %(model_id)s::smallint)
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
-- returns: active facts without a vector of the model, in the order of their key
SELECT one.user_id::text AS user_id, one.id, one.version, :"schema".fact_text(one.key, one.value) AS text,
    NULL::text AS speaker
FROM :"schema".facts AS one
WHERE one.app_name = %(app_name)s::varchar AND one.deleted_at IS NULL AND one.status = 'active'
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
    SELECT one.user_id, one.app_name, one.id, g.vector
    FROM given AS g
    JOIN :"schema".facts AS one
        ON one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.id
    WHERE one.version = g.version AND one.deleted_at IS NULL AND one.status = 'active'
    ORDER BY one.user_id, one.id
    FOR SHARE OF one
)
INSERT INTO :"schema".fact_vectors AS v (user_id, app_name, fact_id, model_id, bits, embedding)
SELECT h.user_id, h.app_name, h.id, m.id,
    :"schema".embedding_bits(h.vector:::"vector_schema".vector, m.mean), h.vector:::"vector_schema".halfvec
FROM held AS h
JOIN :"schema".embedding_models AS m ON m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
ON CONFLICT DO NOTHING
RETURNING v.fact_id AS id;

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

-- name: drop_model
-- params: app_name, model_id
-- returns: the id; the model that is searched is never dropped
DELETE FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint AND m.status <> 'active'
RETURNING m.id;
