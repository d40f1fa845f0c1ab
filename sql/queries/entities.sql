-- Entities: people, firms and things, with facts, dated events and directed relations.

-- name: list
-- params: app_name, owner_kinds, owners, ids, entity_type, with_removed, row_limit, row_offset
-- returns: entities of some owners with their parts, the last changed first; total counts all pages
SELECT e.owner_kind::text AS owner_kind, e.owner::text AS owner, e.id, e.entity_id::text AS entity_id,
    e.entity_type::text AS entity_type, e.name, e.description, e.properties, e.aliases, e.metadata,
    e.written_by::text AS written_by, e.version, e.created_at, e.updated_at, e.archived_at,
    e.deleted_at,
    count(*) OVER () AS total,
    COALESCE((
        SELECT jsonb_agg(jsonb_build_object('id', f.id, 'content', f.content, 'confidence', f.confidence,
            'written_by', f.written_by, 'created_at', f.created_at, 'updated_at', f.updated_at) ORDER BY f.created_at, f.id)
        FROM :"schema".entity_facts AS f
        WHERE f.owner_kind = e.owner_kind AND f.owner = e.owner AND f.app_name = e.app_name AND f.entity = e.id
            AND f.deleted_at IS NULL AND f.superseded_at IS NULL), '[]') AS facts,
    COALESCE((
        SELECT jsonb_agg(jsonb_build_object('id', v.id, 'content', v.content, 'date', v.date_text,
            'happened_at', v.happened_at, 'written_by', v.written_by, 'created_at', v.created_at)
            ORDER BY v.happened_at NULLS FIRST, v.created_at, v.id)
        FROM :"schema".entity_events AS v
        WHERE v.owner_kind = e.owner_kind AND v.owner = e.owner AND v.app_name = e.app_name AND v.entity = e.id
            AND v.deleted_at IS NULL), '[]') AS events,
    COALESCE((
        SELECT jsonb_agg(jsonb_build_object('id', r.id, 'entity_id', other.entity_id, 'entity_type', other.entity_type,
            'name', other.name, 'relation', r.relation,
            'direction', CASE WHEN r.source = e.id THEN 'outgoing' ELSE 'incoming' END, 'written_by', r.written_by,
            'created_at', r.created_at)
            ORDER BY r.created_at, r.id)
        FROM :"schema".entity_relations AS r
        JOIN :"schema".entities AS other
            ON other.owner_kind = r.owner_kind AND other.owner = r.owner AND other.app_name = r.app_name
            AND other.id = CASE WHEN r.source = e.id THEN r.target ELSE r.source END
        WHERE r.owner_kind = e.owner_kind AND r.owner = e.owner AND r.app_name = e.app_name
            AND (r.source = e.id OR r.target = e.id) AND r.deleted_at IS NULL AND r.expired_at IS NULL
            AND other.deleted_at IS NULL), '[]') AS relationships
FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
JOIN :"schema".entities AS e
    ON e.owner_kind = o.owner_kind AND e.owner = o.owner AND e.app_name = %(app_name)s::varchar
WHERE (e.deleted_at IS NULL OR %(with_removed)s::boolean)
    AND (%(ids)s::uuid[] IS NULL OR e.id = ANY (%(ids)s::uuid[]))
    AND (%(entity_type)s::text IS NULL OR e.entity_type = %(entity_type)s::text)
ORDER BY e.updated_at DESC, e.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: resolve
-- params: app_name, owner_kinds, owners, key, said, entity_type
-- returns: the entities that a word names: by id, else by name or alias
SELECT e.owner_kind::text AS owner_kind, e.owner::text AS owner, e.id, e.entity_id::text AS entity_id,
    e.entity_type::text AS entity_type, e.name, e.entity_id = %(key)s::text AS by_id
FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
JOIN :"schema".entities AS e
    ON e.owner_kind = o.owner_kind AND e.owner = o.owner AND e.app_name = %(app_name)s::varchar
