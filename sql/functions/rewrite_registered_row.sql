-- Writes new values into some columns of one row, if these columns still hold what was read.
--
-- A column `version` that is no part of the key is counted up, so that a writer who read the old text meets a
-- conflict.
--
-- callers: queries/pii.sql
-- locks: the row
-- security: the caller's rights; names are quoted, values bound or quoted as literals
-- volatility: VOLATILE, it writes
-- returns: whether the row was written

CREATE OR REPLACE FUNCTION :"schema".rewrite_registered_row(
    p_table text,
    p_key jsonb,
    p_before jsonb,
    p_after jsonb
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_where text;
    v_version text;
    v_rows integer;
BEGIN
    SELECT string_agg(format('t.%I = CAST(%L AS %s)', a.attname, p_key ->> (k.place - 1)::integer,
            format_type(a.atttypid, NULL)), ' AND ' ORDER BY k.place)
    INTO v_where
    FROM pg_index AS x
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
    WHERE x.indrelid = v_table AND x.indisprimary AND k.place <= x.indnkeyatts;
    SELECT ', version = t.version + 1' INTO v_version
    FROM pg_attribute AS a
    WHERE a.attrelid = v_table AND a.attname = 'version' AND a.atttypid = 'integer'::regtype
        AND NOT EXISTS (
            SELECT 1 FROM pg_index AS x
            WHERE x.indrelid = v_table AND x.indisprimary AND a.attnum = ANY (x.indkey::int2[]));
    EXECUTE format(
        'UPDATE %s AS t SET %s%s FROM jsonb_populate_record(NULL::%s, $1) AS n WHERE %s AND %s',
        v_table,
        (SELECT string_agg(format('%I = n.%I', c.name, c.name), ', ') FROM jsonb_object_keys(p_after) AS c (name)),
        COALESCE(v_version, ''), v_table, v_where,
        (SELECT string_agg(format('to_jsonb(t.%I) IS NOT DISTINCT FROM NULLIF($2 -> %L, ''null'')', c.name, c.name),
            ' AND ') FROM jsonb_object_keys(p_after) AS c (name)))
    USING p_after, p_before;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows > 0;
END
$function$;
