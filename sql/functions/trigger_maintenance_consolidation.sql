-- Queues a full consolidation of each thread that changed within p_interval; returns how many.
--
-- A thread that was queued for it within the interval, in whatever state that job is by now, is left out,
-- and so is one whose job still waits or runs. Users who are paused, held or being erased are left out.
-- p_app_name NULL means the main app and every app without a config of its own.
--
-- Proposals that waited beyond their time are written down as expired.
--
-- Callers:    the job trigger_consolidation; operators by hand.
-- Locks:      a transaction-level advisory lock per scope: a second run says "skipped, already running"
--             and returns 0.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -v "lookback_interval=1 hour"
--             -f trigger_maintenance_consolidation.sql

CREATE OR REPLACE FUNCTION :"schema".trigger_maintenance_consolidation(
    p_interval interval DEFAULT :'lookback_interval',
    p_app_name text DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_scope text;
    v_queued integer;
BEGIN
    IF p_interval IS NULL OR p_interval <= interval '0' THEN
        RAISE EXCEPTION 'no thread can have changed within %', COALESCE(p_interval::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'give an interval above zero';
    END IF;
    SELECT CASE WHEN c.is_main THEN '' ELSE p_app_name END INTO v_scope
    FROM memory_automation_configs AS c
    WHERE c.app_name = p_app_name;
    v_scope := COALESCE(v_scope, p_app_name, '');
    IF NOT pg_try_advisory_xact_lock(
        hashtextextended('negmem:trigger_consolidation:' || current_schema() || ':' || v_scope, 0))
    THEN
        RAISE NOTICE 'trigger_maintenance_consolidation: skipped, already running';
        PERFORM record_automation_run('trigger_consolidation', p_app_name, 'skipped', 0,
            'skipped, already running', v_started);
        RETURN 0;
    END IF;

    PERFORM expire_proposals(p_app_name);
    WITH queued AS (
        INSERT INTO consolidation_jobs (user_id, app_name, thread_id, job_type, created_at)
        SELECT g.user_id, g.app_name, g.id, 'full_consolidation', clock_timestamp()
        FROM (
            SELECT t.user_id, t.app_name, t.id
            FROM threads AS t
            LEFT JOIN users AS u ON u.user_id = t.user_id AND u.app_name = t.app_name
            WHERE t.updated_at > now() - p_interval
                AND u.paused_at IS NULL AND u.held_at IS NULL AND u.erasing_since IS NULL
                AND CASE
                    WHEN p_app_name IS NOT NULL THEN t.app_name = p_app_name
                    ELSE NOT EXISTS (
                        SELECT 1 FROM memory_automation_configs AS c
                        WHERE c.app_name = t.app_name AND NOT c.is_main
                    )
                END
                AND NOT EXISTS (
                    SELECT 1
                    FROM consolidation_jobs AS j
                    WHERE j.user_id = t.user_id AND j.app_name = t.app_name AND j.thread_id = t.id
                        AND j.job_type = 'full_consolidation'
                        AND j.created_at > now() - p_interval
                )
            ORDER BY t.user_id, t.occurred_at NULLS FIRST, t.external_id COLLATE "C", t.id
        ) AS g
        ON CONFLICT DO NOTHING
        RETURNING 1
    )
    SELECT count(*) INTO v_queued FROM queued;

    PERFORM record_automation_run('trigger_consolidation', p_app_name, 'succeeded', v_queued,
        NULL, v_started);
    RETURN v_queued;
END
$$;
