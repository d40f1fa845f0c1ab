-- Adds the accesses that searches queued in memory_retrieval_logs to the memories and facts they gave.
--
-- Each counted retrieval is one access of each of its items: the count rises by 1, the importance by
-- 0.02 up to 1, the last access moves to the time of the retrieval, and score and fading time follow.
-- A repeat or a further page (counted is false) adds nothing. Each log is applied once.
--
-- Callers:    cleanup_low_value_memories; whoever wants the queue empty.
-- Locks:      the queued logs of one step, those that nobody else applies; the rows they name, in
--             order of id.
-- Volatility: VOLATILE, it writes.
-- Returns:    how many logs this step applied; 0: the queue is empty, or another session has the rest.
-- By hand:    psql -v schema=negentropy -f apply_recorded_accesses.sql

CREATE OR REPLACE FUNCTION :"schema".apply_recorded_accesses(
    p_app_name text DEFAULT NULL,
    p_max_logs integer DEFAULT 10000
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    applied integer := 0;
    batch record;
BEGIN
    FOR batch IN
        WITH queued AS (
            SELECT l.user_id, l.app_name, l.id
            FROM memory_retrieval_logs AS l
            WHERE l.applied_at IS NULL
                AND CASE
                    WHEN p_app_name IS NOT NULL THEN l.app_name = p_app_name
                    ELSE NOT EXISTS (
                        SELECT 1 FROM memory_automation_configs AS c
                        WHERE c.app_name = l.app_name AND NOT c.is_main
                    )
                END
            ORDER BY l.created_at
            LIMIT p_max_logs
            FOR UPDATE OF l SKIP LOCKED
        ),
        marked AS (
            UPDATE memory_retrieval_logs AS l
            SET applied_at = now()
            FROM queued AS q
            WHERE l.user_id = q.user_id AND l.app_name = q.app_name AND l.id = q.id
            RETURNING l.user_id, l.app_name, l.counted, l.created_at,
                l.retrieved_memory_ids, l.retrieved_fact_ids
        ),
        items AS (
            SELECT k.user_id, k.app_name, 'memory' AS kind, i.id, k.created_at
            FROM marked AS k CROSS JOIN LATERAL unnest(k.retrieved_memory_ids) AS i (id)
            WHERE k.counted
            UNION ALL
            SELECT k.user_id, k.app_name, 'fact', i.id, k.created_at
            FROM marked AS k CROSS JOIN LATERAL unnest(k.retrieved_fact_ids) AS i (id)
            WHERE k.counted
        ),
        counts AS (
            SELECT i.user_id, i.app_name, i.kind, i.id,
                count(*)::integer AS accesses, max(i.created_at) AS last_at
            FROM items AS i
            GROUP BY i.user_id, i.app_name, i.kind, i.id
        )
        SELECT s.user_id, s.app_name, s.logs,
            array_agg(c.id ORDER BY c.id) FILTER (WHERE c.kind = 'memory') AS memory_ids,
            array_agg(c.accesses ORDER BY c.id) FILTER (WHERE c.kind = 'memory') AS memory_accesses,
            array_agg(c.last_at ORDER BY c.id) FILTER (WHERE c.kind = 'memory') AS memory_last,
            array_agg(c.id ORDER BY c.id) FILTER (WHERE c.kind = 'fact') AS fact_ids,
            array_agg(c.accesses ORDER BY c.id) FILTER (WHERE c.kind = 'fact') AS fact_accesses,
            array_agg(c.last_at ORDER BY c.id) FILTER (WHERE c.kind = 'fact') AS fact_last
        FROM (
            SELECT k.user_id, k.app_name, count(*)::integer AS logs
            FROM marked AS k
            GROUP BY k.user_id, k.app_name
        ) AS s
        LEFT JOIN counts AS c ON c.user_id = s.user_id AND c.app_name = s.app_name
        GROUP BY s.user_id, s.app_name, s.logs
        ORDER BY s.user_id, s.app_name
    LOOP
        applied := applied + batch.logs;
        PERFORM 1
        FROM memories AS m
        WHERE m.user_id = batch.user_id AND m.app_name = batch.app_name
            AND m.id = ANY (batch.memory_ids)
        ORDER BY m.id
        FOR UPDATE;
        UPDATE memories AS m
        SET access_count = LEAST(2147483647, m.access_count::bigint + a.accesses),
            last_accessed_at = GREATEST(m.last_accessed_at, a.last_at),
            importance_score = LEAST(1, m.importance_score + 0.02 * a.accesses)
        FROM unnest(batch.memory_ids, batch.memory_accesses, batch.memory_last)
            AS a (id, accesses, last_at)
        WHERE m.user_id = batch.user_id AND m.app_name = batch.app_name AND m.id = a.id
            AND m.deleted_at IS NULL;
        PERFORM rescore_memories(batch.user_id, batch.app_name, batch.memory_ids)
        WHERE batch.memory_ids IS NOT NULL;
        UPDATE facts AS f
        SET access_count = LEAST(2147483647, f.access_count::bigint + a.accesses),
            last_accessed_at = GREATEST(f.last_accessed_at, a.last_at),
            importance_score = LEAST(1, f.importance_score + 0.02 * a.accesses)
        FROM unnest(batch.fact_ids, batch.fact_accesses, batch.fact_last)
            AS a (id, accesses, last_at)
        WHERE f.user_id = batch.user_id AND f.app_name = batch.app_name AND f.id = a.id
            AND f.deleted_at IS NULL;
    END LOOP;
    RETURN applied;
END
$$;
