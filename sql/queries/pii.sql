-- Personal data: who may see it, where it stands in memories, and what was not scanned.

-- name: role
-- params: schema
-- returns: whether the role owns the schema, and what the roles of init --roles that it is in are for
SELECT COALESCE(pg_has_role(n.nspowner, 'USAGE'), false) AS owns,
    ARRAY(
        SELECT substr(c.comment, length('negmem, ' || %(schema)s::text || ': ') + 1)
        FROM pg_roles AS r
        CROSS JOIN LATERAL (SELECT shobj_description(r.oid, 'pg_authid') AS comment) AS c
        WHERE starts_with(c.comment, 'negmem, ' || %(schema)s::text || ': ') AND pg_has_role(r.oid, 'USAGE')
    ) AS purposes
FROM (VALUES (1)) AS one (row)
LEFT JOIN pg_namespace AS n ON n.nspname = %(schema)s::name;

-- name: unscanned
-- params: user_id, app_name, ids
-- returns: which of the rows bear the mark that the detector could not read them
SELECT m.id FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
    AND m.metadata ? 'pii_unscanned'
UNION ALL
SELECT f.id FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[])
    AND f.metadata ? 'pii_unscanned'
UNION ALL
SELECT e.id FROM :"schema".events AS e
WHERE e.user_id = %(user_id)s::varchar AND e.app_name = %(app_name)s::varchar AND e.id = ANY (%(ids)s::uuid[])
    AND e.content -> 'metadata' ? 'pii_unscanned'
UNION ALL
SELECT b.id FROM :"schema".memory_core_blocks AS b
WHERE b.owner_kind IN ('user', 'global') AND b.owner IN (%(user_id)s::varchar, '') AND b.app_name = %(app_name)s::varchar
    AND b.id = ANY (%(ids)s::uuid[]) AND b.metadata ? 'pii_unscanned'
UNION ALL
SELECT s.id FROM :"schema".memory_summaries AS s
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.id = ANY (%(ids)s::uuid[])
    AND s.details ? 'pii_unscanned';

-- name: forget_marks
-- params: user_id, app_name, memory_ids
DELETE FROM :"schema".memory_pii AS p
WHERE p.user_id = %(user_id)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.memory_id = ANY (%(memory_ids)s::uuid[]);

-- name: mark
-- params: app_name, users, memory_ids, kinds, starts, ends, scores, engines
-- Marks of memories that stand by now; what somebody else stored first keeps its own.
INSERT INTO :"schema".memory_pii
    (user_id, app_name, memory_id, kind, span_start, span_end, score, engine, content_version)
SELECT g.user_id, %(app_name)s::varchar, g.memory_id, g.kind, g.span_start, g.span_end, g.score, g.engine, m.version
FROM unnest(%(users)s::varchar[], %(memory_ids)s::uuid[], %(kinds)s::varchar[], %(starts)s::integer[],
    %(ends)s::integer[], %(scores)s::float8[], %(engines)s::varchar[])
    AS g (user_id, memory_id, kind, span_start, span_end, score, engine)
CROSS JOIN LATERAL (
    SELECT one.version FROM :"schema".memories AS one
    WHERE one.user_id = g.user_id AND one.app_name = %(app_name)s::varchar AND one.id = g.memory_id
    LIMIT 1
) AS m
ON CONFLICT DO NOTHING;
