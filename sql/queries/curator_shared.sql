-- Deduplication and pruning of learnings and entities.

-- name: learning_items
-- params: owner_kind, owner, app_name, after, row_limit
-- returns: one page of what may be a duplicate, by id
SELECT l.id, 'learning' AS group_key, concat_ws(E'\n', l.title || ': ' || l.learning, l.context) AS content,
    l.created_at AS moment
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.deleted_at IS NULL AND l.id > %(after)s::uuid
ORDER BY l.id
LIMIT %(row_limit)s::integer;

-- name: learning_texts
-- params: owner_kind, owner, app_name, ids
-- What it took in and is live again was brought back by hand: the two stay apart.
-- Told apart: what an undo kept from it, and what of those it took in stands for too, which came in by other runs.
SELECT l.id, t.content, md5(t.content) AS hash, 'learning' AS type, l.pinned_at IS NOT NULL AS is_pinned,
    COALESCE(jsonb_array_length(l.metadata -> 'merged_from'), 0) > 0 AS took_in,
    ARRAY(SELECT jsonb_array_elements_text(COALESCE(l.metadata -> 'kept_apart', '[]'))
        UNION ALL SELECT taken ->> 'id' FROM jsonb_array_elements(COALESCE(l.metadata -> 'merged_from', '[]')) AS taken
        UNION ALL SELECT jsonb_array_elements_text(gone.metadata -> 'kept_apart')
        FROM jsonb_array_elements(l.metadata -> 'merged_from') AS taken
        CROSS JOIN LATERAL (
            SELECT g.metadata FROM :"schema".learnings AS g
            WHERE g.owner_kind = l.owner_kind AND g.owner = l.owner AND g.app_name = l.app_name
                AND g.id = (taken ->> 'id')::uuid
            OFFSET 0  -- one by one, by the key, whatever the statistics say
        ) AS gone) AS kept_apart,
    l.access_count, NULL::timestamptz AS occurred_at, l.created_at, NULL::integer AS position
FROM :"schema".learnings AS l
CROSS JOIN LATERAL (SELECT concat_ws(E'\n', l.title || ': ' || l.learning, l.context) AS content) AS t
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = ANY (%(ids)s::uuid[]) AND l.deleted_at IS NULL;

-- name: learning_bits
-- params: owner_kind, owner, app_name, model_id, after, row_limit
SELECT v.item_id AS id, v.bits::text AS bits
FROM :"schema".shared_vectors AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.item_kind = 'learning' AND v.model_id = %(model_id)s::smallint AND v.live AND v.item_id > %(after)s::uuid
ORDER BY v.item_id
LIMIT %(row_limit)s::integer;

-- name: learning_cosines
-- params: owner_kind, owner, app_name, model_id, ones, others
-- returns: the cosine of each pair of which both have a vector
SELECT p.one, p.other, 1 - (a.embedding OPERATOR(:"vector_schema".<=>) b.embedding) AS cosine
FROM unnest(%(ones)s::uuid[], %(others)s::uuid[]) AS p (one, other)
JOIN :"schema".shared_vectors AS a
    ON a.owner_kind = %(owner_kind)s::varchar AND a.owner = %(owner)s::varchar AND a.app_name = %(app_name)s::varchar
    AND a.item_kind = 'learning' AND a.item_id = p.one AND a.model_id = %(model_id)s::smallint
JOIN :"schema".shared_vectors AS b
    ON b.owner_kind = %(owner_kind)s::varchar AND b.owner = %(owner)s::varchar AND b.app_name = %(app_name)s::varchar
    AND b.item_kind = 'learning' AND b.item_id = p.other AND b.model_id = %(model_id)s::smallint;

-- name: learning_count
-- params: owner_kind, owner, app_name
SELECT count(*) AS live
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.deleted_at IS NULL;

-- name: learning_mergeable
-- params: owner_kind, owner, app_name, pairs
-- returns: the pairs that are still as they were compared; what goes has taken in none and is in one pair only
SELECT DISTINCT ON (x.loser) x.survivor, x.loser
FROM jsonb_to_recordset(%(pairs)s::jsonb) AS x (survivor uuid, loser uuid, survivor_hash text, loser_hash text)
JOIN :"schema".learnings AS s
    ON s.owner_kind = %(owner_kind)s::varchar AND s.owner = %(owner)s::varchar AND s.app_name = %(app_name)s::varchar
    AND s.id = x.survivor AND s.deleted_at IS NULL
