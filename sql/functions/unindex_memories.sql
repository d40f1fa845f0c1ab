-- Takes memories out of search: their terms go, their vectors leave the index but stay for a restore.
--
-- callers: forget_memories(), memory edit, purges
-- locks: the user's row of memory_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many memories were indexed before

CREATE OR REPLACE FUNCTION :"schema".unindex_memories(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH hidden AS (
        UPDATE memory_vectors AS v
        SET live = false
        WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = ANY (p_ids) AND v.live
    ),
    removed AS (
        DELETE FROM memory_terms AS t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.memory_id = ANY (p_ids)
        RETURNING t.memory_id, t.len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT r.memory_id, r.len FROM removed AS r) AS d
    ),
    stats AS (
        UPDATE memory_term_stats AS s
        SET documents = GREATEST(0, s.documents - c.documents),
            total_len = GREATEST(0, s.total_len - c.total_len)
        FROM counted AS c
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND c.documents > 0
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
