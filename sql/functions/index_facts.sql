-- Writes the search terms of current facts that are not indexed yet, and counts them in the statistics.
--
-- As index_memories() does for memories: safe to repeat, the words come from index_terms() alone. A fact has no
-- speaker and no day.
--
-- callers: upsert_facts(), restore_facts(), resolve_conflict()
-- locks: the user's row of fact_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many facts were indexed

CREATE OR REPLACE FUNCTION :"schema".index_facts(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH terms AS (
        SELECT f.id, t.term, t.tf, t.len
        FROM facts AS f
        CROSS JOIN LATERAL index_terms(NULL, fact_text(f.key, f.value), NULL) AS t
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids)
            AND f.deleted_at IS NULL AND f.status = 'active'
    ),
    shown AS (
        UPDATE fact_vectors AS v
        SET live = true
        FROM facts AS f
        WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = ANY (p_ids) AND NOT v.live
            AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v.fact_id
            AND f.deleted_at IS NULL AND f.status = 'active'
    ),
    written AS (
        INSERT INTO fact_terms (user_id, app_name, term, fact_id, tf, len)
        SELECT p_user_id, p_app_name, t.term, t.id, t.tf, t.len
        FROM terms AS t
        ON CONFLICT DO NOTHING
        RETURNING fact_id, len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT w.fact_id, w.len FROM written AS w) AS d
    ),
    stats AS (
        INSERT INTO fact_term_stats AS s (user_id, app_name, documents, total_len)
        SELECT p_user_id, p_app_name, c.documents, c.total_len
        FROM counted AS c
        WHERE c.documents > 0
        ON CONFLICT (user_id, app_name) DO UPDATE
            SET documents = s.documents + excluded.documents,
                total_len = s.total_len + excluded.total_len
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