WHERE e.deleted_at IS NULL
    AND (%(entity_type)s::text IS NULL OR e.entity_type = %(entity_type)s::text)
    AND (e.entity_id = %(key)s::text OR lower(e.name) = lower(%(said)s::text)
        OR lower(%(said)s::text) = ANY (SELECT lower(a) FROM unnest(e.aliases) AS a))
ORDER BY by_id DESC, e.entity_type, e.entity_id;

-- name: lock
-- params: owner_kind, owner, app_name, id
SELECT e.version FROM :"schema".entities AS e
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.id = %(id)s::uuid AND e.deleted_at IS NULL
FOR UPDATE;

-- name: add
-- params: owner_kind, owner, app_name, entity_id, entity_type, name, description, properties, aliases, metadata,
--   written_by
INSERT INTO :"schema".entities
    (owner_kind, owner, app_name, entity_id, entity_type, name, description, properties, aliases, metadata, written_by)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(entity_id)s::varchar,
    %(entity_type)s::varchar, %(name)s::text, %(description)s::text, %(properties)s::jsonb, %(aliases)s::text[],
    %(metadata)s::jsonb, %(written_by)s::varchar)
RETURNING id;

-- name: change
-- params: owner_kind, owner, app_name, id, name, description, properties, aliases, metadata
UPDATE :"schema".entities AS e
SET name = %(name)s::text, description = %(description)s::text, properties = %(properties)s::jsonb,
    aliases = %(aliases)s::text[], metadata = %(metadata)s::jsonb, version = e.version + 1, updated_at = now()
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.id = %(id)s::uuid;

-- name: touch
-- params: owner_kind, owner, app_name, id, metadata
UPDATE :"schema".entities AS e
SET version = e.version + 1, updated_at = now(), metadata = e.metadata || %(metadata)s::jsonb
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.id = %(id)s::uuid;

-- name: add_fact
-- params: owner_kind, owner, app_name, id, content, confidence, written_by
-- The clock and not the transaction's time: parts that are recorded together are shown in the order of their recording.
INSERT INTO :"schema".entity_facts (owner_kind, owner, app_name, entity, content, confidence, written_by, created_at,
    updated_at)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(id)s::uuid, %(content)s::text,
    %(confidence)s::float8, %(written_by)s::varchar, clock_timestamp(), clock_timestamp())
RETURNING id;

-- name: add_event
-- params: owner_kind, owner, app_name, id, content, happened_at, date_text, date_precision, written_by
INSERT INTO :"schema".entity_events
    (owner_kind, owner, app_name, entity, content, happened_at, date_text, date_precision, written_by, created_at,
    updated_at)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(id)s::uuid, %(content)s::text,
    %(happened_at)s::timestamptz, %(date_text)s::text, %(date_precision)s::varchar, %(written_by)s::varchar,
    clock_timestamp(), clock_timestamp())
RETURNING id;

-- name: add_relation
-- params: owner_kind, owner, app_name, source, relation, target, written_by
-- returns: a row where it is new, or there again
INSERT INTO :"schema".entity_relations (owner_kind, owner, app_name, source, relation, target, written_by, created_at,
    updated_at)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(source)s::uuid, %(relation)s::varchar,
    %(target)s::uuid, %(written_by)s::varchar, clock_timestamp(), clock_timestamp())
ON CONFLICT (owner_kind, owner, app_name, source, relation, target) DO UPDATE
SET deleted_at = NULL, deleted_reason = NULL, expired_at = NULL, written_by = excluded.written_by, updated_at = now(),
    version = entity_relations.version + 1
WHERE entity_relations.deleted_at IS NOT NULL OR entity_relations.expired_at IS NOT NULL
RETURNING id;

-- name: removed
-- params: app_name, owner_kinds, owners, key, entity_type
-- returns: removed entities of an id, as they were removed
SELECT e.owner_kind::text AS owner_kind, e.owner::text AS owner, e.id, e.entity_id::text AS entity_id,
    e.entity_type::text AS entity_type, e.version
FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (owner_kind, owner)
JOIN :"schema".entities AS e
    ON e.owner_kind = o.owner_kind AND e.owner = o.owner AND e.app_name = %(app_name)s::varchar
WHERE e.deleted_at IS NOT NULL AND e.entity_id = %(key)s::text
    AND (%(entity_type)s::text IS NULL OR e.entity_type = %(entity_type)s::text)
ORDER BY e.entity_type;

-- name: remove
-- params: owner_kind, owner, app_name, id, reason
UPDATE :"schema".entities AS e
SET deleted_at = now(), deleted_reason = %(reason)s::text, version = e.version + 1, updated_at = now()
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.id = %(id)s::uuid;

-- name: revive
-- params: owner_kind, owner, app_name, id
-- A removed entity is there again, without what was known of it.
WITH place AS (
    SELECT %(owner_kind)s::varchar AS owner_kind, %(owner)s::varchar AS owner, %(app_name)s::varchar AS app_name,
        %(id)s::uuid AS id
),
facts AS (
    UPDATE :"schema".entity_facts AS f SET deleted_at = now(), deleted_reason = 'the entity was removed'
    FROM place AS p
    WHERE (f.owner_kind, f.owner, f.app_name, f.entity) = (p.owner_kind, p.owner, p.app_name, p.id)
        AND f.deleted_at IS NULL
),
events AS (
    UPDATE :"schema".entity_events AS v SET deleted_at = now(), deleted_reason = 'the entity was removed'
    FROM place AS p
    WHERE (v.owner_kind, v.owner, v.app_name, v.entity) = (p.owner_kind, p.owner, p.app_name, p.id)
        AND v.deleted_at IS NULL
),
relations AS (
    UPDATE :"schema".entity_relations AS r SET deleted_at = now(), deleted_reason = 'the entity was removed'
    FROM place AS p
    WHERE (r.owner_kind, r.owner, r.app_name) = (p.owner_kind, p.owner, p.app_name)
        AND p.id IN (r.source, r.target) AND r.deleted_at IS NULL
)
UPDATE :"schema".entities AS e SET deleted_at = NULL, deleted_reason = NULL
FROM place AS p
WHERE (e.owner_kind, e.owner, e.app_name, e.id) = (p.owner_kind, p.owner, p.app_name, p.id);

-- name: supersede_fact
-- params: owner_kind, owner, app_name, id, fact_id, by
-- returns: a row where the fact was in force
UPDATE :"schema".entity_facts AS f
SET superseded_at = now(), superseded_by = %(by)s::uuid, version = f.version + 1, updated_at = now()
WHERE f.owner_kind = %(owner_kind)s::varchar AND f.owner = %(owner)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.entity = %(id)s::uuid AND f.id = %(fact_id)s::uuid AND f.deleted_at IS NULL AND f.superseded_at IS NULL
RETURNING f.id;

-- name: remove_part
-- params: owner_kind, owner, app_name, id, part, reason
-- returns: what kind of part it was, where it was in force
WITH place AS (
    SELECT %(owner_kind)s::varchar AS owner_kind, %(owner)s::varchar AS owner, %(app_name)s::varchar AS app_name,
        %(id)s::uuid AS id, %(part)s::uuid AS part, %(reason)s::text AS reason
),
facts AS (
    UPDATE :"schema".entity_facts AS f SET deleted_at = now(), deleted_reason = p.reason, version = f.version + 1
    FROM place AS p
    WHERE (f.owner_kind, f.owner, f.app_name, f.entity, f.id) = (p.owner_kind, p.owner, p.app_name, p.id, p.part)
        AND f.deleted_at IS NULL
    RETURNING 'fact' AS kind
),
events AS (
    UPDATE :"schema".entity_events AS v SET deleted_at = now(), deleted_reason = p.reason, version = v.version + 1
    FROM place AS p
    WHERE (v.owner_kind, v.owner, v.app_name, v.entity, v.id) = (p.owner_kind, p.owner, p.app_name, p.id, p.part)
        AND v.deleted_at IS NULL
    RETURNING 'event' AS kind
),
relations AS (
    UPDATE :"schema".entity_relations AS r SET deleted_at = now(), deleted_reason = p.reason, version = r.version + 1
    FROM place AS p
    WHERE (r.owner_kind, r.owner, r.app_name, r.source, r.id) = (p.owner_kind, p.owner, p.app_name, p.id, p.part)
        AND r.deleted_at IS NULL
    RETURNING 'relation' AS kind
)
SELECT kind FROM facts UNION ALL SELECT kind FROM events UNION ALL SELECT kind FROM relations;