JOIN :"schema".learnings AS l
    ON l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = x.loser AND l.deleted_at IS NULL
WHERE x.survivor <> x.loser AND l.pinned_at IS NULL
    AND md5(concat_ws(E'\n', s.title || ': ' || s.learning, s.context)) = x.survivor_hash
    AND md5(concat_ws(E'\n', l.title || ': ' || l.learning, l.context)) = x.loser_hash
    AND COALESCE(jsonb_array_length(l.metadata -> 'merged_from'), 0) = 0
ORDER BY x.loser, x.survivor;

-- name: learning_keep
-- params: owner_kind, owner, app_name, ids, reason, changed_by
-- What they say now becomes a version, so that each can be taken back by itself.
INSERT INTO :"schema".shared_item_versions
    (owner_kind, owner, app_name, item_kind, item_id, version, before, reason, changed_by)
SELECT l.owner_kind, l.owner, l.app_name, 'learning', l.id, l.version, jsonb_build_object('title', l.title,
    'learning', l.learning, 'context', l.context, 'tags', to_jsonb(l.tags), 'metadata', l.metadata,
    'removed', l.deleted_at IS NOT NULL, 'deleted_reason', l.deleted_reason), %(reason)s::text, %(changed_by)s::text
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = ANY (%(ids)s::uuid[]);

-- name: learning_merge
-- params: owner_kind, owner, app_name, pairs, run_id
-- returns: the survivors that took over tags
WITH pairs AS (
    SELECT x.survivor, x.loser, ARRAY(
        SELECT DISTINCT t FROM unnest(l.tags) AS t WHERE t <> ALL (s.tags) ORDER BY t) AS tags
    FROM jsonb_to_recordset(%(pairs)s::jsonb) AS x (survivor uuid, loser uuid)
    JOIN :"schema".learnings AS s
        ON s.owner_kind = %(owner_kind)s::varchar AND s.owner = %(owner)s::varchar
        AND s.app_name = %(app_name)s::varchar AND s.id = x.survivor
    JOIN :"schema".learnings AS l
        ON l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar
        AND l.app_name = %(app_name)s::varchar AND l.id = x.loser
),
gone AS (
    UPDATE :"schema".learnings AS l
    SET deleted_at = now(), deleted_reason = format('merged into %%s (run %%s)', p.survivor, %(run_id)s::uuid),
        updated_at = now(), version = l.version + 1,
        metadata = l.metadata || jsonb_build_object('merged_into', p.survivor, 'merge_run', %(run_id)s::uuid)
    FROM pairs AS p
    WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
        AND l.id = p.loser
),
stay AS (
    UPDATE :"schema".learnings AS s
    SET version = s.version + 1, updated_at = now(),
        tags = s.tags || ARRAY(SELECT DISTINCT t FROM pairs AS p, unnest(p.tags) AS t WHERE p.survivor = s.id ORDER BY t),
        metadata = s.metadata || jsonb_build_object('merged_from', COALESCE(s.metadata -> 'merged_from', '[]') || (
            SELECT jsonb_agg(jsonb_build_object('id', p.loser, 'run', %(run_id)s::uuid, 'tags', p.tags) ORDER BY p.loser)
            FROM pairs AS p WHERE p.survivor = s.id))
    WHERE s.owner_kind = %(owner_kind)s::varchar AND s.owner = %(owner)s::varchar AND s.app_name = %(app_name)s::varchar
        AND s.id IN (SELECT p.survivor FROM pairs AS p)
)
SELECT DISTINCT p.survivor AS id FROM pairs AS p WHERE p.tags <> '{}';

-- name: learning_taken
-- params: owner_kind, owner, app_name, run_id
-- returns: what a run removed and can come back, with its survivor if it was merged; not where the same was saved
--   again meanwhile
SELECT l.id, (l.metadata ->> 'merged_into')::uuid AS survivor
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.deleted_at IS NOT NULL AND l.deleted_reason LIKE '%%(run ' || %(run_id)s::uuid || ')'
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".learnings AS same
        WHERE same.owner_kind = l.owner_kind AND same.owner = l.owner AND same.app_name = l.app_name
            AND same.body_hash = l.body_hash AND same.deleted_at IS NULL)
