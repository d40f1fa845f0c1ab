-- Computes the retention score of memories and the moment at which they fade, from the app's stored config.
--
-- related_count is the number of active facts and of other live memories of the same thread.
--
-- callers: every writer of a memory or of its accesses; the recompute after a change of the config
-- locks: the rows that change
-- volatility: VOLATILE, it writes
-- returns: how many rows changed

CREATE OR REPLACE FUNCTION :"schema".rescore_memories(
    p_user_id text,
    p_app_name text,
    p_ids uuid[] DEFAULT NULL
)
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH settings AS (
        SELECT (c.config #>> '{retention,decay_lambda}')::double precision AS decay_lambda,
            (c.config #>> '{retention,low_retention_threshold}')::double precision AS threshold
        FROM memory_automation_configs AS c
        WHERE c.app_name = p_app_name OR c.is_main
        ORDER BY c.app_name = p_app_name DESC
        LIMIT 1
    ),
    chosen AS (
        SELECT m.id, m.thread_id, m.access_count, m.last_accessed_at, m.created_at, m.memory_type, m.metadata
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name
            AND (p_ids IS NULL OR m.id = ANY (p_ids))
        ORDER BY m.id
        FOR UPDATE
    ),
    threads_seen AS (SELECT DISTINCT c.thread_id FROM chosen AS c WHERE c.thread_id IS NOT NULL),
    related AS (
        SELECT t.thread_id,
            (SELECT count(*) FROM (
                SELECT 1 FROM memories AS m
                WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.thread_id = t.thread_id
                    AND m.deleted_at IS NULL
                LIMIT 8) AS some) - 1
            + (SELECT count(*) FROM facts AS f
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.thread_id = t.thread_id
                    AND f.status = 'active' AND f.deleted_at IS NULL) AS related_count
        FROM threads_seen AS t
    ),
    scored AS (
        SELECT c.id,
            calculate_retention_score(c.access_count, c.last_accessed_at, c.created_at, c.memory_type,
                COALESCE(r.related_count, 0)::integer, retention_decay_override(c.metadata), now(),
                s.decay_lambda) AS score,
            retention_crossing_time(c.access_count, c.last_accessed_at, c.created_at, c.memory_type,
                COALESCE(r.related_count, 0)::integer, retention_decay_override(c.metadata),
                s.threshold, s.decay_lambda) AS fades_at
        FROM chosen AS c
        CROSS JOIN settings AS s
        LEFT JOIN related AS r ON r.thread_id = c.thread_id
    ),
    changed AS (
        UPDATE memories AS m
        SET retention_score = s.score, fades_at = s.fades_at
        FROM scored AS s
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = s.id
            AND (m.retention_score, m.fades_at) IS DISTINCT FROM (s.score, s.fades_at)
        RETURNING 1
    )
    SELECT count(*)::integer FROM changed;
$function$;
