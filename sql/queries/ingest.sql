-- Turns of conversations into threads, events, memories and their vectors.
--
-- The order in which rows are locked is the same in every transaction: threads, events and memories,
-- older members of the threads, the user's term statistics, the queue.
--
-- Rows are looked up one by one (LATERAL … LIMIT 1): joins are planned from statistics, and while a load fills
-- a fresh table there are none that hold, so that a join may read the whole table for each batch. Hashes come
-- as hexadecimal text: the driver takes 23 µs to write an element of a bytea array.

-- name: model
-- params: app_name
-- returns: the app's active embedding model with its mean, if it has one
SELECT m.id, m.provider::text AS provider, m.model::text AS model, m.version::text AS version, m.dims,
    m.mean::real[] AS mean
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: find_turns
-- params: app_name, thread_users, thread_names, turn_threads, turn_positions, turn_hashes, model_id
-- returns: the turns that are stored already, by their number; of those whose memory has no vector of
--   the model, the memory with its text
SELECT given.number::integer AS number, bare.id AS memory_id, bare.content, bare.speaker
FROM unnest(%(turn_threads)s::integer[], %(turn_positions)s::integer[], %(turn_hashes)s::text[])
    WITH ORDINALITY AS given (thread, position, content_hash, number)
JOIN (
    SELECT p.number, p.user_id, t.id
    FROM unnest(%(thread_users)s::varchar[], %(thread_names)s::text[])
        WITH ORDINALITY AS p (user_id, external_id, number)
    CROSS JOIN LATERAL (
        SELECT one.id FROM :"schema".threads AS one
        WHERE one.user_id = p.user_id AND one.app_name = %(app_name)s::varchar
            AND one.external_id = p.external_id
        LIMIT 1
    ) AS t
) AS place ON place.number = given.thread
CROSS JOIN LATERAL (
    SELECT one.user_id, one.app_name, one.id FROM :"schema".events AS one
    WHERE one.user_id = place.user_id AND one.app_name = %(app_name)s::varchar
        AND one.thread_id = place.id AND one.position = given.position
        AND one.content_hash = decode(given.content_hash, 'hex')
    LIMIT 1
) AS e
LEFT JOIN LATERAL (
    SELECT m.id, m.content, m.metadata ->> 'speaker' AS speaker
    FROM :"schema".item_sources AS s
    JOIN :"schema".memories AS m
        ON m.user_id = s.user_id AND m.app_name = s.app_name AND m.id = s.item_id
    WHERE s.user_id = e.user_id AND s.app_name = e.app_name AND s.event_id = e.id
        AND s.item_kind = 'memory' AND s.extractor = 'ingest'
        AND m.deleted_at IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM :"schema".memory_vectors AS v
            WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id
                AND v.model_id = %(model_id)s::smallint)
    LIMIT 1
) AS bare ON %(model_id)s::smallint IS NOT NULL
ORDER BY given.number;

-- name: standing
-- params: app_name, users
-- returns: those of the users of whom nothing may be stored
SELECT u.user_id::text AS user_id, u.erasing_since IS NOT NULL AS is_erasing
FROM :"schema".users AS u
WHERE u.app_name = %(app_name)s::varchar AND u.user_id = ANY (%(users)s::varchar[])
    AND (u.erasing_since IS NOT NULL OR u.paused_at IS NOT NULL)
UNION ALL
SELECT g.user_id, false
FROM (SELECT DISTINCT one.user_id FROM unnest(%(users)s::text[]) AS one (user_id)) AS g
WHERE NOT EXISTS (
        SELECT 1 FROM :"schema".users AS u WHERE u.app_name = %(app_name)s::varchar AND u.user_id = g.user_id::varchar)
    AND :"schema".objection_since(g.user_id, %(app_name)s::text) IS NOT NULL
ORDER BY user_id;

-- name: admit
-- params: app_name, users
SELECT :"schema".admit_writer(g.user_id, %(app_name)s::text)
FROM (SELECT DISTINCT one.user_id FROM unnest(%(users)s::text[]) AS one (user_id) ORDER BY one.user_id) AS g;

