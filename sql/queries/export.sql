-- Everything about one person out of the database, and back.

-- name: one_snapshot
-- The first statement of a transaction: all pages are read as of one moment.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- name: erased
-- params: user_id, app_name
-- returns: when the person was erased here, else null
SELECT :"schema".erased_on(%(user_id)s::text, %(app_name)s::text) AS at;

-- name: now
SELECT now() AS now;

-- name: trail
-- params: user_id, app_name, after, row_limit
-- returns: the entries of the trail about one person, with their readable side
SELECT d.log_id AS id, l.memory_id::text AS memory_id, l.decision::text AS decision, l.version, l.sequence, l.created_at, d.note,
    d.idempotency_key, d.actor, l.actor_verified
FROM :"schema".audit_details AS d
JOIN :"schema".memory_audit_logs AS l ON l.id = d.log_id
WHERE d.user_id = %(user_id)s::varchar AND d.app_name = %(app_name)s::varchar AND l.sequence > %(after)s::bigint
ORDER BY l.sequence
LIMIT %(row_limit)s::integer;

-- name: numbers
-- params: schema, count
-- returns: as many numbers of the events' sequence, ascending
SELECT n.number FROM (
    SELECT nextval(c.oid::regclass) AS number
    FROM pg_class AS c
    JOIN pg_namespace AS s ON s.oid = c.relnamespace
    CROSS JOIN generate_series(1, %(count)s::integer)
    WHERE s.nspname = %(schema)s::name AND c.relname = 'events_sequence_num_seq'
) AS n
ORDER BY n.number;

-- name: import
-- params: table, rows
-- returns: the places of the rows that were added
SELECT i.place FROM :"schema".import_rows(%(table)s::text, %(rows)s::jsonb) AS i (place);

-- name: succeed
-- params: user_id, app_name, ids, successors
-- Facts that took the place of others: once all of them stand.
UPDATE :"schema".facts AS f
SET superseded_by = g.successor
FROM unnest(%(ids)s::uuid[], %(successors)s::uuid[]) AS g (id, successor)
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = g.id
    AND EXISTS (
        SELECT 1 FROM :"schema".facts AS s
        WHERE s.user_id = f.user_id AND s.app_name = f.app_name AND s.id = g.successor);

-- name: bare
-- params: user_id, app_name, ids
-- returns: which of the memories and facts have no vector, with the text that one is made of
SELECT 'memory' AS kind, m.id, m.content AS text, m.metadata ->> 'speaker' AS speaker
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_vectors AS v
        WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id)
UNION ALL
SELECT 'fact', f.id, :"schema".fact_text(f.key, f.value), NULL
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[])
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".fact_vectors AS v
        WHERE v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id);

-- name: rescore
-- params: user_id, app_name, ids
SELECT :"schema".rescore_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS rescored;

-- name: reads
-- params: user_id, app_name, after, after_id, row_limit
-- returns: searches and contexts on record in the order of time, with what they gave
SELECT l.id, l.created_at, l.query, l.search_level, l.items, l.retrieved_memory_ids, l.retrieved_fact_ids, l.reader
FROM :"schema".memory_retrieval_logs AS l
WHERE l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar
    AND (%(after)s::timestamptz IS NULL OR (l.created_at, l.id) > (%(after)s::timestamptz, %(after_id)s::uuid))
ORDER BY l.created_at, l.id
LIMIT %(row_limit)s::integer;

-- name: readers
-- params: schema
-- returns: who may log in and read memories, and whether by being a superuser
SELECT r.rolname::text AS role, r.rolsuper AS is_superuser
FROM pg_roles AS r
JOIN pg_namespace AS n ON n.nspname = %(schema)s::name
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'memories'
WHERE r.rolcanlogin AND has_schema_privilege(r.oid, n.oid, 'USAGE') AND has_table_privilege(r.oid, c.oid, 'SELECT')
ORDER BY r.rolname;
