-- Links between memories, facts and entities.

-- name: end
-- params: user_id, app_name, ids, global_access
-- returns: those of the items that the user may see now
SELECT i.kind, i.id, i.content FROM :"schema".live_items(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[],
    %(global_access)s::text) AS i;

-- name: lock_ends
-- params: user_id, app_name, ids
-- Memories and facts that a link needs; they can't be purged before it is written.
SELECT m.id FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
ORDER BY m.id
FOR KEY SHARE;

-- name: find
-- params: user_id, app_name, source_id, target_id, association_type
SELECT a.id, a.weight, a.metadata ->> 'origin' AS origin, a.expired_at IS NOT NULL AS is_taken_back
FROM :"schema".memory_associations AS a
WHERE a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar
    AND a.source_id = %(source_id)s::uuid AND a.target_id = %(target_id)s::uuid
    AND a.association_type = %(association_type)s::varchar;

-- name: put
-- params: user_id, app_name, source_id, source_type, target_id, target_type, association_type, weight, metadata
-- returns: the link as it stands now; a link that a person makes wins over what stood there
INSERT INTO :"schema".memory_associations AS a
    (user_id, app_name, source_id, source_type, target_id, target_type, association_type, weight, metadata)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(source_id)s::uuid, %(source_type)s::varchar,
    %(target_id)s::uuid, %(target_type)s::varchar, %(association_type)s::varchar, %(weight)s::float8,
    %(metadata)s::jsonb)
ON CONFLICT (user_id, app_name, source_id, target_id, association_type) DO UPDATE
    SET weight = excluded.weight, metadata = a.metadata || excluded.metadata, expired_at = NULL
RETURNING a.id;

-- name: add_sources
-- params: user_id, app_name, id, ends
INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, extractor)
SELECT DISTINCT s.user_id, s.app_name, 'association', %(id)s::uuid, s.event_id, 'manual'
FROM :"schema".item_sources AS s
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.item_id = ANY (%(ends)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: show
-- params: user_id, app_name, ids
SELECT a.id, a.source_id, a.source_type::text, a.target_id, a.target_type::text,
    a.association_type::text AS type, a.weight, COALESCE(a.metadata ->> 'origin', 'auto') AS origin, a.created_at,
    (SELECT count(*) FROM :"schema".item_sources AS s
     WHERE s.user_id = a.user_id AND s.app_name = a.app_name AND s.item_id = a.id)::integer AS sources
FROM :"schema".memory_associations AS a
WHERE a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar AND a.id = ANY (%(ids)s::uuid[]);

-- name: between
-- params: user_id, app_name, one, other, association_type
-- returns: the links of two items that are not taken back, of one type or of all
SELECT a.id
FROM :"schema".memory_associations AS a
WHERE a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar AND a.expired_at IS NULL
    AND (a.source_id, a.target_id) IN ((%(one)s::uuid, %(other)s::uuid), (%(other)s::uuid, %(one)s::uuid))
    AND (%(association_type)s::text IS NULL OR a.association_type = %(association_type)s::text)
ORDER BY a.id
FOR UPDATE;

-- name: take_back
-- params: user_id, app_name, ids, actor
UPDATE :"schema".memory_associations AS a
SET expired_at = now(), metadata = a.metadata || jsonb_build_object('unlinked_by', %(actor)s::text)
WHERE a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar AND a.id = ANY (%(ids)s::uuid[]);

-- name: walk
-- params: user_id, app_name, id, depth, min_weight, types, global_access
SELECT w.kind, w.id, w.depth, w.strength, w.weight, w.association_type AS type, w.via, w.content, w.occurred_at
FROM :"schema".linked_memories(%(user_id)s::text, %(app_name)s::text, %(id)s::uuid, %(depth)s::integer, NULL,
    %(min_weight)s::float8, %(types)s::text[], p_global => %(global_access)s::text) AS w;

-- name: link
-- params: user_id, app_name, ids, run_id, threshold
SELECT :"schema".link_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(run_id)s::uuid,
    %(threshold)s::float8) AS added;
