-- The queue of consolidation, and what its jobs read.

-- name: turns
-- params: user_id, app_name, thread_id, since, before
-- returns: the turns of a thread that were recorded from `since` on (null: all), in their order, and up to
--   `before` turns that stand before the first of them, marked as not new
-- The words are those of the turn's memory, as it was edited or masked, else the event's own. A turn whose
-- memory somebody removed is left out; one that faded or was merged into another is not.
WITH said AS MATERIALIZED (
    SELECT e.id AS event_id, e.position, e.sequence_num, e.event_type, e.author, e.content, e.occurred_at,
        %(since)s::timestamptz IS NULL OR e.created_at >= %(since)s::timestamptz AS is_new
    FROM :"schema".events AS e
    WHERE e.user_id = %(user_id)s::varchar AND e.app_name = %(app_name)s::varchar
        AND e.thread_id = %(thread_id)s::uuid
),
ranked AS (
    SELECT s.*, row_number() OVER (ORDER BY s.position, s.sequence_num) AS place FROM said AS s
)
SELECT r.event_id, r.position, r.event_type::text AS kind, r.content ->> 'role' AS role,
    COALESCE(r.content ->> 'speaker', NULLIF(r.author, r.content ->> 'role'))::text AS speaker,
    COALESCE(m.content, :"schema".event_text(r.content), '') AS text, r.occurred_at, r.is_new,
    m.id AS memory_id
FROM ranked AS r
LEFT JOIN LATERAL (
    SELECT one.id, one.content,
        one.deleted_at IS NOT NULL AND COALESCE(one.deleted_reason, '') <> 'retention'
            AND NOT COALESCE(one.metadata ? 'merged_into', false) AS is_removed
    FROM :"schema".item_sources AS s
    JOIN :"schema".memories AS one
        ON one.user_id = s.user_id AND one.app_name = s.app_name AND one.id = s.item_id
    WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
        AND s.event_id = r.event_id AND s.item_kind = 'memory' AND s.extractor = 'ingest'
    LIMIT 1
) AS m ON true
WHERE m.is_removed IS NOT TRUE
    AND r.place >= (SELECT min(n.place) FROM ranked AS n WHERE n.is_new) - %(before)s::integer
ORDER BY r.place;

-- name: claim
-- params: worker, lease_s, app_name, user_id, thread_id, job_types, gated
-- returns: the job that the worker has now, if any was to be had
SELECT j.id, j.user_id::text AS user_id, j.thread_id, j.job_type::text AS job_type, j.attempts, j.max_attempts,
    (j.payload ->> 'since')::timestamptz AS since, COALESCE(j.result, '{}') AS result, j.created_at,
    (SELECT t.external_id FROM :"schema".threads AS t
     WHERE t.user_id = j.user_id AND t.app_name = j.app_name AND t.id = j.thread_id) AS thread_name
FROM :"schema".claim_consolidation_job(%(worker)s::text,
    make_interval(secs => %(lease_s)s::double precision), %(app_name)s::text, %(user_id)s::text,
    %(thread_id)s::uuid, %(job_types)s::text[], %(gated)s::boolean) AS j;

-- name: renew
-- params: job_id, worker, lease_s
-- returns: a row while the job is this worker's
UPDATE :"schema".consolidation_jobs AS j
SET lease_until = clock_timestamp() + make_interval(secs => %(lease_s)s::double precision)
WHERE j.id = %(job_id)s::uuid AND j.locked_by = %(worker)s::text AND j.status = 'running'
RETURNING 1 AS held;

-- name: progress
-- params: job_id, worker, lease_s, result
-- returns: a row while the job is this worker's
UPDATE :"schema".consolidation_jobs AS j
SET result = %(result)s::jsonb, payload = j.payload - 'lost',
    lease_until = clock_timestamp() + make_interval(secs => %(lease_s)s::double precision)
WHERE j.id = %(job_id)s::uuid AND j.locked_by = %(worker)s::text AND j.status = 'running'
RETURNING 1 AS held;

-- name: finish
-- params: job_id, worker, outcome, result, error, final, base_s, most_s, at_least_s
-- returns: what became of the job; null where it is another worker's
SELECT :"schema".finish_consolidation_job(%(job_id)s::uuid, %(worker)s::text, %(outcome)s::text,
    %(result)s::jsonb, %(error)s::text, %(final)s::boolean,
    make_interval(secs => %(base_s)s::double precision), make_interval(secs => %(most_s)s::double precision),
    make_interval(secs => %(at_least_s)s::double precision)) AS became;

-- name: retry
-- params: app_name, user_id, thread_id, job_types
SELECT :"schema".retry_consolidation_jobs(%(app_name)s::text, %(user_id)s::text, %(thread_id)s::uuid,
    %(job_types)s::text[]) AS retried;

