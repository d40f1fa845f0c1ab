-- Rows of one table of the schema by its primary key, with some of its columns: what scan, repair and export
-- of personal data read, table by table, from the list of columns in core/governance/registry.py.
--
-- callers: queries/pii.sql
-- locks: none beyond reading
-- security: the caller's rights; names of tables and columns are quoted, values bound or quoted as literals
-- volatility: STABLE, it reads tables
-- returns: a row a row, in the order of the key: the key as a JSON array, the columns as an object. The scope
--   names columns that must have a value; what comes after a key begins a next page

CREATE OR REPLACE FUNCTION :"schema".registered_rows(
    p_table text,
    p_columns text[],
    p_scope jsonb DEFAULT '{}',
    p_after jsonb DEFAULT NULL,
    p_limit integer DEFAULT 500
)
RETURNS TABLE (key jsonb, said jsonb)
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_keys text[];
    v_types text[];
    v_where text := 'true';
BEGIN
    SELECT array_agg(quote_ident(a.attname) ORDER BY k.place),
        array_agg(format_type(a.atttypid, NULL) ORDER BY k.place)
    INTO v_keys, v_types
    FROM pg_index AS x
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
    WHERE x.indrelid = v_table AND x.indisprimary AND k.place <= x.indnkeyatts;
    SELECT v_where || COALESCE(string_agg(format(' AND t.%I = %L', s.key, s.value), ''), '')
    INTO v_where
    FROM jsonb_each_text(p_scope) AS s;
    IF p_after IS NOT NULL THEN
        SELECT v_where || format(' AND (%s) > (%s)', string_agg('t.' || k.name, ', ' ORDER BY k.place),
            string_agg(format('CAST(%L AS %s)', p_after ->> (k.place - 1)::integer, v_types[k.place]), ', '
                ORDER BY k.place))
        INTO v_where
        FROM unnest(v_keys) WITH ORDINALITY AS k (name, place);
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT jsonb_build_array(%s), jsonb_build_object(%s) FROM %s AS t WHERE %s ORDER BY %s LIMIT %s',
        (SELECT string_agg('t.' || k.name, ', ' ORDER BY k.place)
         FROM unnest(v_keys) WITH ORDINALITY AS k (name, place)),
        (SELECT string_agg(format('%L, t.%I', c.name, c.name), ', ' ORDER BY c.place)
         FROM unnest(p_columns) WITH ORDINALITY AS c (name, place)),
        v_table, v_where,
        (SELECT string_agg('t.' || k.name, ', ' ORDER BY k.place)
         FROM unnest(v_keys) WITH ORDINALITY AS k (name, place)),
        p_limit);
END
$function$;
