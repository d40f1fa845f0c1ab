-- Takes facts out of search: their terms go, their vectors leave the index but stay, for a restore and for
-- questions about the past.
--
-- callers: upsert_facts(), forget_facts(), resolve_conflict()
-- locks: the user's row of fact_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many facts were indexed before

CREATE OR REPLACE FUNCTION :"schema".unindex_facts(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH hidden AS (
        UPDATE fact_vectors AS v
        SET live = false
        WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = ANY (p_ids) AND v.live
    ),
    removed AS (
        DELETE FROM fact_terms AS t
        USING facts AS f
        CROSS JOIN LATERAL index_terms(NULL, fact_text(f.key, f.value), NULL) AS own
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids)
            AND t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = own.term AND t.fact_id = f.id
        RETURNING t.fact_id, t.len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT r.fact_id, r.len FROM removed AS r) AS d
    ),
    stats AS (
        UPDATE fact_term_stats AS s
        SET documents = GREATEST(0, s.documents - c.documents),
            total_len = GREATEST(0, s.total_len - c.total_len)
        FROM counted AS c
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND c.documents > 0
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