ORDER BY l.id;

-- name: learning_release
-- params: owner_kind, owner, app_name, ids
-- Those that come back are kept apart from what they were merged into, which gives up the tags it took over.
WITH back AS (
    SELECT l.id, l.metadata ->> 'merged_into' AS survivor
    FROM :"schema".learnings AS l
    WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
        AND l.id = ANY (%(ids)s::uuid[])
),
stay AS (
    UPDATE :"schema".learnings AS s
    SET version = s.version + 1, updated_at = now(),
        tags = ARRAY(SELECT t FROM unnest(s.tags) WITH ORDINALITY AS u (t, place) WHERE NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(s.metadata -> 'merged_from') AS taken
            WHERE (taken ->> 'id')::uuid = ANY (%(ids)s::uuid[]) AND taken -> 'tags' ? t) ORDER BY place),
        metadata = s.metadata || jsonb_build_object('merged_from', COALESCE((
            SELECT jsonb_agg(taken) FROM jsonb_array_elements(s.metadata -> 'merged_from') AS taken
            WHERE NOT (taken ->> 'id')::uuid = ANY (%(ids)s::uuid[])), '[]'))
    WHERE s.owner_kind = %(owner_kind)s::varchar AND s.owner = %(owner)s::varchar AND s.app_name = %(app_name)s::varchar
        AND s.id::text IN (SELECT b.survivor FROM back AS b)
)
UPDATE :"schema".learnings AS l
SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), version = l.version + 1,
    metadata = CASE WHEN b.survivor IS NULL THEN l.metadata
        ELSE (l.metadata - 'merged_into' - 'merge_run') || jsonb_build_object('kept_apart',
            COALESCE(l.metadata -> 'kept_apart', '[]') || to_jsonb(b.survivor)) END
FROM back AS b
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = b.id;

-- name: learning_candidates
-- params: owner_kind, owner, app_name
-- returns: the live learnings in the order in which they came, with the times that count
SELECT l.id::text AS id, l.created_at AS created, l.updated_at AS updated, l.version,
    l.pinned_at IS NOT NULL AS is_protected
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.deleted_at IS NULL
ORDER BY l.created_at, l.id;

-- name: learning_details
-- params: owner_kind, owner, app_name, ids
SELECT l.id, 'learning' AS type, l.title || ': ' || l.learning AS content, l.created_at, l.updated_at
FROM :"schema".learnings AS l
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = ANY (%(ids)s::uuid[]);

-- name: learning_prunable
-- params: owner_kind, owner, app_name, ids, versions
-- returns: those that are still as they were when the plan was made
SELECT l.id
FROM :"schema".learnings AS l
JOIN unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS planned (id, version) ON planned.id = l.id
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.deleted_at IS NULL AND l.pinned_at IS NULL AND l.version = planned.version
ORDER BY l.id;

-- name: learning_prune
-- params: owner_kind, owner, app_name, ids, reason
UPDATE :"schema".learnings AS l
SET deleted_at = now(), deleted_reason = %(reason)s::text, updated_at = now(), version = l.version + 1
WHERE l.owner_kind = %(owner_kind)s::varchar AND l.owner = %(owner)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = ANY (%(ids)s::uuid[]);

-- name: entity_items
-- params: owner_kind, owner, app_name, after, row_limit
SELECT c.id, c.group_key, c.content, COALESCE(c.occurred_at, c.created_at) AS moment
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, NULL, %(after)s::uuid,
    %(row_limit)s::integer) AS c
ORDER BY c.id;

-- name: entity_texts
-- params: owner_kind, owner, app_name, ids
SELECT c.id, c.content, md5(c.content) AS hash, c.part AS type, false AS is_pinned, c.took_in, c.kept_apart,
    c.weight AS access_count, c.occurred_at, c.created_at, NULL::integer AS position
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS c;

