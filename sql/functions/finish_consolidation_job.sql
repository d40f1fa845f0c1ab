-- Ends a worker's hold on its job; returns what became of it: completed, waiting, parked or released, and
-- NULL where the job was another worker's by then.
--
-- p_outcome `completed`: where more was stored meanwhile, the next job is queued in the same transaction.
-- `failed`: it waits, each time twice as long, from p_base up to p_most and at least p_at_least; after the
-- last attempt, or with p_final, it is parked. `released`: back to its place in the queue, no attempt is counted.
--
-- Callers:    consolidate, the built-in scheduler.
-- Locks:      the row of the job.
-- Volatility: VOLATILE, it writes, by the clock.
-- By hand:    psql -v schema=negentropy -f finish_consolidation_job.sql

CREATE OR REPLACE FUNCTION :"schema".finish_consolidation_job(
    p_job_id uuid,
    p_worker text,
    p_outcome text,
    p_result jsonb DEFAULT NULL,
    p_error text DEFAULT NULL,
    p_final boolean DEFAULT false,
    p_base interval DEFAULT '30 seconds',
    p_most interval DEFAULT '6 hours',
    p_at_least interval DEFAULT '0'
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_job consolidation_jobs;
    v_wait interval;
    v_is_last boolean;
BEGIN
    IF p_outcome NOT IN ('completed', 'failed', 'released') THEN
        RAISE EXCEPTION 'no outcome %', COALESCE(p_outcome, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'completed, failed or released';
    END IF;
    SELECT j.* INTO v_job
    FROM consolidation_jobs AS j
    WHERE j.id = p_job_id AND j.status = 'running' AND j.locked_by = p_worker
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF p_outcome = 'completed' THEN
        UPDATE consolidation_jobs AS j
        SET status = 'completed', completed_at = clock_timestamp(), locked_by = NULL, lease_until = NULL,
            error = NULL, result = COALESCE(p_result, j.result),
            payload = j.payload - 'lost' - 'again' - 'again_since'
        WHERE j.id = p_job_id;
        IF v_job.payload ? 'again' THEN
            PERFORM enqueue_consolidation(v_job.app_name, ARRAY[v_job.user_id]::text[],
                ARRAY[v_job.thread_id], v_job.job_type::text,
                (v_job.payload ->> 'again_since')::timestamptz);
        END IF;
        RETURN 'completed';
    END IF;
    -- What came meanwhile is the same job's: it reads from the earlier of both moments on.
    IF v_job.payload ? 'again' THEN
        v_job.payload := CASE
            WHEN v_job.payload ? 'since' AND v_job.payload ? 'again_since' THEN v_job.payload
                || jsonb_build_object('since', LEAST((v_job.payload ->> 'since')::timestamptz,
                    (v_job.payload ->> 'again_since')::timestamptz))
            ELSE v_job.payload - 'since'
        END - 'again' - 'again_since';
        p_result := '{}';
    END IF;
    v_is_last := p_outcome = 'failed' AND (p_final OR v_job.attempts >= v_job.max_attempts);
    v_wait := GREATEST(LEAST(p_base * 2 ^ LEAST(GREATEST(v_job.attempts - 1, 0), 20), p_most), p_at_least);
    UPDATE consolidation_jobs AS j
    SET status = CASE WHEN v_is_last THEN 'failed' ELSE 'pending' END,
        parked_at = CASE WHEN v_is_last THEN clock_timestamp() END,
        completed_at = CASE WHEN v_is_last THEN clock_timestamp() END,
        next_attempt_at = CASE WHEN p_outcome = 'released' THEN j.next_attempt_at ELSE clock_timestamp() + v_wait END,
        attempts = CASE WHEN p_outcome = 'released' THEN GREATEST(j.attempts - 1, 0) ELSE j.attempts END,
        locked_by = NULL, lease_until = NULL,
        payload = CASE WHEN p_outcome = 'released' THEN v_job.payload ELSE v_job.payload - 'lost' END,
        error = CASE WHEN p_outcome = 'released' THEN j.error ELSE p_error END,
        result = COALESCE(p_result, j.result)
    WHERE j.id = p_job_id;
    RETURN CASE WHEN p_outcome = 'released' THEN 'released' WHEN v_is_last THEN 'parked' ELSE 'waiting' END;
END
$$;
