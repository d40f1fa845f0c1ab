-- Writes that wait for a person: made, listed, decided. What an approval does is done by the store's own statements.

-- name: same
-- params: owner_kind, owner, app_name, payload, quiet_days
-- returns: a proposal of the very same that waits, or was rejected not long ago; one that was edited since is the same as
--   what it was, and as what it is
SELECT p.id, p.status::text AS status
FROM :"schema".proposals AS p
WHERE p.owner_kind = %(owner_kind)s::varchar AND p.owner = %(owner)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.payload ->> 'act' = %(payload)s::jsonb ->> 'act'
    AND %(payload)s::jsonb -> 'arguments' IN (p.payload -> 'arguments', p.payload -> 'proposed')
    AND ((p.status IN ('pending', 'edited', 'stale', 'failed') AND p.expires_at > now())
        OR (p.status = 'rejected' AND p.decided_at > now() - %(quiet_days)s::integer * interval '24 hours'))
ORDER BY p.created_at DESC, p.id
LIMIT 1;

-- name: add
-- params: owner_kind, owner, app_name, user_id, agent_id, thread, store, op, mode, target_id, target_version, payload,
--   evidence, rationale, confidence, model, prompt_version, duplicates, proposed_by, expiry_days
INSERT INTO :"schema".proposals (owner_kind, owner, app_name, user_id, agent_id, thread_id, store, op, mode, target_id,
    target_version, payload, evidence, rationale, confidence, model, prompt_version, duplicates, proposed_by, expires_at)
VALUES (%(owner_kind)s::varchar, %(owner)s::varchar, %(app_name)s::varchar, %(user_id)s::varchar, %(agent_id)s::varchar,
    (SELECT t.id FROM :"schema".threads AS t
        WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
            AND t.external_id = %(thread)s::text),
    %(store)s::varchar, %(op)s::varchar, %(mode)s::varchar, %(target_id)s::uuid, %(target_version)s::integer,
    %(payload)s::jsonb, %(evidence)s::jsonb, %(rationale)s::text, %(confidence)s::float8, %(model)s::varchar,
    %(prompt_version)s::varchar, %(duplicates)s::jsonb, %(proposed_by)s::text,
    now() + %(expiry_days)s::integer * interval '24 hours')
RETURNING id;

-- name: list
-- params: app_name, owner_kinds, owners, id, store, op, agent_id, min_confidence, status, row_limit, row_offset
-- returns: what waits, oldest first, then what was decided, newest first; total counts all pages. What waits beyond its
--   time is expired, whether that was written down yet or not. NULL for owners: those of the whole app
SELECT p.owner_kind::text AS owner_kind, p.owner::text AS owner, p.id, s.status, p.store::text AS store, p.op::text AS op,
    p.mode::text AS mode, p.user_id::text AS user_id, p.agent_id::text AS agent_id, p.payload, p.target_id,
    p.target_version, p.evidence, p.rationale, p.confidence, p.model::text AS model,
    p.prompt_version::text AS prompt_version, p.duplicates, p.proposed_by, p.decided_by, p.decided_at, p.reason,
    p.applied_id, p.expires_at, p.created_at, count(*) OVER () AS total
FROM :"schema".proposals AS p
CROSS JOIN LATERAL (
    SELECT CASE WHEN p.status IN ('pending', 'edited', 'stale', 'failed') AND p.expires_at <= now() THEN 'expired'
        ELSE p.status::text END AS status
) AS s
WHERE p.app_name = %(app_name)s::varchar
    AND (%(owner_kinds)s::text[] IS NULL OR (p.owner_kind, p.owner) IN (
        SELECT o.kind, o.name FROM unnest(%(owner_kinds)s::text[], %(owners)s::text[]) AS o (kind, name)))
    AND (%(id)s::uuid IS NULL OR p.id = %(id)s::uuid)
    AND (%(store)s::text IS NULL OR p.store = %(store)s::text)
    AND (%(op)s::text IS NULL OR p.op = %(op)s::text)
    AND (%(agent_id)s::text IS NULL OR p.agent_id = %(agent_id)s::text)
    AND (%(min_confidence)s::float8 IS NULL OR p.confidence >= %(min_confidence)s::float8)
    AND (%(status)s::text IS NULL OR s.status = %(status)s::text
        OR %(status)s::text = 'waiting' AND s.status IN ('pending', 'edited', 'stale', 'failed'))
ORDER BY s.status NOT IN ('pending', 'edited', 'stale', 'failed'),
    CASE WHEN s.status IN ('pending', 'edited', 'stale', 'failed') THEN p.created_at END,
    p.decided_at DESC NULLS LAST, p.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: lock
-- params: owner_kind, owner, app_name, id
SELECT p.status::text AS status, p.payload, p.expires_at <= now() AS is_late, p.decided_by, p.reason, p.applied_id
FROM :"schema".proposals AS p
WHERE p.owner_kind = %(owner_kind)s::varchar AND p.owner = %(owner)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.id = %(id)s::uuid
FOR UPDATE;

-- name: decide
-- params: owner_kind, owner, app_name, id, status, decided_by, reason, applied_id
UPDATE :"schema".proposals AS p
SET status = %(status)s::varchar, decided_by = %(decided_by)s::text, decided_at = now(), reason = %(reason)s::text,
    applied_id = %(applied_id)s::uuid
WHERE p.owner_kind = %(owner_kind)s::varchar AND p.owner = %(owner)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.id = %(id)s::uuid;

-- name: edit
-- params: owner_kind, owner, app_name, id, payload, before, target_id, target_version
-- returns: a row where the proposal still waits, and nobody edited it meanwhile
UPDATE :"schema".proposals AS p
SET payload = %(payload)s::jsonb, status = 'edited', target_id = %(target_id)s::uuid,
    target_version = %(target_version)s::integer, reason = NULL, decided_by = NULL, decided_at = NULL
WHERE p.owner_kind = %(owner_kind)s::varchar AND p.owner = %(owner)s::varchar AND p.app_name = %(app_name)s::varchar
    AND p.id = %(id)s::uuid AND p.payload = %(before)s::jsonb AND p.expires_at > now()
    AND p.status IN ('pending', 'edited', 'stale', 'failed')
RETURNING p.id;

-- name: expire
-- params: app_name
SELECT :"schema".expire_proposals(%(app_name)s::text) AS expired;

-- name: fact
-- params: user_id, app_name, fact_type, keys, ids
-- returns: the facts in force under the names of a field, its own first, or those of some ids
SELECT f.id, f.version, f.fact_type::text AS fact_type, f.key::text AS key, f.value
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND (f.id = ANY (%(ids)s::uuid[]) OR (f.fact_type = %(fact_type)s::varchar AND f.key = ANY (%(keys)s::text[])
        AND f.deleted_at IS NULL AND f.status = 'active'))
ORDER BY array_position(%(keys)s::text[], f.key::text) = 1 DESC NULLS LAST, f.valid_from DESC NULLS LAST, f.id;

-- name: memory
-- params: user_id, app_name, ids
SELECT m.id, m.version, m.content, m.metadata ->> 'source' = 'observation' AS is_observation
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
ORDER BY m.id;

-- name: admit
-- params: user_id, app_name
SELECT :"schema".admit_writer(%(user_id)s::text, %(app_name)s::text);
