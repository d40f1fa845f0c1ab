-- Writes one row of automation_runs for a run of a managed job that has come to its end.
--
-- Who started it is read from application_name: pg_cron, negmem's own scheduler, or a person.
--
-- Callers:    cleanup_low_value_memories, trigger_maintenance_consolidation,
--             reweight_all_users_relevance.
-- Locks:      none.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -f record_automation_run.sql

CREATE OR REPLACE FUNCTION :"schema".record_automation_run(
    p_job text,
    p_app_name text,
    p_status text,
    p_rows_touched bigint,
    p_message text,
    p_started_at timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    INSERT INTO automation_runs
        (job, app_name, source, status, rows_touched, message, started_at, finished_at)
    VALUES (
        p_job,
        p_app_name,
        CASE
            WHEN current_setting('application_name') LIKE 'pg_cron%' THEN 'pg_cron'
            WHEN current_setting('application_name') LIKE 'negmem scheduler%' THEN 'scheduler'
            ELSE 'manual'
        END,
        p_status,
        p_rows_touched,
        p_message,
        p_started_at,
        clock_timestamp()
    )
$$;
