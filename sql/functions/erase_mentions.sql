-- Replaces the person's name where rows of others say who did something; the column must hold nothing else.
--
-- callers: queries/erasure.sql
-- locks: the rows that change
-- security: the caller's rights; names are quoted, values bound
-- volatility: VOLATILE, it writes
-- returns: how many rows changed

CREATE OR REPLACE FUNCTION :"schema".erase_mentions(p_table text, p_column text, p_user_id text, p_app_name text)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_rows integer;
BEGIN
    EXECUTE format('UPDATE %s AS t SET %I = ''erased person'' WHERE t.%I = $1%s', v_table, p_column, p_column,
        CASE WHEN EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = v_table AND a.attname = 'app_name')
            THEN ' AND t.app_name = $2' ELSE '' END)
    USING p_user_id, p_app_name;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END
$function$;