-- name: open_threads
-- params: app_name, thread_users, thread_names, thread_states, thread_times
-- A user who is new has no memory yet: all fading times to come are computed under the present settings.
WITH given AS MATERIALIZED (
    SELECT g.user_id, g.external_id, g.state, g.occurred_at
    FROM unnest(%(thread_users)s::varchar[], %(thread_names)s::text[], %(thread_states)s::jsonb[],
        %(thread_times)s::timestamptz[]) AS g (user_id, external_id, state, occurred_at)
),
known AS (
    INSERT INTO :"schema".users (user_id, app_name, fades_threshold, fades_lambda, fades_min_age,
        fades_importance)
    SELECT g.user_id, %(app_name)s::varchar, s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance
    FROM (SELECT DISTINCT one.user_id FROM given AS one) AS g
    CROSS JOIN :"schema".retention_settings(%(app_name)s::text) AS s
    ORDER BY g.user_id
    ON CONFLICT (user_id, app_name) DO NOTHING
)
INSERT INTO :"schema".threads (user_id, app_name, external_id, state, occurred_at)
SELECT g.user_id, %(app_name)s::varchar, g.external_id, g.state, g.occurred_at
FROM given AS g
ORDER BY g.user_id, g.external_id
ON CONFLICT (user_id, app_name, external_id) DO NOTHING;

