-- The built-in scheduler: one leader among many processes, by the database's clock.

-- name: lead
-- params: instance, host, process_id, lease_s
-- returns: one row where this instance leads now; none while another one's lease runs
INSERT INTO :"schema".scheduler_leader AS l (instance, host, process_id, since, beat_at, lease_until)
VALUES (%(instance)s::uuid, %(host)s::text, %(process_id)s::integer, clock_timestamp(), clock_timestamp(),
    clock_timestamp() + make_interval(secs => %(lease_s)s::double precision))
ON CONFLICT (single) DO UPDATE
SET instance = excluded.instance, host = excluded.host, process_id = excluded.process_id,
    since = CASE WHEN l.instance = excluded.instance THEN l.since ELSE excluded.since END,
    beat_at = excluded.beat_at, lease_until = excluded.lease_until
WHERE l.instance = excluded.instance OR l.lease_until < clock_timestamp()
RETURNING l.since;

-- name: leave
-- params: instance
DELETE FROM :"schema".scheduler_leader AS l WHERE l.instance = %(instance)s::uuid;

-- name: leader
-- returns: who leads, or led last
SELECT l.instance::text AS instance, l.host, l.process_id, l.since, l.beat_at, l.lease_until,
    l.lease_until >= clock_timestamp() AS is_alive,
    extract(epoch FROM clock_timestamp() - l.beat_at)::double precision AS age_s
FROM :"schema".scheduler_leader AS l;

-- name: agenda
-- returns: the clock, the stored config of every app with when it changed, and the last start of each job that
--   came to an end: where a run was cut off, or another one was in the way, it is still due
WITH RECURSIVE jobs AS (
    (SELECT x.job FROM :"schema".automation_runs AS x ORDER BY x.job LIMIT 1)
    UNION ALL
    SELECT (SELECT x.job FROM :"schema".automation_runs AS x WHERE x.job > j.job ORDER BY x.job LIMIT 1)
    FROM jobs AS j
    WHERE j.job IS NOT NULL
)
SELECT clock_timestamp() AS now, c.app_name AS app, c.config, c.is_main, c.updated_at,
    (SELECT COALESCE(jsonb_object_agg(j.job, (
        SELECT x.started_at
        FROM :"schema".automation_runs AS x
        WHERE x.job = j.job AND x.status NOT IN ('running', 'skipped')
            AND CASE WHEN c.is_main THEN x.app_name IS NULL OR x.app_name = c.app_name
                ELSE x.app_name = c.app_name END
        ORDER BY x.started_at DESC
        LIMIT 1
     )), '{}')
     FROM jobs AS j WHERE j.job IS NOT NULL) AS last_starts
FROM :"schema".memory_automation_configs AS c
ORDER BY c.is_main DESC, c.app_name;
