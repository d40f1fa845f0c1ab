-- A page of a user's memories and active facts that contain a text, whatever its case, the best kept first.
--
-- Where none contains the whole text, those that contain each of its words (a Latin one as a whole word). Wildcards
-- in the text stand for themselves. This is the last level of a search: it reads all texts of the owner and knows no relevance, so that
-- the retention score stands in for one.
--
-- callers: search_items()
-- volatility: STABLE, it reads tables and now()
-- returns: items with their retention in [0, 1], in whole millionths, as score

CREATE OR REPLACE FUNCTION :"schema".items_containing(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_limit integer DEFAULT 10,
    p_offset integer DEFAULT 0,
    p_kinds text[] DEFAULT '{memory,fact}',
    p_allowed uuid[] DEFAULT NULL
)
RETURNS TABLE (kind text, id uuid, score double precision)
LANGUAGE sql
STABLE
ROWS 10
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH patterns AS MATERIALIZED (
        SELECT '%' || regexp_replace(btrim(p_query), '([\\%_])', '\\\1', 'g') || '%' AS whole,
            ARRAY(
                SELECT word FROM regexp_split_to_table(left(p_query, 10000), '\s+') AS word WHERE word <> ''
            ) AS words
    ),
    texts AS (
        SELECT 'memory' AS kind, m.id, m.content, COALESCE(m.occurred_at, m.created_at) AS at,
            m.access_count, m.last_accessed_at, m.created_at, m.memory_type::text AS type, m.metadata, m.thread_id
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL
            AND 'memory' = ANY (p_kinds)
        UNION ALL
        SELECT 'fact', f.id, fact_text(f.key, f.value), f.valid_from,
            f.access_count, f.last_accessed_at, f.created_at, 'fact', f.metadata, f.thread_id
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL AND f.status = 'active'
            AND (f.valid_from IS NULL OR f.valid_from <= now())
            AND (f.valid_until IS NULL OR f.valid_until > now()) AND 'fact' = ANY (p_kinds)
    ),
    contained AS MATERIALIZED (
        SELECT t.*, t.content ILIKE p.whole ESCAPE '\' AS is_whole
        FROM texts AS t CROSS JOIN patterns AS p
        WHERE p.words <> '{}'
            AND (t.content ILIKE p.whole ESCAPE '\' OR NOT EXISTS (
                SELECT 1 FROM unnest(p.words) AS word
                WHERE CASE
                    WHEN word ~ '^[A-Za-z0-9]+$' THEN t.content !~* ('\m' || word || '\M')
                    ELSE t.content NOT ILIKE
                        '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%' ESCAPE '\'
                END))
            AND (p_allowed IS NULL OR t.id IN (SELECT a FROM unnest(p_allowed) AS a))
    )
    SELECT c.kind, c.id, round(1e6 * kept.score) / 1e6::float8
    FROM contained AS c
    CROSS JOIN LATERAL calculate_retention_score(c.access_count, c.last_accessed_at, c.created_at, c.type,
        related_count(p_user_id, p_app_name, c.thread_id, c.id), retention_decay_override(c.metadata)) AS kept (score)
    WHERE c.is_whole OR NOT EXISTS (SELECT 1 FROM contained AS other WHERE other.is_whole)
    ORDER BY 3 DESC, c.at DESC, c.id
    LIMIT p_limit OFFSET p_offset;
$function$;
