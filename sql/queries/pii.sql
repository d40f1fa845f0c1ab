-- Personal data: who may see it, where it stands in memories, and what was not scanned.

-- name: role
-- params: schema
-- returns: whether the role owns the schema, and what the roles of init --roles that it is in are for
SELECT COALESCE(pg_has_role(n.nspowner, 'USAGE'), false) AS owns,
    ARRAY(
        SELECT substr(c.comment, length('negmem, ' || %(schema)s::text || ': ') + 1)
        FROM pg_roles AS r
        CROSS JOIN LATERAL (SELECT shobj_description(r.oid, 'pg_authid') AS comment) AS c
        WHERE starts_with(c.comment, 'negmem, ' || %(schema)s::text || ': ') AND pg_has_role(r.oid, 'USAGE')
    ) AS purposes
FROM (VALUES (1)) AS one (row)
LEFT JOIN pg_namespace AS n ON n.nspname = %(schema)s::name;

-- name: unscanned
-- params: user_id, app_name, ids
-- returns: which of the rows bear the mark that the detector could not read them
SELECT m.id FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
    AND m.metadata ? 'pii_unscanned'
UNION ALL
SELECT f.id FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[])
    AND f.metadata ? 'pii_unscanned'
UNION ALL
SELECT e.id FROM :"schema".events AS e
WHERE e.user_id = %(user_id)s::varchar AND e.app_name = %(app_name)s::varchar AND e.id = ANY (%(ids)s::uuid[])
    AND e.content -> 'metadata' ? 'pii_unscanned'
UNION ALL
SELECT b.id FROM :"schema".memory_core_blocks AS b
WHERE b.owner_kind IN ('user', 'global') AND b.owner IN (%(user_id)s::varchar, '') AND b.app_name = %(app_name)s::varchar
    AND b.id = ANY (%(ids)s::uuid[]) AND b.metadata ? 'pii_unscanned'
UNION ALL
SELECT s.id FROM :"schema".memory_summaries AS s
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.id = ANY (%(ids)s::uuid[])
    AND s.details ? 'pii_unscanned';

-- name: forget_marks
-- params: user_id, app_name, memory_ids
DELETE FROM :"schema".memory_pii AS p
WHERE p.user_id = %(user_id)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.memory_id = ANY (%(memory_ids)s::uuid[]);

-- name: mark
-- params: app_name, users, memory_ids, kinds, starts, ends, scores, engines
-- Marks of memories that stand by now; what somebody else stored first keeps its own.
INSERT INTO :"schema".memory_pii
    (user_id, app_name, memory_id, kind, span_start, span_end, score, engine, content_version)
SELECT g.user_id, %(app_name)s::varchar, g.memory_id, g.kind, g.span_start, g.span_end, g.score, g.engine, m.version
FROM unnest(%(users)s::varchar[], %(memory_ids)s::uuid[], %(kinds)s::varchar[], %(starts)s::integer[],
    %(ends)s::integer[], %(scores)s::float8[], %(engines)s::varchar[])
    AS g (user_id, memory_id, kind, span_start, span_end, score, engine)
CROSS JOIN LATERAL (
    SELECT one.version FROM :"schema".memories AS one
    WHERE one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.memory_id
    LIMIT 1
) AS m
ON CONFLICT DO NOTHING;

-- name: rows
-- params: table, columns, scope, after, row_limit
-- returns: a page of a table by its key, with the columns that the registry names
SELECT r.key, r.said
FROM :"schema".registered_rows(%(table)s::text, %(columns)s::text[], %(scope)s::jsonb, %(after)s::jsonb,
    %(row_limit)s::integer) AS r;

-- name: rewrite
-- params: table, columns, rows
-- returns: the places of the rows that were written
SELECT r.place
FROM :"schema".rewrite_registered_rows(%(table)s::text, %(columns)s::text[], %(rows)s::jsonb) AS r (place);

-- name: record_search
-- params: user_id, app_name, query, memory_ids, fact_ids, items, level, fallbacks, thread, repeat_window_s
-- returns: the id that feedback names
SELECT :"schema".record_retrieval(%(user_id)s::text, %(app_name)s::text, %(query)s::text, %(memory_ids)s::uuid[],
    %(fact_ids)s::uuid[], %(items)s::jsonb, %(level)s::text, %(fallbacks)s::jsonb, %(thread)s::text,
    make_interval(secs => %(repeat_window_s)s::float8)) AS retrieval_id;

-- name: index_memories
-- params: user_id, app_name, ids
SELECT :"schema".index_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: unindex_memories
-- params: user_id, app_name, ids
SELECT :"schema".unindex_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: index_facts
-- params: user_id, app_name, ids
SELECT :"schema".index_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: unindex_facts
-- params: user_id, app_name, ids
SELECT :"schema".unindex_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]);

-- name: drop_memory_vectors
-- params: user_id, app_name, ids
DELETE FROM :"schema".memory_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.memory_id = ANY (%(ids)s::uuid[]);

