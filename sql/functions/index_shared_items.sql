-- Writes the search terms of live learnings or entities that are not indexed yet, and counts them in the statistics.
--
-- As index_memories() does for memories: safe to repeat, the words come from index_terms() alone.
--
-- callers: queries/learning.sql, queries/entities.sql
-- locks: the owner's row of shared_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many items were indexed

CREATE OR REPLACE FUNCTION :"schema".index_shared_items(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_item_kind text,
    p_ids uuid[]
)
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH live AS (
        SELECT l.id FROM learnings AS l
        WHERE p_item_kind = 'learning' AND l.owner_kind = p_owner_kind AND l.owner = p_owner
            AND l.app_name = p_app_name AND l.id = ANY (p_ids) AND l.deleted_at IS NULL
        UNION ALL
        SELECT e.id FROM entities AS e
        WHERE p_item_kind = 'entity' AND e.owner_kind = p_owner_kind AND e.owner = p_owner
            AND e.app_name = p_app_name AND e.id = ANY (p_ids) AND e.deleted_at IS NULL AND e.archived_at IS NULL
    ),
    shown AS (
        UPDATE shared_vectors AS v
        SET live = true
        FROM live
        WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name
            AND v.item_kind = p_item_kind AND v.item_id = live.id AND NOT v.live
    ),
    written AS (
        INSERT INTO shared_terms (owner_kind, owner, app_name, item_kind, term, item_id, tf, len)
        SELECT p_owner_kind, p_owner, p_app_name, p_item_kind, t.term, live.id, t.tf, t.len
        FROM live
        CROSS JOIN LATERAL index_terms(NULL,
            shared_item_text(p_owner_kind, p_owner, p_app_name, p_item_kind, live.id), NULL) AS t
        ON CONFLICT DO NOTHING
        RETURNING item_id, len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT w.item_id, w.len FROM written AS w) AS d
    ),
    stats AS (
        INSERT INTO shared_term_stats AS s (owner_kind, owner, app_name, item_kind, documents, total_len)
        SELECT p_owner_kind, p_owner, p_app_name, p_item_kind, c.documents, c.total_len
        FROM counted AS c
        WHERE c.documents > 0
        ON CONFLICT (owner_kind, owner, app_name, item_kind) DO UPDATE
            SET documents = s.documents + excluded.documents,
                total_len = s.total_len + excluded.total_len
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
