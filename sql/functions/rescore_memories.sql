-- Computes the retention score of memories and the moment at which they fade, from the app's stored config.
--
-- related_count is the number of active facts and of other live memories of the same thread. Where the
-- call covers all memories of the user, users records the settings with which they were computed.
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
        SELECT s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance
        FROM retention_settings(p_app_name) AS s
    ),
    chosen AS (
        SELECT m.id, m.thread_id, m.access_count, m.last_accessed_at, m.created_at, m.memory_type, m.metadata,
            m.importance_score
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
                LIMIT 8) AS capped) - 1
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
            retention_fades_at(c.access_count, c.last_accessed_at, c.created_at, c.memory_type,
                COALESCE(r.related_count, 0)::integer, retention_decay_override(c.metadata),
                c.importance_score, s.threshold, s.decay_lambda, s.min_age_days,
                s.keep_importance) AS fades_at,
            retention_basis(c.access_count, c.last_accessed_at, c.created_at, c.memory_type,
                c.metadata) AS fades_basis
        FROM chosen AS c
        CROSS JOIN settings AS s
        LEFT JOIN related AS r ON r.thread_id = c.thread_id
    ),
    recorded AS (
        INSERT INTO users AS u (user_id, app_name, fades_threshold, fades_lambda, fades_min_age,
            fades_importance)
        SELECT p_user_id, p_app_name, s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance
        FROM settings AS s
        WHERE EXISTS (SELECT 1 FROM chosen)
            AND (p_ids IS NULL OR NOT EXISTS (
                SELECT 1 FROM memories AS m
                WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id <> ALL (p_ids)))
        ON CONFLICT (user_id, app_name) DO UPDATE
            SET fades_threshold = excluded.fades_threshold, fades_lambda = excluded.fades_lambda,
                fades_min_age = excluded.fades_min_age, fades_importance = excluded.fades_importance,
                fades_next = NULL
            WHERE (u.fades_threshold, u.fades_lambda, u.fades_min_age, u.fades_importance, u.fades_next)
                IS DISTINCT FROM (excluded.fades_threshold, excluded.fades_lambda,
                    excluded.fades_min_age, excluded.fades_importance, NULL)
    ),
    changed AS (
        UPDATE memories AS m
        SET retention_score = s.score, fades_at = s.fades_at, fades_basis = s.fades_basis
        FROM scored AS s
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = s.id
            AND (m.retention_score, m.fades_at, m.fades_basis)
                IS DISTINCT FROM (s.score, s.fades_at, s.fades_basis)
        RETURNING 1
    )
    SELECT count(*)::integer FROM changed;
$function$;
