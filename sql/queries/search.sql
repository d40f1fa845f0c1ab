-- Searches: one statement in one round trip, that finds, records and reads what is shown.

-- name: settings
-- params: lock_timeout_ms, statement_timeout_ms, read_only, user_id
-- Where there is row-level security, the rows of the user alone are seen. For the transaction alone, which in a pipeline goes on to the search. The commit does not wait for the disk: a crash of
-- the server within a second may lose the record of a search, never more.
SELECT set_config('synchronous_commit', 'off', true), set_config('negmem.user_id', %(user_id)s::text, true),
    set_config('lock_timeout', %(lock_timeout_ms)s::integer::text, true),
    set_config('statement_timeout', %(statement_timeout_ms)s::integer::text, true),
    CASE WHEN %(read_only)s::boolean THEN set_config('transaction_read_only', 'on', true) END;

-- name: search
-- params: user_id, app_name, query, embedding, provider, model, version, dims, level, row_limit, row_offset,
--   semantic_weight, keyword_weight, kinds, types, thread, since, until, metadata, neighbours, session, speaker, intent,
--   relevance, explain, record, fallbacks, repeat_window_s
-- returns: a row a result, in order, each with what is known about the whole search; one row without id: no result
SELECT * FROM :"schema".search_page(
    %(user_id)s::text, %(app_name)s::text, %(query)s::text, %(embedding)s::text:::"vector_schema".vector,
    %(provider)s::text, %(model)s::text, %(version)s::text, %(dims)s::integer, %(level)s::text, %(row_limit)s::integer,
    %(row_offset)s::integer, %(semantic_weight)s::float8, %(keyword_weight)s::float8, %(kinds)s::text[],
    %(types)s::text[], %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb,
    %(neighbours)s::float8, %(session)s::float8, %(speaker)s::float8, %(intent)s::float8, %(relevance)s::boolean,
    %(explain)s::boolean, %(record)s::boolean, %(fallbacks)s::text::jsonb,
    make_interval(secs => %(repeat_window_s)s::float8));

-- name: only_stops
-- params: query
-- returns: whether a question holds stop words alone, so that it was searched by them
SELECT :"schema".text_terms(%(query)s::text, false) = '{}' AND :"schema".text_terms(%(query)s::text) <> '{}' AS only_stops;

-- name: dropped
-- params: user_id, app_name, kinds, types, thread, since, until, metadata
-- returns: one row: the items that a search of these kinds and filters can't show, by why
WITH stands AS (
    SELECT m.id, m.deleted_at IS NOT NULL AS is_removed, true AS is_true, EXISTS (
            SELECT 1 FROM :"schema".memory_vectors AS v
            JOIN :"schema".embedding_models AS e ON e.id = v.model_id AND e.status = 'active'
            WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id AND v.live) AS has_vector
    FROM :"schema".memories AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
        AND 'memory' = ANY (%(kinds)s::text[])
    UNION ALL
    SELECT f.id, f.deleted_at IS NOT NULL,
        f.status = 'active' AND (f.valid_from IS NULL OR f.valid_from <= now())
            AND (f.valid_until IS NULL OR f.valid_until > now()),
        EXISTS (
            SELECT 1 FROM :"schema".fact_vectors AS v
            JOIN :"schema".embedding_models AS e ON e.id = v.model_id AND e.status = 'active'
            WHERE v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id AND v.live)
    FROM :"schema".facts AS f
    WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
        AND 'fact' = ANY (%(kinds)s::text[])
),
allowed AS MATERIALIZED (
    SELECT :"schema".allowed_items(%(user_id)s::text, %(app_name)s::text, %(kinds)s::text[], %(types)s::text[],
        %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb) AS ids
)
SELECT count(*) FILTER (WHERE s.is_removed)::integer AS removed,
    count(*) FILTER (WHERE NOT s.is_removed AND NOT s.is_true)::integer AS not_true_now,
    count(*) FILTER (WHERE s.stands AND NOT s.is_allowed)::integer AS filtered,
    count(*) FILTER (WHERE s.stands AND s.is_allowed AND NOT s.has_vector)::integer AS without_vector
FROM (
    SELECT s.*, NOT s.is_removed AND s.is_true AS stands, (SELECT a.ids FROM allowed AS a) IS NULL
        OR s.id IN (SELECT unnest(a.ids) FROM allowed AS a) AS is_allowed
    FROM stands AS s
) AS s;

-- name: why_not
-- params: user_id, app_name, query, id, kinds, types, thread, since, until, metadata
-- returns: what stands in the way of one memory or fact; no row: it is not this user's
SELECT 'memory' AS kind, m.deleted_at, m.deleted_reason, m.memory_type AS type, m.occurred_at AS moment, m.metadata,
    'active' AS status, NULL::timestamptz AS valid_from, NULL::timestamptz AS valid_until, now() AS now,
    (SELECT t.external_id FROM :"schema".threads AS t
     WHERE t.user_id = m.user_id AND t.app_name = m.app_name AND t.id = m.thread_id) AS thread,
    (m.id = ANY (:"schema".allowed_items(%(user_id)s::text, %(app_name)s::text, %(kinds)s::text[],
        %(types)s::text[], %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb)))
        IS FALSE AS is_filtered,
    EXISTS (
        SELECT 1 FROM :"schema".memory_vectors AS v
        JOIN :"schema".embedding_models AS e ON e.id = v.model_id AND e.status = 'active'
        WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id AND v.live) AS has_vector,
    EXISTS (
        SELECT 1 FROM :"schema".memory_terms AS t
        WHERE t.user_id = m.user_id AND t.app_name = m.app_name AND t.memory_id = m.id
            AND t.term = ANY (:"schema".text_terms(%(query)s::text))) AS shares_terms
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid
UNION ALL
SELECT 'fact', f.deleted_at, f.deleted_reason, f.fact_type, f.valid_from, f.metadata,
    f.status, f.valid_from, f.valid_until, now(),
    (SELECT t.external_id FROM :"schema".threads AS t
     WHERE t.user_id = f.user_id AND t.app_name = f.app_name AND t.id = f.thread_id),
    (f.id = ANY (:"schema".allowed_items(%(user_id)s::text, %(app_name)s::text, %(kinds)s::text[],
        %(types)s::text[], %(thread)s::text, %(since)s::timestamptz, %(until)s::timestamptz, %(metadata)s::text::jsonb)))
        IS FALSE,
    EXISTS (
        SELECT 1 FROM :"schema".fact_vectors AS v
        JOIN :"schema".embedding_models AS e ON e.id = v.model_id AND e.status = 'active'
        WHERE v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id AND v.live),
    EXISTS (
        SELECT 1 FROM :"schema".fact_terms AS t
        WHERE t.user_id = f.user_id AND t.app_name = f.app_name AND t.fact_id = f.id
            AND t.term = ANY (:"schema".text_terms(%(query)s::text)))
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = %(id)s::uuid;
