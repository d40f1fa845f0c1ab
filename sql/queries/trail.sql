-- The audit trail as a whole: its head, and what proves that nobody rewrote it.

-- name: head
-- params: app_name
-- returns: the last entry, and how many there are
SELECT l.sequence, encode(l.entry_hash, 'hex') AS entry_hash, l.created_at AS at,
    (SELECT count(*) FROM :"schema".memory_audit_logs AS c WHERE c.app_name = l.app_name) AS entries
FROM :"schema".memory_audit_logs AS l
WHERE l.app_name = %(app_name)s::varchar
ORDER BY l.sequence DESC
LIMIT 1;

-- name: genesis
-- params: app_name
SELECT encode(sha256(convert_to('negmem:trail:' || %(app_name)s::text, 'UTF8')), 'hex') AS entry_hash;

-- name: page
-- params: app_name, after, row_limit
-- returns: entries in order, each with whether it is as its hash says, and whether its readable side is
SELECT l.sequence, encode(l.previous_hash, 'hex') AS previous_hash, encode(l.entry_hash, 'hex') AS entry_hash,
    l.user_id::text AS person,
    :"schema".audit_entry_hash(l.previous_hash, l.sequence, l.id, l.app_name, l.user_id, l.memory_id, l.decision, l.note,
        l.idempotency_key, l.actor, l.actor_verified, l.version, l.created_at) = l.entry_hash
        AND l.updated_at = l.created_at AS is_intact,
    d.log_id IS NOT NULL AS has_details, COALESCE(d.is_intact, true) AS are_details_intact
FROM (
    SELECT one.* FROM :"schema".memory_audit_logs AS one
    WHERE one.app_name = %(app_name)s::varchar AND one.sequence > %(after)s::bigint
    ORDER BY one.sequence
    LIMIT %(row_limit)s::integer
) AS l
LEFT JOIN :"schema".trail_details(%(app_name)s::text, %(after)s::bigint, %(row_limit)s::integer) AS d ON d.log_id = l.id
ORDER BY l.sequence;

-- name: known
-- params: app_name, persons
-- returns: those of the persons whose key is still there
SELECT p.person FROM :"schema".trail_persons(%(app_name)s::text, %(persons)s::text[]) AS p (person);

-- name: orphans
-- params: app_name
-- returns: how many readable sides belong to no entry
SELECT count(*) AS orphans
FROM :"schema".audit_details AS d
WHERE d.app_name = %(app_name)s::varchar
    AND NOT EXISTS (SELECT 1 FROM :"schema".memory_audit_logs AS l WHERE l.id = d.log_id AND l.app_name = d.app_name);

-- name: guard
-- params: schema
-- returns: whether the trigger that refuses changes of the trail is there, on, and refuses
SELECT EXISTS (
    SELECT 1
    FROM pg_trigger AS t
    JOIN pg_class AS c ON c.oid = t.tgrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_proc AS p ON p.oid = t.tgfoid
    WHERE n.nspname = %(schema)s::name AND c.relname = 'memory_audit_logs' AND t.tgname = 'memory_audit_logs_append_only'
        AND t.tgenabled IN ('O', 'A') AND p.prosrc LIKE '%%RAISE EXCEPTION%%'
) AS stands;

-- name: at
-- params: app_name, sequence
SELECT encode(l.entry_hash, 'hex') AS entry_hash
FROM :"schema".memory_audit_logs AS l
WHERE l.app_name = %(app_name)s::varchar AND l.sequence = %(sequence)s::bigint;
