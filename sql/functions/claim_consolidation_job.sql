-- Takes the next consolidation job that is due, under a lease; returns it, or no row.
--
-- One user's jobs run one at a time, so that steps which compare all that a user has meet no other writer
-- of their kind. A job whose lease ran out is taken over; one that lost its workers p_max_lost times
-- without a step getting done in between is parked instead. p_gated leaves out users who are paused or
-- held, as the scheduler must; users who are being erased are left out always.
--
-- p_lease is how long the worker may be silent. p_user_id, p_thread_id, p_job_types NULL: all.
--
-- Callers:    consolidate, the built-in scheduler.
-- Locks:      the row of the job, skipping those that another claim holds; a transaction-level advisory
--             lock of the user, not waited for.
-- Volatility: VOLATILE, it writes, by the clock.
-- By hand:    psql -v schema=negentropy -f claim_consolidation_job.sql

CREATE OR REPLACE FUNCTION :"schema".claim_consolidation_job(
    p_worker text,
    p_lease interval,
    p_app_name text,
    p_user_id text DEFAULT NULL,
    p_thread_id uuid DEFAULT NULL,
    p_job_types text[] DEFAULT NULL,
    p_gated boolean DEFAULT false,
    p_max_lost integer DEFAULT 20
)
RETURNS SETOF :"schema".consolidation_jobs
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_found consolidation_jobs;
    v_busy text[] := '{}';
    v_passed uuid[] := '{}';
    v_lost integer;
    v_id uuid;
BEGIN
    LOOP
        -- The candidate is looked for without a lock: it may be gone when it is locked below.
        SELECT j.* INTO v_found
        FROM consolidation_jobs AS j
        WHERE j.app_name = p_app_name
            AND (p_user_id IS NULL OR j.user_id = p_user_id)
            AND (p_thread_id IS NULL OR j.thread_id = p_thread_id)
            AND (p_job_types IS NULL OR j.job_type = ANY (p_job_types))
            AND (j.status = 'pending' AND j.next_attempt_at <= clock_timestamp()
                OR j.status = 'running' AND COALESCE(j.lease_until, '-infinity') < clock_timestamp())
            AND j.user_id <> ALL (v_busy)
            AND j.id <> ALL (v_passed)
            AND NOT EXISTS (
                SELECT 1 FROM consolidation_jobs AS r
                WHERE r.status = 'running' AND r.user_id = j.user_id AND r.app_name = j.app_name
                    AND r.lease_until >= clock_timestamp()
            )
            AND NOT EXISTS (
                SELECT 1 FROM users AS u
                WHERE u.user_id = j.user_id AND u.app_name = j.app_name
                    AND (u.erasing_since IS NOT NULL
                        OR p_gated AND (u.paused_at IS NOT NULL OR u.held_at IS NOT NULL))
            )
        ORDER BY j.next_attempt_at, j.created_at, j.id
        LIMIT 1;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        IF NOT pg_try_advisory_xact_lock(
            hashtextextended('negmem:consolidation:' || current_schema() || ':' || p_app_name
                || ':' || v_found.user_id, 0))
            OR EXISTS (
                SELECT 1 FROM consolidation_jobs AS r
                WHERE r.status = 'running' AND r.user_id = v_found.user_id AND r.app_name = p_app_name
                    AND r.lease_until >= clock_timestamp()
            )
        THEN
            v_busy := v_busy || v_found.user_id::text;
            CONTINUE;
        END IF;
        v_id := v_found.id;
        SELECT j.* INTO v_found
        FROM consolidation_jobs AS j
        WHERE j.id = v_id
            AND (j.status = 'pending' AND j.next_attempt_at <= clock_timestamp()
                OR j.status = 'running' AND COALESCE(j.lease_until, '-infinity') < clock_timestamp())
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            v_passed := v_passed || v_id;
            CONTINUE;
        END IF;
        v_lost := CASE WHEN v_found.status = 'running'
            THEN COALESCE((v_found.payload ->> 'lost')::integer, 0) + 1
            ELSE COALESCE((v_found.payload ->> 'lost')::integer, 0) END;
        IF v_lost > p_max_lost THEN
            UPDATE consolidation_jobs AS j
            SET status = 'failed', parked_at = clock_timestamp(), completed_at = clock_timestamp(),
                locked_by = NULL, lease_until = NULL,
                error = format('%s workers in a row died or fell silent over it, the last was %s',
                    v_lost, v_found.locked_by)
            WHERE j.id = v_id;
            CONTINUE;
        END IF;
        RETURN QUERY
            UPDATE consolidation_jobs AS j
            SET status = 'running', locked_by = p_worker, lease_until = clock_timestamp() + p_lease,
                started_at = COALESCE(j.started_at, clock_timestamp()), completed_at = NULL,
                attempts = CASE WHEN v_found.status = 'running' THEN j.attempts ELSE j.attempts + 1 END,
                payload = CASE WHEN v_lost > 0 THEN j.payload || jsonb_build_object('lost', v_lost)
                    ELSE j.payload END
            WHERE j.id = v_id
            RETURNING j.*;
        RETURN;
    END LOOP;
END
$$;
