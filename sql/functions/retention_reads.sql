-- The memories of one user that recorded searches have found and whose accesses are not yet counted, as they will
-- stand once they are: what apply_recorded_accesses() will make of access count, last access and importance.
--
-- Only those that may be forgotten: live ones, neither pinned nor core.
--
-- Callers:    retention preview, the dry run, and what a changed number of the config would take.
-- Locks:      none.
-- Volatility: STABLE, it reads tables.
-- By hand:    psql -v schema=negentropy -f retention_reads.sql

CREATE OR REPLACE FUNCTION :"schema".retention_reads(p_user_id text, p_app_name text)
RETURNS TABLE (
    id uuid,
    access_count integer,
    last_accessed_at timestamptz,
    importance_score double precision,
    memory_type text,
    created_at timestamptz,
    metadata jsonb,
    thread_id uuid
)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT m.id, LEAST(2147483647, m.access_count::bigint + found.times)::integer,
        GREATEST(m.last_accessed_at, found.at), LEAST(1, m.importance_score + 0.02 * found.times), m.memory_type::text,
        m.created_at, m.metadata, m.thread_id
    FROM (
        SELECT read.id, count(*) AS times, max(l.created_at) AS at
        FROM memory_retrieval_logs AS l
        CROSS JOIN LATERAL unnest(l.retrieved_memory_ids) AS read (id)
        WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.applied_at IS NULL AND l.counted
        GROUP BY read.id
    ) AS found
    JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = found.id
    WHERE m.deleted_at IS NULL AND m.pinned_at IS NULL AND m.memory_type <> 'core';
$function$;
