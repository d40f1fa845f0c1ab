-- Deletes a bounded number of one person's rows of one table, in the order of its key, and counts them on the
-- certificate.
--
-- What comes after a key begins a next batch: rows that are gone are not looked at again.
--
-- callers: queries/erasure.sql
-- locks: the rows; those that go with them by foreign key
-- security: the caller's rights; names are quoted, values bound or quoted as literals
-- volatility: VOLATILE, it writes
-- returns: how many rows went, and the key of the last; NULL where the key does not begin with the owner

CREATE OR REPLACE FUNCTION :"schema".erase_batch(
    p_table text,
    p_is_shareable boolean,
    p_user_id text,
    p_app_name text,
    p_person text,
    p_after jsonb DEFAULT NULL,
    p_limit integer DEFAULT 5000
)
RETURNS TABLE (removed integer, last_key jsonb)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $function$
DECLARE
    v_table regclass := quote_ident(p_table)::regclass;
    v_keys text[];
    v_types text[];
    v_where text;
    v_order text;
    v_owned integer;
BEGIN
    SELECT array_agg('t.' || quote_ident(a.attname) ORDER BY k.place),
        array_agg(format_type(a.atttypid, NULL) ORDER BY k.place)
    INTO v_keys, v_types
    FROM pg_index AS x
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
    WHERE x.indrelid = v_table AND x.indisprimary AND k.place <= x.indnkeyatts;
    v_where := CASE WHEN p_is_shareable
        THEN format('t.owner_kind = %L AND t.owner = %L AND t.app_name = %L', 'user', p_user_id, p_app_name)
        ELSE format('t.user_id = %L AND t.app_name = %L', p_user_id, p_app_name) END;
    -- The owner's columns are said with =, the others alone with >: compared whole, each batch would walk once more
    -- over what the batches before it left dead in the index.
    v_owned := CASE WHEN v_keys[1:3] = '{t.owner_kind,t.owner,t.app_name}' THEN 3
        WHEN v_keys[1:2] = '{t.user_id,t.app_name}' THEN 2 ELSE 0 END;
    IF v_owned > 0 THEN
        v_order := ' ORDER BY ' || array_to_string(v_keys, ', ');
        IF p_after IS NOT NULL AND v_owned < cardinality(v_keys) THEN
            SELECT v_where || format(' AND (%s) > (%s)', array_to_string(v_keys[v_owned + 1:], ', '), string_agg(
                format('CAST(%L AS %s)', p_after ->> (k.place - 1)::integer, k.type), ', ' ORDER BY k.place))
            INTO v_where
            FROM unnest(v_types) WITH ORDINALITY AS k (type, place)
            WHERE k.place > v_owned;
        END IF;
    END IF;
    EXECUTE format(
        'WITH picked AS MATERIALIZED (SELECT t.ctid AS place%s FROM %s AS t WHERE %s%s LIMIT %s),'
        ' gone AS (DELETE FROM %s AS t WHERE t.ctid = ANY (ARRAY(SELECT p.place FROM picked AS p)) RETURNING 1)'
        ' SELECT (SELECT count(*)::integer FROM gone),'
        ' (SELECT %s FROM picked AS t OFFSET GREATEST(0, (SELECT count(*) FROM picked) - 1) LIMIT 1)',
        CASE WHEN v_order IS NULL THEN '' ELSE ', ' || array_to_string(v_keys, ', ') END,
        v_table, v_where, COALESCE(v_order, ''), p_limit, v_table,
        CASE WHEN v_order IS NULL THEN 'NULL::jsonb' ELSE format('jsonb_build_array(%s)', array_to_string(v_keys, ', ')) END)
    INTO removed, last_key;
    IF removed > 0 THEN
        UPDATE erased_persons AS e
        SET certificate = jsonb_set(e.certificate, ARRAY['tables', p_table],
            to_jsonb(COALESCE((e.certificate #>> ARRAY['tables', p_table])::bigint, 0) + removed))
        WHERE e.app_name = p_app_name AND e.person_hmac = decode(p_person, 'hex');
    END IF;
    RETURN NEXT;
END
$function$;