-- name: restore
-- params: owner_kind, owner, app_name, id, name, description, properties, aliases, metadata, removed, reason, facts,
--   events, relations
-- An entity as it was: its columns, and of its parts those of these ids.
WITH place AS (
    SELECT %(owner_kind)s::varchar AS owner_kind, %(owner)s::varchar AS owner, %(app_name)s::varchar AS app_name,
        %(id)s::uuid AS id, %(facts)s::uuid[] AS facts, %(events)s::uuid[] AS events, %(relations)s::uuid[] AS relations
),
facts AS (
    UPDATE :"schema".entity_facts AS f
    SET superseded_at = NULL, superseded_by = NULL, version = f.version + 1, updated_at = now(),
        deleted_at = CASE WHEN f.id = ANY (p.facts) THEN NULL ELSE now() END,
        deleted_reason = CASE WHEN f.id = ANY (p.facts) THEN NULL ELSE 'undone' END
    FROM place AS p
    WHERE (f.owner_kind, f.owner, f.app_name, f.entity) = (p.owner_kind, p.owner, p.app_name, p.id)
        AND (f.deleted_at IS NULL AND f.superseded_at IS NULL) <> (f.id = ANY (p.facts))
),
events AS (
    UPDATE :"schema".entity_events AS v
    SET version = v.version + 1, updated_at = now(),
        deleted_at = CASE WHEN v.id = ANY (p.events) THEN NULL ELSE now() END,
        deleted_reason = CASE WHEN v.id = ANY (p.events) THEN NULL ELSE 'undone' END
    FROM place AS p
    WHERE (v.owner_kind, v.owner, v.app_name, v.entity) = (p.owner_kind, p.owner, p.app_name, p.id)
        AND (v.deleted_at IS NULL) <> (v.id = ANY (p.events))
),
relations AS (
    UPDATE :"schema".entity_relations AS r
    SET version = r.version + 1, updated_at = now(), expired_at = NULL,
        deleted_at = CASE WHEN r.id = ANY (p.relations) THEN NULL ELSE now() END,
        deleted_reason = CASE WHEN r.id = ANY (p.relations) THEN NULL ELSE 'undone' END
    FROM place AS p
    WHERE (r.owner_kind, r.owner, r.app_name, r.source) = (p.owner_kind, p.owner, p.app_name, p.id)
        AND (r.deleted_at IS NULL AND r.expired_at IS NULL) <> (r.id = ANY (p.relations))
)
UPDATE :"schema".entities AS e
SET name = %(name)s::text, description = %(description)s::text, properties = %(properties)s::jsonb,
    aliases = %(aliases)s::text[], metadata = %(metadata)s::jsonb, version = e.version + 1, updated_at = now(),
    deleted_at = CASE WHEN %(removed)s::boolean THEN COALESCE(e.deleted_at, now()) END,
    deleted_reason = CASE WHEN %(removed)s::boolean THEN %(reason)s::text END
FROM place AS p
WHERE (e.owner_kind, e.owner, e.app_name, e.id) = (p.owner_kind, p.owner, p.app_name, p.id);
