-- Deletes items of one user's own stores that came from turns which are no longer to be known: blocks, learnings,
-- entities and their parts, decisions, proposals, with their words and vectors.
--
-- callers: audit_cascade()
-- locks: the rows, the statistics of their words
-- volatility: VOLATILE, it writes
-- returns: rows by table; nothing for tables that have none of them

CREATE OR REPLACE FUNCTION :"schema".audit_cascade_items(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_table text;
    v_rows bigint;
    v_reach jsonb := '{}';
BEGIN
    IF cardinality(p_ids) = 0 THEN
        RETURN v_reach;
    END IF;
    WITH removed AS (
        DELETE FROM shared_terms AS t
        WHERE t.owner_kind = 'user' AND t.owner = p_user_id AND t.app_name = p_app_name AND t.item_id = ANY (p_ids)
        RETURNING t.item_kind, t.item_id, t.len
    ),
    counted AS (
        SELECT d.item_kind, count(*) AS documents, sum(d.len) AS total_len
        FROM (SELECT DISTINCT r.item_kind, r.item_id, r.len FROM removed AS r) AS d
        GROUP BY d.item_kind
    )
    UPDATE shared_term_stats AS s
    SET documents = GREATEST(0, s.documents - c.documents), total_len = GREATEST(0, s.total_len - c.total_len)
    FROM counted AS c
    WHERE s.owner_kind = 'user' AND s.owner = p_user_id AND s.app_name = p_app_name AND s.item_kind = c.item_kind;
    FOREACH v_table IN ARRAY ARRAY['shared_vectors', 'shared_item_versions'] LOOP
        EXECUTE format('DELETE FROM %I WHERE owner_kind = ''user'' AND owner = $1 AND app_name = $2 AND item_id = ANY ($3)', v_table)
        USING p_user_id, p_app_name, p_ids;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_reach := v_reach || CASE WHEN v_rows > 0 THEN jsonb_build_object(v_table, v_rows) ELSE '{}' END;
    END LOOP;
    FOREACH v_table IN ARRAY ARRAY['entity_relations', 'entity_events', 'entity_facts', 'entities', 'learnings',
        'proposals', 'memory_core_blocks']
    LOOP
        EXECUTE format('DELETE FROM %I WHERE owner_kind = ''user'' AND owner = $1 AND app_name = $2 AND id = ANY ($3)', v_table)
        USING p_user_id, p_app_name, p_ids;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_reach := v_reach || CASE WHEN v_rows > 0 THEN jsonb_build_object(v_table, v_rows) ELSE '{}' END;
    END LOOP;
    DELETE FROM decisions AS d WHERE d.user_id = p_user_id AND d.app_name = p_app_name AND d.id = ANY (p_ids);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_reach || CASE WHEN v_rows > 0 THEN jsonb_build_object('decisions', v_rows) ELSE '{}' END;
END
$function$;
