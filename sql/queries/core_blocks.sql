-- Core blocks: what stands in every context. An app's block belongs to the app, not to a user.

-- name: thread
-- params: user_id, app_name, thread
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text;

-- name: list
-- params: user_id, app_name, scope, thread, label
-- returns: in the order in which a context has them; without a user only the app's
SELECT b.id, b.scope::text AS scope, b.label::text AS label, b.user_id::text AS user, t.external_id AS thread,
    b.content, b.token_count AS tokens, b.version, b.updated_by::text AS updated_by, b.metadata,
    b.created_at, b.updated_at
FROM :"schema".memory_core_blocks AS b
LEFT JOIN :"schema".threads AS t
    ON t.user_id = b.user_id AND t.app_name = b.app_name AND t.id = b.thread_id
WHERE b.app_name = %(app_name)s::varchar
    AND ((b.owner_kind = 'global' AND b.owner = '')
        OR (b.owner_kind = 'user' AND b.owner = %(user_id)s::varchar))
    AND (%(scope)s::text IS NULL OR b.scope = %(scope)s::text)
    AND (%(thread)s::text IS NULL OR b.thread_id IS NULL OR t.external_id = %(thread)s::text)
    AND (%(label)s::text IS NULL OR b.label = %(label)s::text)
ORDER BY array_position('{thread,app,user}'::text[], b.scope::text), t.external_id, b.version DESC, b.label, b.id;

-- name: make_room
-- params: owner_kind, owner, user_id, app_name, scope, thread_id, label, content, tokens, updated_by, metadata
-- returns: the id; none where the block stands already
INSERT INTO :"schema".memory_core_blocks
    (owner_kind, owner, user_id, app_name, scope, thread_id, label, content, token_count, updated_by, metadata)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(user_id)s::varchar, %(app_name)s::varchar,
    %(scope)s::varchar, %(thread_id)s::uuid, %(label)s::varchar, %(content)s::text, %(tokens)s::integer,
    %(updated_by)s::varchar, %(metadata)s::jsonb)
ON CONFLICT (owner_kind, owner, app_name, scope, thread_id, label) DO NOTHING
RETURNING id;

-- name: lock
-- params: owner_kind, owner, app_name, scope, thread_id, label
SELECT b.id, b.content, b.metadata, b.token_count AS tokens, b.version, b.updated_by::text AS updated_by
FROM :"schema".memory_core_blocks AS b
WHERE b.owner_kind = %(owner_kind)s::varchar AND b.owner = %(owner)s::varchar
    AND b.app_name = %(app_name)s::varchar AND b.scope = %(scope)s::varchar
    AND b.thread_id IS NOT DISTINCT FROM %(thread_id)s::uuid AND b.label = %(label)s::varchar
FOR UPDATE;

-- name: latest_version
-- params: owner_kind, owner, app_name, scope, thread_id, label
-- returns: the highest version that a removed block of this name had, 0 where there was none
SELECT COALESCE(max(v.version), 0)::integer AS version
FROM :"schema".shared_item_versions AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar
    AND v.app_name = %(app_name)s::varchar AND v.item_kind = 'core_block'
    AND v.before ->> 'scope' = %(scope)s::text AND v.before ->> 'label' = %(label)s::text
    AND v.before ->> 'thread_id' IS NOT DISTINCT FROM %(thread_id)s::uuid::text;

-- name: keep_version
-- params: owner_kind, owner, app_name, id, version, before, reason, changed_by
INSERT INTO :"schema".shared_item_versions
    (owner_kind, owner, app_name, item_kind, item_id, version, before, reason, changed_by)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, 'core_block', %(id)s::uuid,
    %(version)s::integer, %(before)s::jsonb, %(reason)s::text, %(changed_by)s::text);

-- name: set
-- params: owner_kind, owner, app_name, id, content, tokens, updated_by, metadata, version
UPDATE :"schema".memory_core_blocks AS b
SET content = %(content)s::text, token_count = %(tokens)s::integer, updated_by = %(updated_by)s::varchar,
    metadata = %(metadata)s::jsonb, version = %(version)s::integer, updated_at = now()
WHERE b.owner_kind = %(owner_kind)s::varchar AND b.owner = %(owner)s::varchar
    AND b.app_name = %(app_name)s::varchar AND b.id = %(id)s::uuid;

-- name: remove
-- params: owner_kind, owner, app_name, id
DELETE FROM :"schema".memory_core_blocks AS b
WHERE b.owner_kind = %(owner_kind)s::varchar AND b.owner = %(owner)s::varchar
    AND b.app_name = %(app_name)s::varchar AND b.id = %(id)s::uuid;

-- name: forget_preloads
-- params: user_id, app_name
-- A cached recall begins with the core blocks; without a user those of the whole app go.
DELETE FROM :"schema".memory_preload_cache AS c
WHERE c.app_name = %(app_name)s::varchar
    AND (%(user_id)s::varchar IS NULL OR c.user_id = %(user_id)s::varchar);

-- name: versions
-- params: owner_kind, owner, app_name, scope, thread_id, label
SELECT v.version, v.before ->> 'content' AS content, v.before ->> 'updated_by' AS written_by, v.reason,
    v.changed_by, v.changed_at
FROM :"schema".shared_item_versions AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar
    AND v.app_name = %(app_name)s::varchar AND v.item_kind = 'core_block'
    AND v.before ->> 'scope' = %(scope)s::text AND v.before ->> 'label' = %(label)s::text
    AND v.before ->> 'thread_id' IS NOT DISTINCT FROM %(thread_id)s::uuid::text
ORDER BY v.version, v.changed_at;
