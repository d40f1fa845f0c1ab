-- What learnings and entities have in common: words, vectors, versions.

-- name: search
-- params: app_name, owner_kinds, owners, item_kind, query, embedding, row_limit, row_offset, semantic_weight,
--   keyword_weight, user_id, global_access
SELECT * FROM :"schema".search_shared_items(%(app_name)s::text, %(owner_kinds)s::text[], %(owners)s::text[],
    %(item_kind)s::text, %(query)s::text, %(embedding)s::text:::"vector_schema".vector, %(row_limit)s::integer,
    %(row_offset)s::integer, %(semantic_weight)s::float8, %(keyword_weight)s::float8, %(user_id)s::text,
    %(global_access)s::text);

-- name: same_space
-- params: app_name, provider, model, version, dims
-- returns: a row where the app's vectors are of this model
SELECT m.id FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active' AND m.provider = %(provider)s::text
    AND m.model = %(model)s::text AND m.version = %(version)s::text AND m.dims = %(dims)s::integer;

-- name: index
-- params: owner_kind, owner, app_name, item_kind, ids
SELECT :"schema".index_shared_items(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(item_kind)s::text,
    %(ids)s::uuid[]) AS indexed;

-- name: unindex
-- params: owner_kind, owner, app_name, item_kind, ids
SELECT :"schema".unindex_shared_items(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(item_kind)s::text,
    %(ids)s::uuid[]) AS indexed;

-- name: text
-- params: owner_kind, owner, app_name, item_kind, id
SELECT :"schema".shared_item_text(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(item_kind)s::text,
    %(id)s::uuid) AS content;

-- name: lock_store
-- params: owner_kind, owner, app_name, item_kind
-- One writer of an owner's store at a time, until the end of the transaction: what is searched for before a write is
-- then still all that there is.
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(':', 'negmem', :'schema'::text, %(item_kind)s::text,
    %(app_name)s::text, %(owner_kind)s::text, %(owner)s::text), 0)) AS locked;

-- name: set_vector
-- params: owner_kind, owner, app_name, item_kind, id, model_id, embedding, content
-- The vector of an item, if the item still says what was embedded.
INSERT INTO :"schema".shared_vectors AS v (owner_kind, owner, app_name, item_kind, item_id, model_id, live, bits, embedding)
SELECT %(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(item_kind)s::varchar, %(id)s::uuid, m.id,
    true, :"schema".embedding_bits(%(embedding)s::text:::"vector_schema".vector, m.mean),
    %(embedding)s::text:::"vector_schema".halfvec
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.id = %(model_id)s::smallint
    AND :"schema".shared_item_text(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(item_kind)s::text,
        %(id)s::uuid) = %(content)s::text
ON CONFLICT (owner_kind, owner, app_name, item_kind, item_id, model_id) DO UPDATE
SET bits = excluded.bits, embedding = excluded.embedding, live = true;

-- name: keep_version
-- params: owner_kind, owner, app_name, item_kind, id, version, before, reason, changed_by
INSERT INTO :"schema".shared_item_versions
    (owner_kind, owner, app_name, item_kind, item_id, version, before, reason, changed_by)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(item_kind)s::varchar, %(id)s::uuid,
    %(version)s::integer, %(before)s::jsonb, %(reason)s::text, %(changed_by)s::text);

-- name: versions
-- params: owner_kind, owner, app_name, item_kind, id
SELECT v.version, v.before, v.reason, v.changed_by, v.changed_at
FROM :"schema".shared_item_versions AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.item_kind = %(item_kind)s::varchar AND v.item_id = %(id)s::uuid
ORDER BY v.version;

-- name: changes
-- params: owner_kind, owner, app_name, item_kind, id, row_limit
-- returns: who changed an item and when, newest first, without what it said
SELECT v.version, v.reason, v.changed_by, v.changed_at
FROM :"schema".shared_item_versions AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.item_kind = %(item_kind)s::varchar AND v.item_id = %(id)s::uuid
ORDER BY v.version DESC
LIMIT %(row_limit)s::integer;

-- name: know_user
-- params: user_id, app_name
SELECT :"schema".admit_writer(%(user_id)s::text, %(app_name)s::text);

-- name: shown
-- params: app_name, owner_kinds, owners, item_kind, ids
-- returns: items as a search shows them
SELECT i.id, i.type, i.metadata, i.created_at, i.importance, i.last_accessed_at,
    :"schema".shared_item_text(i.owner_kind, i.owner, %(app_name)s::text, %(item_kind)s::text, i.id) AS content
FROM (
    SELECT l.owner_kind::text, l.owner::text, l.id, 'learning' AS type, l.metadata, l.created_at,
        l.importance_score AS importance, l.last_accessed_at
    FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
    JOIN :"schema".learnings AS l
        ON l.owner_kind = o.owner_kind AND l.owner = o.owner AND l.app_name = %(app_name)s::varchar
    WHERE %(item_kind)s::text = 'learning' AND l.id = ANY (%(ids)s::uuid[]) AND l.deleted_at IS NULL
    UNION ALL
    SELECT e.owner_kind::text, e.owner::text, e.id, e.entity_type::text, e.metadata, e.created_at,
        e.importance_score, e.last_accessed_at
    FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
    JOIN :"schema".entities AS e
        ON e.owner_kind = o.owner_kind AND e.owner = o.owner AND e.app_name = %(app_name)s::varchar
    WHERE %(item_kind)s::text = 'entity' AND e.id = ANY (%(ids)s::uuid[]) AND e.deleted_at IS NULL
) AS i;
