-- How many rows of one table are one person's.
--
-- callers: queries/erasure.sql
-- locks: none beyond reading
-- security: the caller's rights; names are quoted, values bound
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".erase_count(
    p_table text,
    p_is_shareable boolean,
    p_user_id text,
    p_app_name text
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_rows bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I AS t WHERE %s AND t.app_name = $2', p_table,
        CASE WHEN p_is_shareable THEN 't.owner_kind = ''user'' AND t.owner = $1' ELSE 't.user_id = $1' END)
    INTO v_rows
    USING p_user_id, p_app_name;
    RETURN v_rows;
END
$function$;