-- name: held_by
-- params: app_name
-- returns: who holds running jobs
SELECT DISTINCT j.locked_by FROM :"schema".consolidation_jobs AS j
WHERE j.app_name = %(app_name)s::varchar AND j.status = 'running' AND j.locked_by IS NOT NULL;

-- name: give_up
-- params: app_name, workers
-- The leases of workers that are known to be dead run out now.
UPDATE :"schema".consolidation_jobs AS j
SET lease_until = clock_timestamp() - interval '1 second'
WHERE j.app_name = %(app_name)s::varchar AND j.status = 'running' AND j.locked_by = ANY (%(workers)s::text[]);

-- name: thread
-- params: user_id, app_name, name
SELECT t.id FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND t.external_id = %(name)s::text;

-- name: version
-- params: user_id, app_name, thread_id
-- returns: a number that grows with each transaction that adds to the thread, or to any thread of the user
SELECT COALESCE(sum(t.version), 0)::bigint AS version
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND (%(thread_id)s::uuid IS NULL OR t.id = %(thread_id)s::uuid);

-- name: changed_threads
-- params: app_name, user_id, thread_id, job_type, again
-- returns: threads without an open job of the type that grew since their last completed one; with `again` all
SELECT t.user_id::text AS user_id, t.id AS thread_id
FROM :"schema".threads AS t
LEFT JOIN :"schema".users AS u ON u.user_id = t.user_id AND u.app_name = t.app_name
WHERE t.app_name = %(app_name)s::varchar AND u.erasing_since IS NULL AND u.paused_at IS NULL
    AND (%(user_id)s::varchar IS NULL OR t.user_id = %(user_id)s::varchar)
    AND (%(thread_id)s::uuid IS NULL OR t.id = %(thread_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".consolidation_jobs AS j
        WHERE j.user_id = t.user_id AND j.app_name = t.app_name AND j.thread_id = t.id
            AND j.job_type = %(job_type)s::varchar AND j.status IN ('pending', 'running'))
    AND (%(again)s::boolean OR NOT EXISTS (
        SELECT 1 FROM :"schema".consolidation_jobs AS j
        WHERE j.user_id = t.user_id AND j.app_name = t.app_name AND j.thread_id = t.id
            AND j.job_type = %(job_type)s::varchar
            AND (j.status = 'completed' AND (j.result ->> 'version')::bigint >= t.version
                OR j.status = 'failed' AND j.parked_at IS NOT NULL)))
ORDER BY t.user_id, t.id;

-- name: changed_users
-- params: app_name, user_id, job_type, again
-- returns: users without an open job of the type whose threads grew since their last completed one
SELECT t.user_id::text AS user_id, NULL::uuid AS thread_id
FROM :"schema".threads AS t
LEFT JOIN :"schema".users AS u ON u.user_id = t.user_id AND u.app_name = t.app_name
WHERE t.app_name = %(app_name)s::varchar AND u.erasing_since IS NULL AND u.paused_at IS NULL
    AND (%(user_id)s::varchar IS NULL OR t.user_id = %(user_id)s::varchar)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".consolidation_jobs AS j
        WHERE j.user_id = t.user_id AND j.app_name = t.app_name AND j.thread_id IS NULL
            AND j.job_type = %(job_type)s::varchar AND j.status IN ('pending', 'running'))
GROUP BY t.user_id
HAVING %(again)s::boolean OR NOT EXISTS (
    SELECT 1 FROM :"schema".consolidation_jobs AS j
    WHERE j.user_id = t.user_id AND j.app_name = %(app_name)s::varchar AND j.thread_id IS NULL
        AND j.job_type = %(job_type)s::varchar
        AND (j.status = 'completed' AND (j.result ->> 'version')::bigint >= sum(t.version)
            OR j.status = 'failed' AND j.parked_at IS NOT NULL))
ORDER BY t.user_id;

-- name: enqueue
-- params: app_name, users, threads, job_type
SELECT :"schema".enqueue_consolidation(%(app_name)s::text, %(users)s::text[], %(threads)s::uuid[],
    %(job_type)s::text) AS queued;

-- name: counts
-- params: app_name, user_id, thread_id, job_types, gated
-- returns: how many jobs of the scope are due, wait for their next attempt, run, are parked, or may not be
--   worked on because of their user; and when the next attempt is due
SELECT count(*) FILTER (WHERE q.state = 'due')::integer AS due,
    count(*) FILTER (WHERE q.state = 'waiting')::integer AS waiting,
    count(*) FILTER (WHERE q.state = 'running')::integer AS running,
    count(*) FILTER (WHERE q.state = 'parked')::integer AS parked,
    count(*) FILTER (WHERE q.state = 'held_back')::integer AS held_back,
    min(q.next_attempt_at) FILTER (WHERE q.state = 'waiting') AS next_attempt_at,
    clock_timestamp() AS now
