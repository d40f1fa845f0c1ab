-- Writes new values into some columns of rows, each only if these columns still hold what was read.
--
-- p_rows is an array of {key, before, after}: the key as registered_rows() gives it, the columns p_columns as they
-- were read and as they are to be. A column `version` that is no part of the key is counted up, so that a writer who
-- read the old text meets a conflict.
--
-- callers: queries/pii.sql
-- locks: the rows, in the order given: a join by hash would take another
-- security: the caller's rights; names are quoted, values bound
-- volatility: VOLATILE, it writes
-- returns: the places of the rows that were written, from 0

CREATE OR REPLACE FUNCTION :"schema".rewrite_registered_rows(p_table text, p_columns text[], p_rows jsonb)
RETURNS SETOF integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_where text;
    v_version text;
BEGIN
    SELECT string_agg(format('t.%I = CAST(g.item -> ''key'' ->> %s AS %s)', a.attname, k.place - 1,
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
    RETURN QUERY EXECUTE format(
        'UPDATE %s AS t SET %s%s FROM jsonb_array_elements($1) WITH ORDINALITY AS g (item, place)'
        ' CROSS JOIN LATERAL jsonb_populate_record(NULL::%s, g.item -> ''after'') AS n'
        ' WHERE %s AND %s RETURNING (g.place - 1)::integer',
        v_table, (SELECT string_agg(format('%I = n.%I', c.name, c.name), ', ') FROM unnest(p_columns) AS c (name)),
        COALESCE(v_version, ''), v_table, v_where,
        (SELECT string_agg(format('to_jsonb(t.%I) IS NOT DISTINCT FROM NULLIF(g.item -> ''before'' -> %L, ''null'')',
            c.name, c.name), ' AND ') FROM unnest(p_columns) AS c (name)))
    USING p_rows;
END
$function$;
