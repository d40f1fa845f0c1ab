-- Queues consolidation jobs of one type for threads, or with a NULL thread for whole users; returns how
-- many jobs were added, or told that there is more to do.
--
-- A job that waits already stays the one job: it reads from the earlier of both moments on. One that runs is
-- told to be followed by another. p_since: what was recorded from then on is new to the job; NULL: all. Of one
-- user, what was said first is read first: facts then get their versions in the order in which they came true.
--
-- Callers:    ingest, in the transaction that stores the turns; consolidate; any SQL client.
-- Locks:      the open jobs of the threads, in order of user, time and thread.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -f enqueue_consolidation.sql

CREATE OR REPLACE FUNCTION :"schema".enqueue_consolidation(
    p_app_name text,
    p_users text[],
    p_threads uuid[],
    p_job_type text DEFAULT 'fast_replay',
    p_since timestamptz DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_queued integer;
BEGIN
    INSERT INTO consolidation_jobs AS j (user_id, app_name, thread_id, job_type, payload, created_at)
    SELECT g.user_id, p_app_name, g.thread_id, p_job_type,
        CASE WHEN p_since IS NULL THEN '{}' ELSE jsonb_build_object('since', p_since) END, clock_timestamp()
    FROM (
        SELECT one.user_id, one.thread_id
        FROM (SELECT DISTINCT * FROM unnest(p_users, p_threads)) AS one (user_id, thread_id)
        LEFT JOIN threads AS t
            ON t.user_id = one.user_id AND t.app_name = p_app_name AND t.id = one.thread_id
        ORDER BY one.user_id, t.occurred_at NULLS FIRST, t.external_id COLLATE "C", one.thread_id
    ) AS g
    ON CONFLICT (user_id, app_name, thread_id, job_type) WHERE status IN ('pending', 'running') DO UPDATE
        SET payload = CASE
            WHEN j.status = 'pending' AND p_since IS NULL THEN j.payload - 'since'
            WHEN j.status = 'pending' THEN j.payload || jsonb_build_object('since', p_since)
            WHEN p_since IS NULL THEN j.payload - 'again_since' || '{"again": true}'
            WHEN NOT j.payload ? 'again' THEN
                j.payload || jsonb_build_object('again', true, 'again_since', p_since)
            ELSE j.payload || jsonb_build_object('again_since', p_since)
        END
        WHERE CASE
            WHEN j.status = 'pending' THEN
                j.payload ? 'since'
                AND (p_since IS NULL OR (j.payload ->> 'since')::timestamptz > p_since)
            WHEN NOT j.payload ? 'again' THEN true
            ELSE j.payload ? 'again_since'
                AND (p_since IS NULL OR (j.payload ->> 'again_since')::timestamptz > p_since)
        END;
    GET DIAGNOSTICS v_queued = ROW_COUNT;
    RETURN v_queued;
END
$$;
