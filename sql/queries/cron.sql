-- Jobs: what negmem wants and recorded (its own database), and what pg_cron holds (the database of pg_cron).
-- pg_cron is changed through its functions alone, never by writing to cron.job.

-- name: basis
-- returns: the stored config of every app, the jobs that negmem recorded, whether the built-in scheduler lives
SELECT
    (SELECT COALESCE(jsonb_agg(jsonb_build_object(
            'app', c.app_name, 'config', c.config, 'is_main', c.is_main)
            ORDER BY c.is_main DESC, c.app_name), '[]')
     FROM :"schema".memory_automation_configs AS c) AS configs,
    (SELECT COALESCE(jsonb_agg(jsonb_build_object(
            'name', o.name, 'app', o.app_name, 'job_id', o.job_id, 'database', o.database_name,
            'owner', o.owner_name,
            'owner_exists', EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = o.owner_name))
            ORDER BY o.name), '[]')
     FROM :"schema".managed_objects AS o
     WHERE o.kind = 'job') AS recorded,
    EXISTS (SELECT FROM :"schema".scheduler_leader AS l
            WHERE l.lease_until >= clock_timestamp()) AS has_scheduler;

-- name: jobs
-- params: names, job_ids, database
-- returns: jobs under our names, of our record and for our database, as far as this role may see
SELECT j.jobid AS job_id, COALESCE(j.jobname, '')::text AS name, j.schedule::text AS schedule,
    j.command::text AS command, j.database::text AS database, j.username::text AS owner, j.active,
    EXISTS (SELECT FROM pg_database AS d WHERE d.datname = j.database) AS database_exists
FROM cron.job AS j
WHERE j.jobname = ANY (%(names)s::text[])
    OR j.jobid = ANY (%(job_ids)s::bigint[])
    OR j.database = %(database)s::text
ORDER BY j.jobid
LIMIT 1000;

-- name: lock
-- params: schema, database
-- one plan at a time for the jobs of a schema, in the database of pg_cron
SELECT pg_advisory_xact_lock(
    hashtextextended('negmem jobs ' || %(database)s::text || ' ' || %(schema)s::text, 0));

-- name: schedule
-- params: name, schedule, command
SELECT cron.schedule(%(name)s::text, %(schedule)s::text, %(command)s::text) AS job_id;

-- name: schedule_in_database
-- params: name, schedule, command, database
SELECT cron.schedule_in_database(
    %(name)s::text, %(schedule)s::text, %(command)s::text, %(database)s::text) AS job_id;

-- name: schedule_for
-- params: name, schedule, command, database, owner
-- for another role: superusers only
SELECT cron.schedule_in_database(
    %(name)s::text, %(schedule)s::text, %(command)s::text, %(database)s::text,
    %(owner)s::text) AS job_id;

-- name: unschedule
-- params: job_id
SELECT cron.unschedule(%(job_id)s::bigint) AS done;

-- name: alter_job
-- params: job_id, schedule, command, database, active
SELECT cron.alter_job(job_id => %(job_id)s::bigint, schedule => %(schedule)s::text,
    command => %(command)s::text, database => %(database)s::text, active => %(active)s::boolean);

-- name: give_job
-- params: job_id, owner
-- superusers only
SELECT cron.alter_job(job_id => %(job_id)s::bigint, username => %(owner)s::text);

-- name: record
-- params: name, app_name, database, owner, job_id, fingerprint, definition, negmem_version
INSERT INTO :"schema".managed_objects
    (kind, name, app_name, database_name, owner_name, job_id, fingerprint, definition, negmem_version)
VALUES ('job', %(name)s::text, %(app_name)s::varchar, %(database)s::text, %(owner)s::text,
    %(job_id)s::bigint, %(fingerprint)s::text, %(definition)s::text, %(negmem_version)s::varchar)
