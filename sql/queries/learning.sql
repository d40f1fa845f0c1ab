-- Learned knowledge: lessons that others may use again.

-- name: list
-- params: app_name, owner_kinds, owners, ids, tags, deleted, row_limit, row_offset
-- returns: learnings of some owners, newest first, or those of the ids; total counts all pages
SELECT l.owner_kind::text AS owner_kind, l.owner::text AS owner, l.id, l.title, l.learning, l.context, l.tags,
    l.metadata, l.written_by::text AS written_by, l.version, l.created_at, l.updated_at, l.deleted_at,
    l.deleted_reason, count(*) OVER () AS total, EXISTS (
        SELECT 1 FROM :"schema".shared_vectors AS v
        WHERE v.owner_kind = l.owner_kind AND v.owner = l.owner AND v.app_name = l.app_name
            AND v.item_kind = 'learning' AND v.item_id = l.id) AS embedded
FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
JOIN :"schema".learnings AS l
    ON l.owner_kind = o.owner_kind AND l.owner = o.owner AND l.app_name = %(app_name)s::varchar
WHERE (%(ids)s::uuid[] IS NULL OR l.id = ANY (%(ids)s::uuid[]))
    AND (%(tags)s::text[] IS NULL OR l.tags @> %(tags)s::text[])
    AND (%(deleted)s::boolean IS NULL OR (l.deleted_at IS NOT NULL) = %(deleted)s::boolean)
ORDER BY l.updated_at DESC, l.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: lock
-- params: owner_kind, owner, app_name, id
SELECT l.id, l.title, l.learning, l.context, l.tags, l.metadata, l.version, l.deleted_at, l.deleted_reason,
    l.written_by::text AS written_by
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = %(id)s::uuid
FOR UPDATE;

-- name: same_body
-- params: owner_kind, owner, app_name, body_hash, but
SELECT l.id, l.title, l.learning
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.body_hash = %(body_hash)s::bytea AND l.deleted_at IS NULL AND l.id IS DISTINCT FROM %(but)s::uuid;

-- name: add
-- params: owner_kind, owner, app_name, title, learning, context, tags, body_hash, written_by, metadata
INSERT INTO :"schema".learnings
    (owner_kind, owner, app_name, title, learning, context, tags, body_hash, written_by, metadata)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(title)s::text, %(learning)s::text,
    %(context)s::text, %(tags)s::text[], %(body_hash)s::bytea, %(written_by)s::varchar, %(metadata)s::jsonb)
RETURNING id;

-- name: change
-- params: owner_kind, owner, app_name, id, title, learning, context, tags, body_hash, metadata, deleted, deleted_reason
UPDATE :"schema".learnings AS l
SET title = %(title)s::text, learning = %(learning)s::text, context = %(context)s::text, tags = %(tags)s::text[],
    body_hash = %(body_hash)s::bytea, metadata = %(metadata)s::jsonb, version = l.version + 1, updated_at = now(),
    deleted_at = CASE WHEN %(deleted)s::boolean THEN COALESCE(l.deleted_at, now()) END,
    deleted_reason = CASE WHEN %(deleted)s::boolean THEN %(deleted_reason)s::text END
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = %(id)s::uuid;