-- name: drop_fact_vectors
-- params: user_id, app_name, ids
DELETE FROM :"schema".fact_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.fact_id = ANY (%(ids)s::uuid[]);

-- name: put_fact_vector
-- params: user_id, app_name, fact_id, model_id, embedding
INSERT INTO :"schema".fact_vectors (user_id, app_name, fact_id, model_id, live, bits, embedding)
SELECT f.user_id, f.app_name, f.id, m.id, f.deleted_at IS NULL AND f.status = 'active',
    :"schema".embedding_bits(%(embedding)s::real[]:::"vector_schema".vector, m.mean),
    %(embedding)s::real[]:::"vector_schema".halfvec
FROM :"schema".facts AS f
JOIN :"schema".embedding_models AS m ON m.app_name = f.app_name AND m.id = %(model_id)s::smallint
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = %(fact_id)s::uuid
ON CONFLICT (user_id, app_name, fact_id, model_id) DO UPDATE
    SET bits = excluded.bits, embedding = excluded.embedding, live = excluded.live;

-- name: put_memory_vector
-- params: user_id, app_name, memory_id, model_id, embedding
INSERT INTO :"schema".memory_vectors (user_id, app_name, memory_id, model_id, live, bits, embedding)
SELECT f.user_id, f.app_name, f.id, m.id, f.deleted_at IS NULL,
    :"schema".embedding_bits(%(embedding)s::real[]:::"vector_schema".vector, m.mean),
    %(embedding)s::real[]:::"vector_schema".halfvec
FROM :"schema".memories AS f
JOIN :"schema".embedding_models AS m ON m.app_name = f.app_name AND m.id = %(model_id)s::smallint
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = %(memory_id)s::uuid
ON CONFLICT (user_id, app_name, memory_id, model_id) DO UPDATE
    SET bits = excluded.bits, embedding = excluded.embedding, live = excluded.live;

-- name: drop_recalls
-- params: app_name, users
-- Caches of texts that were rewritten.
DELETE FROM :"schema".memory_preload_cache AS c
WHERE c.user_id = ANY (%(users)s::varchar[]) AND c.app_name = %(app_name)s::varchar;

-- name: audit
-- params: app_name, user_id, ids, decision, note, actor
SELECT :"schema".record_audit_entries(%(app_name)s::text, %(user_id)s::text, %(ids)s::text[], %(decision)s::text,
    %(note)s::text, NULL, %(actor)s::text) AS entries;

-- name: lock_memories
-- params: user_id, app_name, ids
-- Rows before statistics, in the order of their ids: as every other writer does.
SELECT m.id FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
ORDER BY m.id
FOR UPDATE;

-- name: lock_facts
-- params: user_id, app_name, ids
SELECT f.id FROM :"schema".lock_facts(%(user_id)s::text, %(app_name)s::text) AS held
CROSS JOIN LATERAL (
    SELECT one.id FROM :"schema".facts AS one
    WHERE one.user_id = %(user_id)s::varchar AND one.app_name = %(app_name)s::varchar
        AND one.id = ANY (%(ids)s::uuid[])
    ORDER BY one.id
    FOR UPDATE
) AS f;

-- name: entities_of
-- params: owner_kind, owner, app_name, ids
-- returns: the entities that these facts, events and relations are part of
SELECT f.entity FROM :"schema".entity_facts AS f
WHERE f.owner_kind = %(owner_kind)s::varchar AND f.owner = %(owner)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.id = ANY (%(ids)s::uuid[])
UNION
SELECT v.entity FROM :"schema".entity_events AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.id = ANY (%(ids)s::uuid[])
UNION
SELECT r.source FROM :"schema".entity_relations AS r
WHERE r.owner_kind = %(owner_kind)s::varchar AND r.owner = %(owner)s::varchar AND r.app_name = %(app_name)s::varchar
    AND r.id = ANY (%(ids)s::uuid[]);

-- name: drop_shared_vectors
-- params: owner_kind, owner, app_name, item_kind, ids
DELETE FROM :"schema".shared_vectors AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.item_kind = %(item_kind)s::varchar AND v.item_id = ANY (%(ids)s::uuid[]);

-- name: rehash
-- params: owner_kind, owner, app_name, id, body_hash
-- The hash by which a lesson is known again; two that say the same by now stay two.
UPDATE :"schema".learnings AS l
SET body_hash = CASE WHEN EXISTS (
        SELECT 1 FROM :"schema".learnings AS same
        WHERE same.owner_kind = l.owner_kind AND same.owner = l.owner AND same.app_name = l.app_name
            AND same.body_hash = %(body_hash)s::bytea AND same.deleted_at IS NULL AND same.id <> l.id)
    THEN sha256(%(body_hash)s::bytea || uuid_send(l.id)) ELSE %(body_hash)s::bytea END
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = %(id)s::uuid;