ON CONFLICT ON CONSTRAINT managed_objects_unique DO UPDATE
SET database_name = excluded.database_name, owner_name = excluded.owner_name, job_id = excluded.job_id,
    fingerprint = excluded.fingerprint, definition = excluded.definition,
    negmem_version = excluded.negmem_version, installed_by = session_user, installed_at = now();

-- name: forget
-- params: name, app_name
DELETE FROM :"schema".managed_objects AS o
WHERE o.kind = 'job' AND o.name = %(name)s::text
    AND o.app_name IS NOT DISTINCT FROM %(app_name)s::varchar;

-- name: running
-- params: job_ids, most
-- returns: runs under way of these jobs, among the latest runs of all (the log has no index by job)
SELECT r.jobid AS job_id, r.job_pid AS pid, r.start_time
FROM (
    SELECT d.jobid, d.job_pid, d.start_time, d.status
    FROM cron.job_run_details AS d
    ORDER BY d.runid DESC
    LIMIT %(most)s::integer
) AS r
JOIN pg_stat_activity AS a ON a.pid = r.job_pid
WHERE r.jobid = ANY (%(job_ids)s::bigint[]) AND r.status IN ('starting', 'running')
    AND a.backend_start <= r.start_time + interval '5 seconds'
ORDER BY r.jobid, r.job_pid;

-- name: runs
-- params: job_ids, database, commands, most, limit
-- returns: runs of our jobs, also of those that were scheduled anew since, among the latest runs of all
SELECT r.jobid AS job_id, r.runid AS run_id, r.job_pid AS pid, r.database::text AS database,
    r.username::text AS owner, r.command::text AS command, r.status::text AS status,
    left(r.return_message::text, 500) AS message, r.start_time AS started_at, r.end_time AS finished_at
FROM (
    SELECT d.jobid, d.runid, d.job_pid, d.database, d.username, d.command, d.status,
        d.return_message, d.start_time, d.end_time
    FROM cron.job_run_details AS d
    ORDER BY d.runid DESC
    LIMIT %(most)s::integer
) AS r
WHERE r.jobid = ANY (%(job_ids)s::bigint[])
    OR (r.database = %(database)s::text AND EXISTS (
        SELECT FROM unnest(%(commands)s::text[]) AS c (beginning) WHERE starts_with(r.command, c.beginning)))
ORDER BY r.runid DESC
LIMIT %(limit)s::integer;

-- name: own_runs
-- params: jobs, limit
-- returns: the latest runs of these jobs in negmem's own table; `is_lost`: it says that it runs, and nobody holds its
--   lock. For its first seconds a run has none yet
SELECT r.id::text AS run_id, r.job, r.app_name AS app, r.source, r.status, r.rows_touched, r.message,
    r.started_by, r.backend_pid AS pid, r.started_at, r.finished_at,
    r.status = 'running' AND r.started_at < clock_timestamp() - interval '5 seconds'
        AND NOT EXISTS (
            SELECT FROM pg_locks AS k
            CROSS JOIN LATERAL (SELECT hashtextextended('negmem run ' || r.id, 0) AS key) AS own
            WHERE k.locktype = 'advisory' AND k.objsubid = 1
                AND k.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                AND k.classid = ((own.key >> 32) & 4294967295)::oid AND k.objid = (own.key & 4294967295)::oid
        ) AS is_lost
FROM :"schema".automation_runs AS r
WHERE r.job = ANY (%(jobs)s::varchar[])
ORDER BY r.started_at DESC
LIMIT %(limit)s::integer;

-- name: outcome
-- params: job
-- returns: what the function that was just called wrote into the run table, within its transaction
SELECT r.status, r.rows_touched, r.message
FROM :"schema".automation_runs AS r
WHERE r.job = %(job)s::varchar AND r.backend_pid = pg_backend_pid() AND r.started_at >= now()
ORDER BY r.started_at DESC
LIMIT 1;