-- name: store_turns
-- params: app_name, run_id, thread_users, thread_names, event_ids, memory_ids, turn_threads, turn_positions,
--   turn_hashes, turn_speakers, turn_roles, turn_kinds, turn_texts, turn_ids, turn_metadata, turn_actions,
--   turn_times, turn_invocations
-- returns: the turns that were added, by their number, with their thread, whether it stood before, how many
--   live memories it had then, counted up to 6 (beyond five neighbours the retention score no longer changes),
--   and the length of the memory in terms, null where nothing was indexed
-- The words come from index_terms(), the one rule. index_memories() would have to allow for memories that
-- somebody else indexes at the same time; these are visible to nobody yet.
WITH place AS MATERIALIZED (
    SELECT p.number, p.user_id, t.id AS thread_id, t.is_old
    FROM unnest(%(thread_users)s::varchar[], %(thread_names)s::text[])
        WITH ORDINALITY AS p (user_id, external_id, number)
    CROSS JOIN LATERAL (
        SELECT one.id, one.created_at < now() AS is_old FROM :"schema".threads AS one
        WHERE one.user_id = p.user_id AND one.app_name = %(app_name)s::varchar
            AND one.external_id = p.external_id
        LIMIT 1
    ) AS t
),
given AS MATERIALIZED (
    SELECT g.*
    FROM unnest(%(event_ids)s::uuid[], %(memory_ids)s::uuid[], %(turn_threads)s::integer[],
        %(turn_positions)s::integer[], %(turn_hashes)s::text[], %(turn_speakers)s::varchar[],
        %(turn_roles)s::varchar[], %(turn_kinds)s::varchar[], %(turn_texts)s::text[], %(turn_ids)s::text[],
        %(turn_metadata)s::jsonb[], %(turn_actions)s::jsonb[], %(turn_times)s::timestamptz[],
        %(turn_invocations)s::uuid[])
        WITH ORDINALITY AS g (event_id, memory_id, thread, position, content_hash, speaker, role, kind, said,
            turn_id, metadata, actions, occurred_at, invocation_id, number)
),
added AS (
    INSERT INTO :"schema".events (id, user_id, app_name, thread_id, invocation_id, author, event_type, content,
        actions, position, content_hash, occurred_at)
    SELECT g.event_id, p.user_id, %(app_name)s::varchar, p.thread_id,
        COALESCE(g.invocation_id, gen_random_uuid()), COALESCE(g.speaker, g.role), g.kind,
        jsonb_build_object('role', g.role, 'parts', jsonb_build_array(jsonb_build_object('text', g.said)))
            || jsonb_strip_nulls(jsonb_build_object('speaker', g.speaker, 'id', g.turn_id))
            || CASE WHEN g.metadata IS NULL THEN '{}' ELSE jsonb_build_object('metadata', g.metadata) END,
        COALESCE(g.actions, '{}'), g.position, decode(g.content_hash, 'hex'), g.occurred_at
    FROM given AS g
    JOIN place AS p ON p.number = g.thread
    ORDER BY g.number
    ON CONFLICT ON CONSTRAINT events_turn_unique DO NOTHING
    RETURNING id, user_id, thread_id
),
turn AS MATERIALIZED (
    SELECT a.user_id, a.thread_id, g.*, words.terms, words.tfs, words.len,
        COALESCE(g.metadata, '{}')
            || jsonb_strip_nulls(jsonb_build_object('source', 'session', 'role', g.role, 'speaker', g.speaker,
                'turn_id', g.turn_id)) AS described
    FROM added AS a
    JOIN given AS g ON g.event_id = a.id
    LEFT JOIN LATERAL (
        SELECT array_agg(t.term) AS terms, array_agg(t.tf) AS tfs, max(t.len) AS len
        FROM :"schema".index_terms(g.speaker, g.said, g.occurred_at) AS t
    ) AS words ON g.memory_id IS NOT NULL
),
neighbours AS MATERIALIZED (
    SELECT n.user_id, n.thread_id, n.added, before.memories AS before, facts.facts
    FROM (
        SELECT t.user_id, t.thread_id, count(t.memory_id) AS added
        FROM turn AS t
        GROUP BY t.user_id, t.thread_id
    ) AS n
    CROSS JOIN LATERAL (
        SELECT count(*) AS memories
        FROM (
            SELECT 1 FROM :"schema".memories AS m
            WHERE m.user_id = n.user_id AND m.app_name = %(app_name)s::varchar AND m.thread_id = n.thread_id
                AND m.deleted_at IS NULL
            ORDER BY m.position
            LIMIT 6) AS few
    ) AS before
    CROSS JOIN LATERAL (
        SELECT count(*) AS facts
        FROM (
            SELECT 1 FROM :"schema".facts AS f
            WHERE f.user_id = n.user_id AND f.app_name = %(app_name)s::varchar AND f.thread_id = n.thread_id
                AND f.status = 'active' AND f.deleted_at IS NULL
            LIMIT 5) AS few
    ) AS facts
),
fresh AS MATERIALIZED (
    SELECT r.related::bigint AS related, s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance,
        :"schema".calculate_retention_score(0, now(), now(), 'episodic', r.related, NULL, now(),
            s.decay_lambda) AS score,
        :"schema".retention_fades_at(0, now(), now(), 'episodic', r.related, NULL,
            :"schema".calculate_importance_score(0, now(), now(), 'episodic'), s.threshold, s.decay_lambda,
            s.min_age_days, s.keep_importance) AS fades_at,
        :"schema".calculate_importance_score(0, now(), now(), 'episodic') AS importance
    FROM :"schema".retention_settings(%(app_name)s::text) AS s
    CROSS JOIN generate_series(0, 5) AS r (related)
),
remembered AS (
    INSERT INTO :"schema".memories (id, user_id, app_name, thread_id, content, metadata, occurred_at, position,
        last_accessed_at, created_at, retention_score, fades_at, fades_basis, importance_score)
    SELECT t.memory_id, t.user_id, %(app_name)s::varchar, t.thread_id, t.said, t.described, t.occurred_at,
        t.position, now(), now(),
        CASE WHEN t.metadata ? 'decay_override'
            THEN :"schema".calculate_retention_score(0, now(), now(), 'episodic', f.related::integer,
                :"schema".retention_decay_override(t.metadata), now(), f.decay_lambda)
            ELSE f.score END,
        CASE WHEN t.metadata ? 'decay_override'
            THEN :"schema".retention_fades_at(0, now(), now(), 'episodic', f.related::integer,
                :"schema".retention_decay_override(t.metadata), f.importance, f.threshold, f.decay_lambda,
                f.min_age_days, f.keep_importance)
            ELSE f.fades_at END,
        :"schema".retention_basis(0, now(), now(), 'episodic', t.metadata),
        f.importance
    FROM turn AS t
    JOIN neighbours AS n ON n.user_id = t.user_id AND n.thread_id = t.thread_id
    JOIN fresh AS f ON f.related = LEAST(5, n.before + n.added - 1 + n.facts)
    WHERE t.memory_id IS NOT NULL
    ORDER BY t.number
),
sourced AS (
    INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor)
    SELECT t.user_id, %(app_name)s::varchar, 'memory', t.memory_id, t.event_id, %(run_id)s::uuid, 'ingest'
    FROM turn AS t
    WHERE t.memory_id IS NOT NULL
),
posted AS (
    INSERT INTO :"schema".memory_terms (user_id, app_name, term, memory_id, tf, len)
    SELECT t.user_id, %(app_name)s::varchar, words.term, t.memory_id, words.tf, t.len
    FROM turn AS t
    CROSS JOIN LATERAL unnest(t.terms, t.tfs) AS words (term, tf)
    WHERE t.len IS NOT NULL
    ORDER BY t.user_id, words.term, t.memory_id
)
SELECT t.number::integer AS number, t.thread_id, n.before::integer AS before, p.is_old, t.len
FROM turn AS t
JOIN neighbours AS n ON n.user_id = t.user_id AND n.thread_id = t.thread_id
JOIN place AS p ON p.number = t.thread
ORDER BY t.number;

