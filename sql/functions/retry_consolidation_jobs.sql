-- Makes parked jobs due again, with all their attempts before them, and those that wait for their next
-- attempt; returns how many.
--
-- Where a thread has an open job by now, that one takes the parked job's part over, and the parked job is
-- cancelled.
--
-- Callers:    consolidate --retry; any SQL client.
-- Locks:      the rows, in order of user, thread and id.
-- Volatility: VOLATILE, it writes, by the clock.
-- By hand:    psql -v schema=negentropy -f retry_consolidation_jobs.sql

CREATE OR REPLACE FUNCTION :"schema".retry_consolidation_jobs(
    p_app_name text,
    p_user_id text DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_job_types text[] DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_job consolidation_jobs;
    v_count integer := 0;
    v_waited integer;
BEGIN
    FOR v_job IN
        SELECT j.*
        FROM consolidation_jobs AS j
        WHERE j.app_name = p_app_name AND j.status = 'failed' AND j.parked_at IS NOT NULL
            AND (p_user_id IS NULL OR j.user_id = p_user_id)
            AND (p_thread_id IS NULL OR j.thread_id = p_thread_id)
            AND (p_job_types IS NULL OR j.job_type = ANY (p_job_types))
        ORDER BY j.user_id, j.created_at, j.id
        FOR UPDATE
    LOOP
        UPDATE consolidation_jobs AS j
        SET status = 'cancelled', parked_at = NULL, completed_at = clock_timestamp()
        WHERE j.id = v_job.id;
        PERFORM enqueue_consolidation(p_app_name, ARRAY[v_job.user_id]::text[], ARRAY[v_job.thread_id],
            v_job.job_type::text, (v_job.payload ->> 'since')::timestamptz);
        v_count := v_count + 1;
    END LOOP;
    UPDATE consolidation_jobs AS j
    SET next_attempt_at = now()
    WHERE j.app_name = p_app_name AND j.status = 'pending' AND j.next_attempt_at > clock_timestamp()
        AND (p_user_id IS NULL OR j.user_id = p_user_id)
        AND (p_thread_id IS NULL OR j.thread_id = p_thread_id)
        AND (p_job_types IS NULL OR j.job_type = ANY (p_job_types));
    GET DIAGNOSTICS v_waited = ROW_COUNT;
    RETURN v_count + v_waited;
END
$$;
