-- Writes the search terms of live memories that are not indexed yet, and counts them in the statistics.
--
-- Safe to repeat: a memory that has its terms is left as it is. The words come from index_terms() alone.
--
-- callers: ingest, memory add and edit, restore_memories()
-- locks: the user's row of memory_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many memories were indexed

CREATE OR REPLACE FUNCTION :"schema".index_memories(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH terms AS (
        SELECT m.id, t.term, t.tf, t.len
        FROM memories AS m
        CROSS JOIN LATERAL index_terms(m.metadata ->> 'speaker', m.content, m.occurred_at) AS t
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (p_ids)
            AND m.deleted_at IS NULL
    ),
    written AS (
        INSERT INTO memory_terms (user_id, app_name, term, memory_id, tf, len)
        SELECT p_user_id, p_app_name, t.term, t.id, t.tf, t.len
        FROM terms AS t
        ON CONFLICT DO NOTHING
        RETURNING memory_id, len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT w.memory_id, w.len FROM written AS w) AS d
    ),
    stats AS (
        INSERT INTO memory_term_stats AS s (user_id, app_name, documents, total_len)
        SELECT p_user_id, p_app_name, c.documents, c.total_len
        FROM counted AS c
        WHERE c.documents > 0
        ON CONFLICT (user_id, app_name) DO UPDATE
            SET documents = s.documents + excluded.documents,
                total_len = s.total_len + excluded.total_len
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
