-- The facts that were true at a moment, by what was believed at another; NULL means now.
--
-- Of several values under one key the one that began last holds, an exception for the time that it lasts; those that
-- are kept beside it hold too.
--
-- callers: fact list, search_facts(); any SQL client
-- volatility: STABLE, it reads a table and now()
-- returns: the ids of facts

CREATE OR REPLACE FUNCTION :"schema".facts_held(
    p_user_id text,
    p_app_name text,
    p_as_of timestamptz DEFAULT NULL,
    p_believed_at timestamptz DEFAULT NULL
)
RETURNS SETOF uuid
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH believed AS (
        SELECT f.id, f.fact_type, f.key, f.valid_from, f.created_at, f.valid_until = 'infinity' AS is_beside,
            -- Before it was ended, its end was believed to be open.
            CASE WHEN f.superseded_at > COALESCE(p_believed_at, now()) THEN NULL ELSE f.valid_until END AS valid_until
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name
            AND f.created_at <= COALESCE(p_believed_at, now())
            AND COALESCE(f.expired_at, 'infinity') > COALESCE(p_believed_at, now())
            AND COALESCE(f.deleted_at, 'infinity') > COALESCE(p_believed_at, now())
    )
    SELECT h.id
    FROM (
        SELECT b.id, row_number() OVER (
            PARTITION BY b.fact_type, b.key, CASE WHEN b.is_beside THEN b.id END
            ORDER BY b.valid_from DESC NULLS LAST, b.created_at DESC, b.id) AS place
        FROM believed AS b
        WHERE COALESCE(b.valid_from, '-infinity') <= COALESCE(p_as_of, now())
            AND COALESCE(b.valid_until, 'infinity') > COALESCE(p_as_of, now())
    ) AS h
    WHERE h.place = 1;
$function$;
