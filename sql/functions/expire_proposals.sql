-- Writes down which proposals of an app waited beyond their time; returns how many.
--
-- A proposal whose time is over is expired for every reader and is never applied, whether that was written down yet or
-- not: this only makes the rows say so. p_app_name NULL means the main app and every app without a config of its own.
-- One call is one batch of at most p_max_rows; one that is just decided on is left to whoever decides.
--
-- Callers:    trigger_maintenance_consolidation(); the daily round of the built-in scheduler.
-- Locks:      the rows, ordered, those that nobody else holds.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -f expire_proposals.sql

CREATE OR REPLACE FUNCTION :"schema".expire_proposals(
    p_app_name text DEFAULT NULL,
    p_max_rows integer DEFAULT 10000
)
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    WITH late AS MATERIALIZED (
        SELECT p.owner_kind, p.owner, p.app_name, p.id
        FROM proposals AS p
        WHERE p.status IN ('pending', 'edited', 'stale', 'failed') AND p.expires_at <= now()
            AND CASE
                WHEN p_app_name IS NOT NULL THEN p.app_name = p_app_name
                ELSE NOT EXISTS (
                    SELECT 1 FROM memory_automation_configs AS c
                    WHERE c.app_name = p.app_name AND NOT c.is_main
                )
            END
        ORDER BY p.owner_kind, p.owner, p.app_name, p.id
        LIMIT p_max_rows
        FOR UPDATE SKIP LOCKED
    ),
    expired AS (
        UPDATE proposals AS p
        SET status = 'expired', decided_at = now()
        FROM late AS l
        WHERE p.owner_kind = l.owner_kind AND p.owner = l.owner AND p.app_name = l.app_name AND p.id = l.id
        RETURNING 1
    )
    SELECT count(*)::integer FROM expired;
$$;
