-- Takes learnings or entities out of search: their terms go, their vectors leave the index but stay, for an undo.
--
-- Called before an item changes: the terms are found by the text that they were made from. Vectors of models that are
-- not searched now go: what the item says next is embedded anew where they are wanted.
--
-- callers: queries/learning.sql, queries/entities.sql
-- locks: the owner's row of shared_term_stats, until the end of the transaction
-- volatility: VOLATILE, it writes
-- returns: how many items were indexed before

CREATE OR REPLACE FUNCTION :"schema".unindex_shared_items(
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
    WITH spare AS (
        SELECT m.id FROM embedding_models AS m WHERE m.app_name = p_app_name AND m.status <> 'active'
    ),
    hidden AS (
        UPDATE shared_vectors AS v
        SET live = false
        WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name
            AND v.item_kind = p_item_kind AND v.item_id = ANY (p_ids) AND v.live
            AND NOT EXISTS (SELECT 1 FROM spare AS s WHERE s.id = v.model_id)
    ),
    dropped AS (
        DELETE FROM shared_vectors AS v
        USING spare AS s
        WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name
            AND v.item_kind = p_item_kind AND v.item_id = ANY (p_ids) AND v.model_id = s.id
    ),
    removed AS (
        DELETE FROM shared_terms AS t
        USING unnest(p_ids) AS i (id)
        CROSS JOIN LATERAL index_terms(NULL,
            shared_item_text(p_owner_kind, p_owner, p_app_name, p_item_kind, i.id), NULL) AS own
        WHERE t.owner_kind = p_owner_kind AND t.owner = p_owner AND t.app_name = p_app_name
            AND t.item_kind = p_item_kind AND t.term = own.term AND t.item_id = i.id
        RETURNING t.item_id, t.len
    ),
    counted AS (
        SELECT count(*) AS documents, COALESCE(sum(d.len), 0) AS total_len
        FROM (SELECT DISTINCT r.item_id, r.len FROM removed AS r) AS d
    ),
    stats AS (
        UPDATE shared_term_stats AS s
        SET documents = GREATEST(0, s.documents - c.documents),
            total_len = GREATEST(0, s.total_len - c.total_len)
        FROM counted AS c
        WHERE s.owner_kind = p_owner_kind AND s.owner = p_owner AND s.app_name = p_app_name
            AND s.item_kind = p_item_kind AND c.documents > 0
    )
    SELECT c.documents::integer FROM counted AS c;
$function$;