FROM (
    SELECT j.next_attempt_at,
        CASE WHEN j.status = 'failed' THEN 'parked'
            WHEN j.status = 'running' AND j.lease_until >= clock_timestamp() THEN 'running'
            WHEN u.erasing_since IS NOT NULL OR u.paused_at IS NOT NULL
                OR %(gated)s::boolean AND u.held_at IS NOT NULL THEN 'held_back'
            WHEN j.status = 'running' OR j.next_attempt_at <= clock_timestamp() THEN 'due'
            ELSE 'waiting' END AS state
    FROM :"schema".consolidation_jobs AS j
    LEFT JOIN :"schema".users AS u ON u.user_id = j.user_id AND u.app_name = j.app_name
    WHERE j.app_name = %(app_name)s::varchar
        AND (j.status IN ('pending', 'running') OR j.status = 'failed' AND j.parked_at IS NOT NULL)
        AND (%(user_id)s::varchar IS NULL OR j.user_id = %(user_id)s::varchar)
        AND (%(thread_id)s::uuid IS NULL OR j.thread_id = %(thread_id)s::uuid)
        AND (%(job_types)s::text[] IS NULL OR j.job_type = ANY (%(job_types)s::text[]))
) AS q;

-- name: list
-- params: app_name, user_id, thread_id, job_types, states, limit
-- returns: the jobs of the scope: running, parked, due, waiting and held back ones first, then those that ended, latest first
SELECT q.*
FROM (
    SELECT j.id, j.user_id::text AS "user", t.external_id AS thread, j.job_type::text AS job,
        CASE WHEN j.status = 'running' AND j.lease_until >= clock_timestamp() THEN 'running'
            WHEN j.status = 'failed' AND j.parked_at IS NOT NULL THEN 'parked'
            WHEN j.status IN ('pending', 'running')
                AND (u.erasing_since IS NOT NULL OR u.paused_at IS NOT NULL) THEN 'held_back'
            WHEN j.status = 'running' OR j.status = 'pending' AND j.next_attempt_at <= clock_timestamp() THEN 'due'
            WHEN j.status = 'pending' THEN 'waiting'
            ELSE j.status::text END AS state,
        j.attempts, j.max_attempts, j.next_attempt_at, j.locked_by AS worker, j.lease_until, j.error,
        j.created_at, j.started_at, j.completed_at, COALESCE(j.result -> 'steps', '{}') AS steps
    FROM :"schema".consolidation_jobs AS j
    LEFT JOIN :"schema".threads AS t
        ON t.user_id = j.user_id AND t.app_name = j.app_name AND t.id = j.thread_id
    LEFT JOIN :"schema".users AS u ON u.user_id = j.user_id AND u.app_name = j.app_name
    WHERE j.app_name = %(app_name)s::varchar
        AND (%(user_id)s::varchar IS NULL OR j.user_id = %(user_id)s::varchar)
        AND (%(thread_id)s::uuid IS NULL OR j.thread_id = %(thread_id)s::uuid)
        AND (%(job_types)s::text[] IS NULL OR j.job_type = ANY (%(job_types)s::text[]))
) AS q
WHERE %(states)s::text[] IS NULL OR q.state = ANY (%(states)s::text[])
ORDER BY CASE q.state WHEN 'running' THEN 1 WHEN 'parked' THEN 2 WHEN 'due' THEN 3 WHEN 'waiting' THEN 4
        WHEN 'held_back' THEN 5 ELSE 6 END,
    CASE WHEN q.state IN ('due', 'waiting', 'held_back') THEN q.next_attempt_at END,
    COALESCE(q.completed_at, q.created_at) DESC, q.id
LIMIT %(limit)s::integer;

-- name: members
-- params: user_id, app_name, thread_id, after, most
-- returns: live memories of the thread, or of the user, in order of id after the one that was named
SELECT m.id FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND (%(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s::uuid)
    AND m.id > %(after)s::uuid
ORDER BY m.id
LIMIT %(most)s::integer;

-- name: rescore
-- params: user_id, app_name, ids
SELECT :"schema".rescore_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS rescored;

-- name: due_apps
-- params: enabled, main_enabled
-- returns: apps with a job that is due for the scheduler: those that are enabled, and with the main app those
--   that have no config of their own
SELECT DISTINCT j.app_name::text AS app
FROM :"schema".consolidation_jobs AS j
LEFT JOIN :"schema".users AS u ON u.user_id = j.user_id AND u.app_name = j.app_name
WHERE (j.status = 'pending' AND j.next_attempt_at <= clock_timestamp()
        OR j.status = 'running' AND j.lease_until < clock_timestamp())
    AND u.paused_at IS NULL AND u.held_at IS NULL AND u.erasing_since IS NULL
    AND (j.app_name = ANY (%(enabled)s::text[])
        OR %(main_enabled)s::boolean AND NOT EXISTS (
            SELECT 1 FROM :"schema".memory_automation_configs AS c WHERE c.app_name = j.app_name))
ORDER BY app;