-- name: entity_parts
-- params: owner_kind, owner, app_name, ids
-- returns: what is known of entities beside their own words
SELECT f.entity, f.content
FROM :"schema".entity_facts AS f
WHERE f.owner_kind = %(owner_kind)s::varchar AND f.owner = %(owner)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.entity = ANY (%(ids)s::uuid[]) AND f.deleted_at IS NULL AND f.superseded_at IS NULL
UNION ALL
SELECT v.entity, v.content
FROM :"schema".entity_events AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.entity = ANY (%(ids)s::uuid[]) AND v.deleted_at IS NULL;

-- name: entity_count
-- params: owner_kind, owner, app_name
SELECT count(*) AS live
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text) AS c;

-- name: entity_touched
-- params: owner_kind, owner, app_name, ids
-- returns: the live entities whose text changes when these items go
SELECT DISTINCT c.entity AS id
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS c
ORDER BY 1;

-- name: entity_touch
-- params: owner_kind, owner, app_name, ids
-- The next version of each, whose last one is kept.
UPDATE :"schema".entities AS e
SET version = e.version + 1, updated_at = now()
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.id = ANY (%(ids)s::uuid[]);

-- name: entity_merge
-- params: owner_kind, owner, app_name, pairs, run_id
SELECT m.survivor, m.loser
FROM :"schema".merge_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(pairs)s::jsonb,
    %(run_id)s::uuid) AS m;

-- name: entity_taken
-- params: owner_kind, owner, app_name, run_id
-- returns: what a run removed and nobody brought back, and the live entities whose text changes when it comes back
SELECT e.id, (e.metadata ->> 'merged_into')::uuid AS entity
FROM :"schema".entities AS e
WHERE e.owner_kind = %(owner_kind)s::varchar AND e.owner = %(owner)s::varchar AND e.app_name = %(app_name)s::varchar
    AND e.deleted_at IS NOT NULL AND e.metadata ->> 'merge_run' = %(run_id)s::uuid::text
UNION ALL
SELECT f.id, f.entity
FROM :"schema".entity_facts AS f
WHERE f.owner_kind = %(owner_kind)s::varchar AND f.owner = %(owner)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.deleted_at IS NOT NULL AND f.deleted_reason LIKE '%%(run ' || %(run_id)s::uuid || ')'
UNION ALL
SELECT v.id, v.entity
FROM :"schema".entity_events AS v
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.deleted_at IS NOT NULL AND v.deleted_reason LIKE '%%(run ' || %(run_id)s::uuid || ')'
ORDER BY 1;

-- name: entity_release
-- params: owner_kind, owner, app_name, run_id
SELECT r.id, r.entity
FROM :"schema".release_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(run_id)s::uuid) AS r;

-- name: entity_candidates
-- params: owner_kind, owner, app_name
-- returns: the live facts and events of all entities in the order in which they came; entities themselves stay
SELECT c.id::text AS id, c.created_at AS created, c.updated_at AS updated, c.version, false AS is_protected
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text) AS c
WHERE c.part <> 'entity'
ORDER BY c.created_at, c.id;

-- name: entity_details
-- params: owner_kind, owner, app_name, ids
SELECT c.id, c.part AS type, c.content, c.created_at, c.updated_at
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS c;

-- name: entity_prunable
-- params: owner_kind, owner, app_name, ids, versions
-- returns: those that are still as they were when the plan was made
SELECT c.id
FROM :"schema".curated_entities(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS c
JOIN unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS planned (id, version) ON planned.id = c.id
WHERE c.part <> 'entity' AND c.version = planned.version
ORDER BY c.id;

-- name: entity_prune
-- params: owner_kind, owner, app_name, ids, reason
WITH facts AS (
    UPDATE :"schema".entity_facts AS f
    SET deleted_at = now(), deleted_reason = %(reason)s::text, updated_at = now(), version = f.version + 1
    WHERE f.owner_kind = %(owner_kind)s::varchar AND f.owner = %(owner)s::varchar AND f.app_name = %(app_name)s::varchar
        AND f.id = ANY (%(ids)s::uuid[])
)
UPDATE :"schema".entity_events AS v
SET deleted_at = now(), deleted_reason = %(reason)s::text, updated_at = now(), version = v.version + 1
WHERE v.owner_kind = %(owner_kind)s::varchar AND v.owner = %(owner)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.id = ANY (%(ids)s::uuid[]);