-- name: begin_run
-- params: job, app_name, source
-- committed before the call, so that a run that is cut off leaves a trace
INSERT INTO :"schema".automation_runs (job, app_name, source, status)
VALUES (%(job)s::varchar, %(app_name)s::varchar, %(source)s::varchar, 'running')
RETURNING id;

-- name: hold_run
-- params: run_id
-- held as long as the call's transaction: who sees a running row without this lock knows that it was cut off
SELECT pg_advisory_xact_lock(hashtextextended('negmem run ' || %(run_id)s::uuid, 0));

-- name: forget_run
-- params: run_id
-- within the call's transaction, where the function wrote a row of its own
DELETE FROM :"schema".automation_runs AS r WHERE r.id = %(run_id)s::uuid;

-- name: end_run
-- params: run_id, status, rows_touched, message
UPDATE :"schema".automation_runs AS r
SET status = %(status)s::varchar, rows_touched = %(rows_touched)s::bigint, message = %(message)s::text,
    finished_at = clock_timestamp()
WHERE r.id = %(run_id)s::uuid;

-- name: old_own_runs
-- params: jobs, days
-- returns: how many runs in negmem's own table are too old; the last of each job and app stays, from which its
--   schedule counts
SELECT count(*)::bigint AS runs
FROM :"schema".automation_runs AS r
WHERE r.job = ANY (%(jobs)s::varchar[]) AND r.started_at < now() - %(days)s::integer * interval '24 hours'
    AND EXISTS (
        SELECT FROM :"schema".automation_runs AS later
        WHERE later.job = r.job AND later.app_name IS NOT DISTINCT FROM r.app_name
            AND later.started_at > r.started_at AND later.status NOT IN ('running', 'skipped'));

-- name: purge_own_runs
-- params: jobs, days, most
DELETE FROM :"schema".automation_runs AS r
WHERE r.id IN (
    SELECT o.id
    FROM :"schema".automation_runs AS o
    WHERE o.job = ANY (%(jobs)s::varchar[]) AND o.started_at < now() - %(days)s::integer * interval '24 hours'
        AND EXISTS (
            SELECT FROM :"schema".automation_runs AS later
            WHERE later.job = o.job AND later.app_name IS NOT DISTINCT FROM o.app_name
                AND later.started_at > o.started_at AND later.status NOT IN ('running', 'skipped'))
    ORDER BY o.id
    LIMIT %(most)s::integer
    FOR UPDATE SKIP LOCKED);

-- name: old_runs
-- params: job_ids, database, commands, days, after, most
-- returns: of a stretch of pg_cron's log in its order: the runs of ours that are too old, where the stretch ends, and
--   whether what follows may be too old. Ours: of these jobs, or of a job that is gone and called negmem in this
--   database. The log's only index is its order, so a stretch costs what it holds
WITH stretch AS (
    SELECT d.runid, d.jobid, d.database, d.command, d.start_time
    FROM cron.job_run_details AS d
    WHERE d.runid > %(after)s::bigint
    ORDER BY d.runid
    LIMIT %(most)s::integer
)
SELECT max(s.runid) AS last, count(*)::integer AS seen,
    COALESCE(bool_or(s.start_time < now() - %(days)s::integer * interval '24 hours'), false) AS goes_on,
    COALESCE(array_agg(s.runid) FILTER (
        WHERE s.start_time < now() - %(days)s::integer * interval '24 hours'
            AND (s.jobid = ANY (%(job_ids)s::bigint[])
                OR (s.database = %(database)s::text
                    AND EXISTS (SELECT FROM unnest(%(commands)s::text[]) AS c (beginning)
                                WHERE starts_with(s.command, c.beginning))
                    AND NOT EXISTS (SELECT FROM cron.job AS j WHERE j.jobid = s.jobid)))), '{}') AS run_ids
FROM stretch AS s;

-- name: purge_runs
-- params: run_ids
DELETE FROM cron.job_run_details AS d WHERE d.runid = ANY (%(run_ids)s::bigint[]);
