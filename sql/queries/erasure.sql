-- A person erased: what was known, what is left of it, the list of erased persons.

-- name: standing
-- params: user_id, app_name
-- returns: whether the app knows the person, and whether the person was erased before
SELECT EXISTS (
        SELECT 1 FROM :"schema".users AS u
        WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar) AS is_known,
    EXISTS (
        SELECT 1 FROM :"schema".users AS u
        WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar AND u.held_at IS NOT NULL)
        AS is_held,
    (SELECT e.certificate FROM :"schema".erased_persons AS e
     WHERE e.app_name = %(app_name)s::varchar
        AND e.person_hmac = :"schema".erased_person(%(user_id)s::text, %(app_name)s::text)) AS certificate;

-- name: begin
-- params: user_id, app_name, actor, actor_verified, note
SELECT :"schema".erase_begin(%(user_id)s::text, %(app_name)s::text, %(actor)s::text, %(actor_verified)s::boolean,
    %(note)s::text) AS answer;

-- name: batch
-- params: table, is_shareable, user_id, app_name, person, after, row_limit
SELECT b.removed, b.last_key
FROM :"schema".erase_batch(%(table)s::text, %(is_shareable)s::boolean, %(user_id)s::text, %(app_name)s::text,
    %(person)s::text, %(after)s::jsonb, %(row_limit)s::integer) AS b;

-- name: memory_texts
-- params: user_id, app_name, after, row_limit
-- returns: what was embedded of the memories of one batch, in the order in which they go
SELECT m.id, m.content AS text, m.metadata ->> 'speaker' AS speaker
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND (%(after)s::uuid IS NULL OR m.id > %(after)s::uuid)
ORDER BY m.user_id, m.app_name, m.id
LIMIT %(row_limit)s::integer;

-- name: fact_texts
-- params: user_id, app_name, after, row_limit
SELECT f.id, :"schema".fact_text(f.key, f.value) AS text, NULL AS speaker
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND (%(after)s::uuid IS NULL OR f.id > %(after)s::uuid)
ORDER BY f.user_id, f.app_name, f.id
LIMIT %(row_limit)s::integer;

-- name: lock
-- params: user_id, app_name
SELECT u.erasing_since FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
FOR UPDATE;

-- name: mentions
-- params: table, column, user_id, app_name
SELECT :"schema".erase_mentions(%(table)s::text, %(column)s::text, %(user_id)s::text, %(app_name)s::text) AS changed;

-- name: needles
-- params: user_id, app_name, most
-- returns: texts long enough to mean the person, at most so many of each kind; and vectors
SELECT 'text' AS kind, m.content AS needle
FROM (
    SELECT one.content FROM :"schema".memories AS one
    WHERE one.user_id = %(user_id)s::varchar AND one.app_name = %(app_name)s::varchar
    LIMIT 2000
) AS m
WHERE length(m.content) >= 20
UNION
(
    SELECT 'text', t.external_id FROM :"schema".threads AS t
    WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND length(t.external_id) >= 12
    LIMIT %(most)s::integer
)
UNION
(
    SELECT 'text', f.value #>> '{}' FROM :"schema".facts AS f
    WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND length(f.value #>> '{}') >= 12
    LIMIT %(most)s::integer
)
UNION
(
    SELECT 'vector', v.embedding::text
    FROM :"schema".memory_vectors AS v
    JOIN :"schema".memories AS m ON m.user_id = v.user_id AND m.app_name = v.app_name AND m.id = v.memory_id
    WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar AND length(m.content) >= 20
    LIMIT 20
);

-- name: traces
-- params: table, app_name, texts, needles, vectors, vector_needles
SELECT :"schema".erase_traces(%(table)s::text, %(app_name)s::text, %(texts)s::text[], %(needles)s::text[],
    %(vectors)s::text[], %(vector_needles)s::text[]) AS rows;

-- name: installation
SELECT i.id::text AS id, now() AS now FROM :"schema".installation AS i;

-- name: certify
-- params: app_name, person, certificate
-- An erasure that is done keeps its certificate beside the list.
UPDATE :"schema".erased_persons AS e
SET certificate = %(certificate)s::jsonb || jsonb_build_object('objection', COALESCE(e.certificate -> 'objection', 'false')),
    erased_at = now()
WHERE e.app_name = %(app_name)s::varchar AND e.person_hmac = decode(%(person)s::text, 'hex');

-- name: list
-- params: app_name
SELECT encode(e.person_hmac, 'hex') AS person, e.erased_at, e.certificate ->> 'state' AS state
FROM :"schema".erased_persons AS e
WHERE e.app_name = %(app_name)s::varchar
ORDER BY e.erased_at, e.person_hmac;

-- name: key
SELECT encode(i.erasure_key, 'hex') AS key FROM :"schema".installation AS i;

-- name: listed_users
-- params: app_name, key, persons
-- returns: users who are here and on a list, by the list's key
SELECT u.user_id::text AS user_id, u.created_at, encode(h.person, 'hex') AS person
FROM :"schema".users AS u
CROSS JOIN LATERAL (
    SELECT :"schema".erased_person(u.user_id, u.app_name, decode(%(key)s::text, 'hex')) AS person
) AS h
WHERE u.app_name = %(app_name)s::varchar AND encode(h.person, 'hex') = ANY (%(persons)s::text[])
ORDER BY u.user_id;

-- name: count
-- params: table, is_shareable, user_id, app_name
SELECT :"schema".erase_count(%(table)s::text, %(is_shareable)s::boolean, %(user_id)s::text, %(app_name)s::text) AS rows;

-- name: kept
-- params: app_name, person
-- returns: of the last erasure of a person, the hash of its certificate, and when it began; none where it was not done
SELECT e.certificate -> 'said' ->> 'sha256' AS sha256, (e.certificate -> 'said' ->> 'started_at')::timestamptz AS started_at
FROM :"schema".erased_persons AS e
WHERE e.app_name = %(app_name)s::varchar AND encode(e.person_hmac, 'hex') = %(person)s::text;
