-- Counts the rows of one table in which something is still said: texts, JSON and keys that contain one of the needles,
-- vectors that are equal to one.
--
-- callers: queries/erasure.sql
-- locks: none beyond reading; reads the whole table
-- security: the caller's rights; names are quoted, values bound
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".erase_traces(
    p_table text,
    p_app_name text,
    p_texts text[],
    p_needles text[],
    p_vectors text[],
    p_vector_needles text[]
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_tests text[] := '{}';
    v_patterns text[];
    v_rows bigint;
    v_column record;
BEGIN
    -- In JSON a text stands with its quotes and backslashes escaped.
    SELECT array_agg(DISTINCT '%' || replace(replace(replace(f.form, '\', '\\'), '%', '\%'), '_', '\_') || '%')
    INTO v_patterns
    FROM unnest(p_needles) AS n (needle)
    CROSS JOIN LATERAL (VALUES (n.needle), (substr(to_json(n.needle)::text, 2, length(to_json(n.needle)::text) - 2)))
        AS f (form);
    IF cardinality(p_texts) > 0 AND v_patterns IS NOT NULL THEN
        v_tests := v_tests || format('concat_ws(E''\n'', %s) LIKE ANY ($1)', (
            SELECT string_agg(format('t.%I::text', c.name), ', ') FROM unnest(p_texts) AS c (name)));
    END IF;
    FOR v_column IN
        SELECT a.attname, a.atttypid::regtype::text AS type FROM pg_attribute AS a
        WHERE a.attrelid = v_table AND a.attname = ANY (p_vectors) AND a.atttypid <> 'bit varying'::regtype
    LOOP
        CONTINUE WHEN cardinality(p_vector_needles) = 0;
        v_tests := v_tests || format('t.%I = ANY ($2::text[]::%s[])', v_column.attname, v_column.type);
    END LOOP;
    IF cardinality(v_tests) = 0 THEN
        RETURN 0;
    END IF;
    EXECUTE format('SELECT count(*) FROM %s AS t WHERE (%s)%s', v_table, array_to_string(v_tests, ' OR '),
        CASE WHEN EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = v_table AND a.attname = 'app_name')
            THEN ' AND t.app_name = $3' ELSE '' END)
    INTO v_rows
    USING v_patterns, p_vector_needles, p_app_name;
    RETURN v_rows;
END
$function$;
