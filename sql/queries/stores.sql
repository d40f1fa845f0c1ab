-- The stores of the learning machine: what the session context and the decision log recall, and how a thread is learned
-- from.

-- name: session_context
-- params: user_id, app_name, thread
-- returns: the summary of a thread of the user
SELECT s.id, s.content, s.updated_at
FROM :"schema".threads AS t
JOIN :"schema".memory_summaries AS s
    ON s.user_id = t.user_id AND s.app_name = t.app_name AND s.thread_id = t.id AND s.summary_type = 'session'
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text
    AND :"schema".summary_sources_gone(t.user_id, t.app_name, s.details) = 0;

-- name: sources
-- params: user_id, app_name, ids
-- returns: the turns that items rest on, at most three an item, the newest first
SELECT s.item_id, s.id, s.thread, s.said_at, s.quote, s.extractor, s.model
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT i.item_id, e.id, t.external_id::text AS thread, COALESCE(e.occurred_at, e.created_at) AS said_at,
        left(:"schema".event_text(e.content), 200) AS quote, i.extractor::text AS extractor, i.model::text AS model
    FROM :"schema".item_sources AS i
    JOIN :"schema".events AS e ON e.user_id = i.user_id AND e.app_name = i.app_name AND e.id = i.event_id
    JOIN :"schema".threads AS t ON t.user_id = e.user_id AND t.app_name = e.app_name AND t.id = e.thread_id
    WHERE i.user_id = %(user_id)s::varchar AND i.app_name = %(app_name)s::varchar AND i.item_id = wanted.id
    ORDER BY e.occurred_at DESC NULLS LAST, e.id
    LIMIT 3
) AS s
ORDER BY s.item_id, s.said_at DESC;

-- name: held
-- params: user_id, app_name
-- returns: how much is held of a user, by kind
SELECT
    (SELECT count(*) FROM :"schema".memories AS m
     WHERE m.user_id = u.user_id AND m.app_name = u.app_name AND m.deleted_at IS NULL) AS memories,
    (SELECT count(*) FROM :"schema".facts AS f
     WHERE f.user_id = u.user_id AND f.app_name = u.app_name AND f.deleted_at IS NULL AND f.status = 'active') AS facts,
    (SELECT count(*) FROM :"schema".threads AS t
     WHERE t.user_id = u.user_id AND t.app_name = u.app_name) AS threads,
    (SELECT count(*) FROM :"schema".consolidation_jobs AS j
     WHERE j.user_id = u.user_id AND j.app_name = u.app_name AND j.status IN ('pending', 'running')) AS jobs
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar;

-- name: thread
-- params: user_id, app_name, thread_id
-- returns: a thread's name, and where and for whom what is learned from it goes
SELECT t.external_id::text AS name, COALESCE(t.metadata -> 'learning', '{}') AS learning
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.id = %(thread_id)s::uuid;

-- name: set_thread
-- params: user_id, app_name, thread, learning
-- What `process` was told of a thread, for the jobs that learn from it.
UPDATE :"schema".threads AS t
SET metadata = COALESCE(t.metadata, '{}') || jsonb_build_object('learning', %(learning)s::jsonb)
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text
    AND t.metadata -> 'learning' IS DISTINCT FROM %(learning)s::jsonb;

-- name: decisions
-- params: user_id, app_name, id, query, decision_type, agent_id, days, removed, row_limit, row_offset
-- returns: decisions made for the user, newest first; total counts all pages
SELECT d.id, d.decision, d.reasoning, d.decision_type::text AS decision_type, d.context, d.alternatives, d.confidence,
    d.outcome, d.outcome_quality::text AS outcome_quality, d.tags, d.agent_id::text AS agent, d.team_id::text AS team,
    t.external_id::text AS thread, d.version, d.created_at, d.updated_at, d.deleted_at, count(*) OVER () AS total
FROM :"schema".decisions AS d
LEFT JOIN :"schema".threads AS t
    ON t.user_id = d.user_id AND t.app_name = d.app_name AND t.id = d.thread_id
WHERE d.user_id = %(user_id)s::varchar AND d.app_name = %(app_name)s::varchar
    AND (%(removed)s::boolean IS NULL OR (d.deleted_at IS NOT NULL) = %(removed)s::boolean)
    AND (%(id)s::uuid IS NULL OR d.id = %(id)s::uuid)
    AND (%(decision_type)s::text IS NULL OR d.decision_type = %(decision_type)s::text)
    AND (%(agent_id)s::text IS NULL OR d.agent_id = %(agent_id)s::text)
    AND (%(days)s::integer IS NULL OR d.created_at > now() - %(days)s::integer * interval '24 hours')
    AND (%(query)s::text IS NULL OR EXISTS (
        SELECT FROM unnest(:"schema".text_terms(concat_ws(E'\n', d.decision, d.reasoning, d.context, d.outcome))) AS w (term)
        WHERE w.term IN (SELECT q.term FROM unnest(:"schema".text_terms(%(query)s::text)) AS q (term))))
ORDER BY d.created_at DESC, d.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: add_decision
-- params: user_id, app_name, agent_id, team_id, thread, decision, reasoning, decision_type, context, alternatives,
--   confidence, tags
INSERT INTO :"schema".decisions (user_id, app_name, agent_id, team_id, thread_id, decision, reasoning, decision_type,
    context, alternatives, confidence, tags)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(agent_id)s::varchar, %(team_id)s::varchar,
    (SELECT t.id FROM :"schema".threads AS t
        WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
            AND t.external_id = %(thread)s::text),
    %(decision)s::text, %(reasoning)s::text, %(decision_type)s::varchar, %(context)s::text, %(alternatives)s::text[],
    %(confidence)s::float8, %(tags)s::text[])
RETURNING id;

-- name: lock_decision
-- params: user_id, app_name, id
SELECT d.version, d.outcome, d.outcome_quality::text AS outcome_quality, d.deleted_at IS NOT NULL AS removed
FROM :"schema".decisions AS d
WHERE d.user_id = %(user_id)s::varchar AND d.app_name = %(app_name)s::varchar AND d.id = %(id)s::uuid
FOR UPDATE;

-- name: change_decision
-- params: user_id, app_name, id, outcome, outcome_quality, removed
UPDATE :"schema".decisions AS d
SET outcome = %(outcome)s::text, outcome_quality = %(outcome_quality)s::varchar, version = d.version + 1,
    updated_at = now(), deleted_at = CASE WHEN %(removed)s::boolean THEN COALESCE(d.deleted_at, now()) END
WHERE d.user_id = %(user_id)s::varchar AND d.app_name = %(app_name)s::varchar AND d.id = %(id)s::uuid;
