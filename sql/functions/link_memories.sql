-- Links memories to their neighbours: a bounded number for each, never all pairs.
--
--   semantic       the 5 most similar live memories above the threshold, on the calibrated scale; candidates are the
--                  64 nearest by sign bits
--   temporal       the 3 before and the 3 after it in time, within 30 minutes; weight falls with the distance
--   thread_shared  the 2 turns before and the 2 after it in its thread
--   entity         up to 5 entities of the user or the app whose name or alias it holds, of the 500 most important
--
-- Links have no direction and stand once, the lower id as source (an entity is the target). A link that stands is left
-- as it is, also one that a person made or took back. An edited memory loses the semantic and entity links that its old
-- text got, and gets those of the new one. Sources of a link are the events of both its memories.
--
-- callers: the step that links new memories
-- locks: the memories in order of id, FOR KEY SHARE; new rows in order
-- volatility: VOLATILE, it writes
-- returns: how many links were added

CREATE OR REPLACE FUNCTION :"schema".link_memories(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_run_id uuid DEFAULT NULL,
    p_semantic_threshold double precision DEFAULT 0.75
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
-- Everything is found by index from the owner on. Of tables that were filled a moment ago the planner knows nothing, and
-- would read the vectors of all users once for each memory.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    c_semantic CONSTANT integer := 5;
    c_near_in_bits CONSTANT integer := 64;
    c_window CONSTANT interval := '30 minutes';
    c_entities CONSTANT integer := 5;
    v_ids uuid[];
    v_edited uuid[];
    v_model smallint;
    v_floor double precision;
    v_first timestamptz;
    v_last timestamptz;
    v_added integer;
BEGIN
    SELECT array_agg(m.id ORDER BY m.id), min(m.occurred_at), max(m.occurred_at) INTO v_ids, v_first, v_last
    FROM (
        SELECT one.id, one.occurred_at FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id = ANY (p_ids)
            AND one.deleted_at IS NULL
        ORDER BY one.id
        FOR KEY SHARE
    ) AS m;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    SELECT k.id, GREATEST(0, COALESCE(((k.calibration -> 'unrelated' ->> '99')::float8 - 0.3) / 0.7, 0))
    INTO v_model, v_floor
    FROM embedding_models AS k
    WHERE k.app_name = p_app_name AND k.status = 'active';

    v_edited := ARRAY(
        SELECT d.memory_id
        FROM memory_formation AS d
        JOIN memories AS m ON m.user_id = d.user_id AND m.app_name = d.app_name AND m.id = d.memory_id
        WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.memory_id = ANY (v_ids)
            AND d.step = 'auto_link' AND d.content_version <> m.version);
    IF cardinality(v_edited) > 0 THEN
        WITH gone AS (
            DELETE FROM memory_associations AS a
            WHERE a.user_id = p_user_id AND a.app_name = p_app_name
                AND (a.source_id = ANY (v_edited) OR a.target_id = ANY (v_edited))
                AND a.association_type IN ('semantic', 'entity') AND a.expired_at IS NULL
                AND a.metadata ->> 'origin' = 'auto'
            RETURNING a.id
        )
        DELETE FROM item_sources AS s
        USING gone AS g
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = g.id;
    END IF;

    WITH chosen AS MATERIALIZED (
        SELECT m.id, m.thread_id, m.position, m.occurred_at, m.created_at, m.content
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_ids)
    ),
    semantic AS (
        SELECT c.id AS one, near.memory_id AS other, near.weight
        FROM chosen AS c
        JOIN memory_vectors AS own
            ON own.user_id = p_user_id AND own.app_name = p_app_name AND own.memory_id = c.id
            AND own.model_id = v_model AND own.live
        CROSS JOIN LATERAL (
            SELECT v.memory_id, association_weight_semantic(
                (1 - (v.embedding <=> own.embedding) - v_floor) / (1 - v_floor), p_semantic_threshold) AS weight
            FROM nearest_by_bits(p_user_id, p_app_name, v_model, own.bits, c_near_in_bits + 1) AS b
            CROSS JOIN LATERAL (
                SELECT one.memory_id, one.embedding
                FROM memory_vectors AS one
                WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.memory_id = b.memory_id
                    AND one.model_id = v_model
                LIMIT 1
            ) AS v
            WHERE b.memory_id <> c.id
            ORDER BY 2 DESC NULLS LAST, 1
            LIMIT c_semantic
        ) AS near
        WHERE near.weight IS NOT NULL
    ),
    in_time AS (
        SELECT m.id, m.occurred_at,
            array_agg(m.id) OVER around AS ids, array_agg(m.occurred_at) OVER around AS moments
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL
            AND m.occurred_at BETWEEN v_first - c_window AND v_last + c_window
        WINDOW around AS (
            ORDER BY m.occurred_at, m.thread_id, m.position, m.created_at, m.id
            ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING)
    ),
    temporal AS (
        SELECT c.id AS one, o.id AS other, association_weight_temporal(c.occurred_at, o.moment) AS weight
        FROM in_time AS c
        CROSS JOIN LATERAL unnest(c.ids, c.moments) AS o (id, moment)
        WHERE c.id = ANY (v_ids) AND o.id <> c.id
    ),
    in_thread AS (
        SELECT m.id, array_agg(m.id) OVER beside AS ids
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL
            AND m.thread_id IN (SELECT c.thread_id FROM chosen AS c)
        WINDOW beside AS (
            PARTITION BY m.thread_id ORDER BY m.position, m.created_at, m.id
            ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)
    ),
    thread_shared AS (
        SELECT t.id AS one, o.id AS other, association_weight_thread_shared() AS weight
        FROM in_thread AS t
        CROSS JOIN LATERAL unnest(t.ids) AS o (id)
        WHERE t.id = ANY (v_ids) AND o.id <> t.id
    ),
    names AS MATERIALIZED (
        SELECT e.id, lower(n.name) AS name, e.importance_score
        FROM (
            SELECT known.id, known.name, known.aliases, known.importance_score
            FROM entities AS known
            WHERE known.app_name = p_app_name AND known.deleted_at IS NULL AND known.archived_at IS NULL
                AND (known.owner_kind, known.owner) IN (('user', p_user_id), ('global', ''))
            ORDER BY known.importance_score DESC, known.id
            LIMIT 500
        ) AS e
        CROSS JOIN LATERAL unnest(e.name || e.aliases) AS n (name)
        WHERE length(btrim(n.name)) >= 2
    ),
    named AS (
        SELECT DISTINCT c.id AS one, n.id AS other, n.importance_score
        FROM chosen AS c
        JOIN names AS n ON position(n.name IN lower(c.content)) > 0
        -- A name in Latin letters stands as words of its own.
        WHERE n.name !~ '^[ -~]+$'
            OR lower(c.content) ~ ('(^|\W)' || regexp_replace(n.name, '([^a-z0-9 ])', '\\\1', 'g') || '($|\W)')
    ),
    entity AS (
        SELECT ranked.one, ranked.other, association_weight_entity() AS weight
        FROM (
            SELECT n.one, n.other,
                row_number() OVER (PARTITION BY n.one ORDER BY n.importance_score DESC, n.other) AS place
            FROM named AS n
        ) AS ranked
        WHERE ranked.place <= c_entities
    ),
    wanted AS (
        SELECT LEAST(s.one, s.other) AS source_id, GREATEST(s.one, s.other) AS target_id, 'memory' AS target_type,
            'semantic' AS association_type, s.weight
        FROM semantic AS s
        UNION
        SELECT LEAST(t.one, t.other), GREATEST(t.one, t.other), 'memory', 'temporal', t.weight
        FROM temporal AS t
        WHERE t.weight > 0
        UNION
        SELECT LEAST(t.one, t.other), GREATEST(t.one, t.other), 'memory', 'thread_shared', t.weight
        FROM thread_shared AS t
        UNION
        SELECT e.one, e.other, 'entity', 'entity', e.weight
        FROM entity AS e
    ),
    added AS (
        INSERT INTO memory_associations
            (user_id, app_name, source_id, target_id, target_type, association_type, weight, metadata)
        SELECT p_user_id, p_app_name, w.source_id, w.target_id, w.target_type, w.association_type, w.weight,
            '{"origin": "auto"}'
        FROM wanted AS w
        ORDER BY w.source_id, w.target_id, w.association_type
        ON CONFLICT (user_id, app_name, source_id, target_id, association_type) DO NOTHING
        RETURNING id, source_id, target_id
    ),
    sourced AS (
        INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor)
        SELECT p_user_id, p_app_name, 'association', a.id, s.event_id, p_run_id, 'auto_link'
        FROM added AS a
        CROSS JOIN LATERAL (
            SELECT f.event_id FROM item_sources AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.item_id = a.source_id
            UNION
            SELECT t.event_id FROM item_sources AS t
            WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.item_id = a.target_id
        ) AS s
        ON CONFLICT DO NOTHING
    )
    SELECT count(*)::integer INTO v_added FROM added;

    INSERT INTO memory_formation AS d (user_id, app_name, memory_id, step, content_version)
    SELECT p_user_id, p_app_name, m.id, 'auto_link', m.version
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_ids)
    ORDER BY m.id
    ON CONFLICT (user_id, app_name, memory_id, step) DO UPDATE
        SET content_version = excluded.content_version, done_at = now();
    RETURN v_added;
END
$function$;
