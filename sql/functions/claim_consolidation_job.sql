-- Takes the next consolidation job that is due, under a lease; returns it, or no row.
--
-- One user's jobs run one at a time, so that steps which compare all that a user has meet no other writer
-- of their kind. A job whose lease ran out is taken over; one that lost its workers p_max_lost times
-- without a step getting done in between is parked instead. Users who are paused or being erased are left
-- out always: nothing is to be made of their words. p_gated leaves out users under a legal hold too, as the
-- scheduler must.
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
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_next consolidation_jobs;
    v_found consolidation_jobs;
    v_busy text[] := '{}';
    v_lost integer;
BEGIN
    -- Candidates are looked for without a lock, one after the other from the start of their index, so that a
    -- claim costs the same whatever waits behind: the planner is kept from sorting all of them first.
    FOR v_next IN
        (
            SELECT j.*
            FROM consolidation_jobs AS j
            WHERE j.status = 'running' AND (j.lease_until < v_now OR j.lease_until IS NULL)
                AND j.app_name = p_app_name
                AND (p_user_id IS NULL OR j.user_id = p_user_id)
                AND (p_thread_id IS NULL OR j.thread_id = p_thread_id)
                AND (p_job_types IS NULL OR j.job_type = ANY (p_job_types))
            ORDER BY j.lease_until
        )
        UNION ALL
        (
            SELECT j.*
            FROM consolidation_jobs AS j
            WHERE j.status = 'pending' AND j.next_attempt_at <= v_now AND j.app_name = p_app_name
                AND (p_user_id IS NULL OR j.user_id = p_user_id)
                AND (p_thread_id IS NULL OR j.thread_id = p_thread_id)
                AND (p_job_types IS NULL OR j.job_type = ANY (p_job_types))
            ORDER BY j.next_attempt_at, j.created_at
        )
    LOOP
        CONTINUE WHEN v_next.user_id = ANY (v_busy);
        IF EXISTS (
                SELECT 1 FROM users AS u
                WHERE u.user_id = v_next.user_id AND u.app_name = p_app_name
                    AND (u.erasing_since IS NOT NULL OR u.paused_at IS NOT NULL
                        OR p_gated AND u.held_at IS NOT NULL))
            OR NOT pg_try_advisory_xact_lock(
                hashtextextended('negmem:consolidation:' || current_schema() || ':' || p_app_name
                    || ':' || v_next.user_id, 0))
            OR EXISTS (
                SELECT 1 FROM consolidation_jobs AS r
                WHERE r.status = 'running' AND r.user_id = v_next.user_id AND r.app_name = p_app_name
                    AND r.lease_until >= clock_timestamp())
        THEN
            v_busy := v_busy || v_next.user_id::text;
            CONTINUE;
        END IF;
        SELECT j.* INTO v_found
        FROM consolidation_jobs AS j
        WHERE j.id = v_next.id
            AND (j.status = 'pending' AND j.next_attempt_at <= v_now
                OR j.status = 'running' AND COALESCE(j.lease_until, '-infinity') < v_now)
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_lost := COALESCE((v_found.payload ->> 'lost')::integer, 0)
            + CASE WHEN v_found.status = 'running' THEN 1 ELSE 0 END;
        IF v_lost > p_max_lost THEN
            UPDATE consolidation_jobs AS j
            SET status = 'failed', parked_at = clock_timestamp(), completed_at = clock_timestamp(),
                locked_by = NULL, lease_until = NULL,
                error = format('%s workers in a row died or fell silent over it, the last was %s',
                    v_lost, v_found.locked_by)
            WHERE j.id = v_found.id;
            CONTINUE;
        END IF;
        RETURN QUERY
            UPDATE consolidation_jobs AS j
            SET status = 'running', locked_by = p_worker, lease_until = clock_timestamp() + p_lease,
                started_at = COALESCE(j.started_at, clock_timestamp()), completed_at = NULL,
                attempts = CASE WHEN v_found.status = 'running' THEN j.attempts ELSE j.attempts + 1 END,
                payload = CASE WHEN v_lost > 0 THEN j.payload || jsonb_build_object('lost', v_lost)
                    ELSE j.payload END
            WHERE j.id = v_found.id
            RETURNING j.*;
        RETURN;
    END LOOP;
END
$$;
