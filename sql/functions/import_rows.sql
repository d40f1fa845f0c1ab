-- Inserts rows of one table as an export wrote them; what stands under the same key stays as it is.
--
-- Columns that are generated, and those that the rows don't have, take what the table gives them.
--
-- callers: queries/export.sql
-- locks: the rows it inserts
-- security: the caller's rights; names are quoted, the rows bound
-- volatility: VOLATILE, it writes
-- returns: the places of the rows that were added, from 0

CREATE OR REPLACE FUNCTION :"schema".import_rows(p_table text, p_rows jsonb)
RETURNS SETOF integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_row jsonb;
    v_place integer := 0;
    v_columns text;
    v_count integer;
BEGIN
    FOR v_row IN SELECT r.value FROM jsonb_array_elements(p_rows) AS r
    LOOP
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO v_columns
        FROM pg_attribute AS a
        WHERE a.attrelid = v_table AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
            AND v_row ? a.attname;
        EXECUTE format('INSERT INTO %s (%s) SELECT %s FROM jsonb_populate_record(NULL::%s, $1) ON CONFLICT DO NOTHING',
            v_table, v_columns, v_columns, v_table)
        USING v_row;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        IF v_count > 0 THEN
            RETURN NEXT v_place;
        END IF;
        v_place := v_place + 1;
    END LOOP;
END
$function$;