-- name: touch_threads
-- params: app_name, users, threads
-- For threads that stood before; one that this transaction opened bears its time already.
UPDATE :"schema".threads AS t
SET updated_at = now(), version = t.version + 1
FROM (
    SELECT one.user_id, one.app_name, one.id
    FROM unnest(%(users)s::varchar[], %(threads)s::uuid[]) AS g (user_id, id)
    CROSS JOIN LATERAL (
        SELECT t.user_id, t.app_name, t.id FROM :"schema".threads AS t
        WHERE t.user_id = g.user_id AND t.app_name = %(app_name)s::varchar AND t.id = g.id
        LIMIT 1
        FOR NO KEY UPDATE
    ) AS one
) AS grown
WHERE t.user_id = grown.user_id AND t.app_name = grown.app_name AND t.id = grown.id;

-- name: rescore_grown
-- params: app_name, users, threads
-- Members of threads that had few: each has more neighbours now.
SELECT COALESCE(sum(:"schema".rescore_memories(g.user_id::text, %(app_name)s::text, members.ids)), 0)::integer
    AS rescored
FROM unnest(%(users)s::varchar[], %(threads)s::uuid[]) AS g (user_id, thread_id)
CROSS JOIN LATERAL (
    SELECT array_agg(few.id) AS ids
    FROM (
        SELECT m.id
        FROM :"schema".memories AS m
        WHERE m.user_id = g.user_id AND m.app_name = %(app_name)s::varchar AND m.thread_id = g.thread_id
            AND m.deleted_at IS NULL AND m.created_at < now()
        ORDER BY m.position
        LIMIT 8) AS few
) AS members
WHERE members.ids IS NOT NULL;

-- name: count_terms
-- params: app_name, users, documents, total_lens
INSERT INTO :"schema".memory_term_stats AS s (user_id, app_name, documents, total_len)
SELECT g.user_id, %(app_name)s::varchar, g.documents, g.total_len
FROM unnest(%(users)s::varchar[], %(documents)s::bigint[], %(total_lens)s::bigint[])
    AS g (user_id, documents, total_len)
ORDER BY g.user_id
ON CONFLICT (user_id, app_name) DO UPDATE
    SET documents = s.documents + excluded.documents, total_len = s.total_len + excluded.total_len;

-- name: missing_vectors
-- params: app_name, users, memory_ids, model_id
-- returns: which of the memories still stand without a vector of the model; locked until the commit
SELECT m.id
FROM unnest(%(users)s::varchar[], %(memory_ids)s::uuid[]) AS g (user_id, memory_id)
CROSS JOIN LATERAL (
    SELECT one.id FROM :"schema".memories AS one
    WHERE one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.memory_id
        AND one.deleted_at IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM :"schema".memory_vectors AS v
            WHERE v.user_id = g.user_id AND v.app_name = %(app_name)s::varchar
                AND v.memory_id = g.memory_id AND v.model_id = %(model_id)s::smallint)
    LIMIT 1
    FOR NO KEY UPDATE
) AS m;

-- name: copy_vectors
COPY :"schema".memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)
FROM STDIN (FORMAT BINARY);

-- name: enqueue
-- params: app_name, users, threads
-- returns: how many jobs wait now that did not, or run and are told that there is more to read
-- What this transaction stored bears its time, so the job reads from there on.
SELECT :"schema".enqueue_consolidation(%(app_name)s::text, %(users)s::text[], %(threads)s::uuid[],
    'fast_replay', now()) AS jobs;

-- name: without_statistics
-- params: schema, rows
-- returns: a row if a table of ours is known to the planner as far smaller than it is by now
SELECT 1 AS is_stale
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name
    AND c.relname IN ('events', 'memories', 'item_sources')
    AND c.reltuples < %(rows)s::real / 3
LIMIT 1;

-- name: analyze
-- The columns that keys, their checks and the look-ups here go by; the rest is for autovacuum. Who may not
-- analyze a table gets a warning from the server and no error.
ANALYZE :"schema".threads (user_id, app_name, id, external_id),
    :"schema".events (user_id, app_name, id, thread_id, position, sequence_num),
    :"schema".memories (user_id, app_name, id, thread_id, position, created_at, due_at, pinned_at, deleted_at,
        relevance_weight),
    :"schema".memory_vectors (user_id, app_name, memory_id, model_id, live),
    :"schema".item_sources (user_id, app_name, item_id, event_id);

-- name: commit_later
-- The commit of this transaction does not wait for the disk; commit_now does, for all before it.
SET LOCAL synchronous_commit = off;

-- name: commit_now
-- returns: a transaction id: its commit is written out, and with it every earlier one
SELECT pg_current_xact_id()::text AS id;
