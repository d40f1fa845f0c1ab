-- What is linked to one memory, fact or entity of a user, hop by hop, within a depth and a budget of tokens.
--
-- A breadth-first walk: each level takes the strongest links of the level before it, at most p_fan_out of one item (of
-- its 100 strongest) and 100 of all, and nothing that an earlier level reached, so that cycles end. strength is the product of the weights on
-- the strongest way found. Links count in both directions; those that were taken back or are not valid now don't.
-- Removed memories, superseded and removed facts, archived and removed entities are neither shown nor walked through;
-- neither is an entity of a store that accessible_owners() does not name.
--
-- A text that does not fit into what is left of p_max_tokens is left out, a smaller one after it may come in. Tokens
-- are estimated by the script of the text, on the high side; NULL: no budget.
--
-- callers: queries/associations.sql; any SQL client
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()
-- returns: the nearer first, of one level the stronger

CREATE OR REPLACE FUNCTION :"schema".linked_memories(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_depth integer DEFAULT 2,
    p_max_tokens integer DEFAULT NULL,
    p_min_weight double precision DEFAULT 0,
    p_types text[] DEFAULT NULL,
    p_fan_out integer DEFAULT 10,
    p_global text DEFAULT NULL
)
RETURNS TABLE (
    kind text,
    id uuid,
    depth integer,
    strength double precision,
    weight double precision,
    association_type text,
    via uuid,
    content text,
    occurred_at timestamptz,
    tokens integer
)
LANGUAGE plpgsql
STABLE
ROWS 20
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    c_level CONSTANT integer := 100;
    v_room bigint := p_max_tokens;
    v_row record;
BEGIN
    IF p_depth IS NULL OR p_depth NOT BETWEEN 1 AND 5 OR p_fan_out IS NULL OR p_fan_out NOT BETWEEN 1 AND 100
        OR p_max_tokens < 0
    THEN
        RAISE EXCEPTION 'no walk along links goes like this'
            USING ERRCODE = 'invalid_parameter_value',
                DETAIL = format('depth %s, fan-out %s, max_tokens %s', p_depth, p_fan_out, p_max_tokens),
                HINT = 'depth goes from 1 to 5, fan-out from 1 to 100, a budget is not negative';
    END IF;
    FOR v_row IN
        WITH RECURSIVE walk AS (
            SELECT 'start'::text AS kind, p_id AS id, 0 AS depth, 1::float8 AS strength, NULL::float8 AS weight,
                NULL::text AS association_type, NULL::uuid AS via, NULL::text AS content,
                NULL::timestamptz AS occurred_at, ARRAY[p_id] AS seen
            WHERE EXISTS (SELECT FROM live_items(p_user_id, p_app_name, ARRAY[p_id], p_global))
            UNION ALL
            SELECT n.kind, n.id, n.depth, n.strength, n.weight, n.association_type, n.via, n.content, n.occurred_at,
                n.seen || array_agg(n.id) OVER ()
            FROM (
                SELECT reached.*, row_number() OVER (ORDER BY reached.strength DESC, reached.id) AS place
                FROM (
                    SELECT e.kind, e.id, w.depth + 1 AS depth, w.strength * e.weight AS strength, e.weight,
                        e.association_type, w.id AS via, e.content, e.occurred_at, w.seen,
                        row_number() OVER (
                            PARTITION BY e.id ORDER BY w.strength * e.weight DESC, e.association_type, w.id) AS way
                    FROM walk AS w
                    CROSS JOIN LATERAL (
                        SELECT item.kind, item.id, item.content, item.occurred_at, strong.weight, strong.association_type
                        FROM (
                            SELECT both_ways.other, both_ways.weight, both_ways.association_type
                            FROM (
                                SELECT a.target_id AS other, a.weight, a.association_type::text, a.valid_from,
                                    a.valid_until, a.expired_at
                                FROM memory_associations AS a
                                WHERE a.user_id = p_user_id AND a.app_name = p_app_name AND a.source_id = w.id
                                UNION ALL
                                SELECT a.source_id, a.weight, a.association_type::text, a.valid_from, a.valid_until,
                                    a.expired_at
                                FROM memory_associations AS a
                                WHERE a.user_id = p_user_id AND a.app_name = p_app_name AND a.target_id = w.id
                            ) AS both_ways
                            WHERE both_ways.expired_at IS NULL AND both_ways.weight >= p_min_weight
                                AND (both_ways.valid_from IS NULL OR both_ways.valid_from <= now())
                                AND (both_ways.valid_until IS NULL OR both_ways.valid_until > now())
                                AND (p_types IS NULL OR both_ways.association_type = ANY (p_types))
                                AND both_ways.other <> ALL (w.seen)
                            ORDER BY both_ways.weight DESC, both_ways.other, both_ways.association_type
                            LIMIT c_level
                        ) AS strong
                        CROSS JOIN LATERAL live_items(p_user_id, p_app_name, ARRAY[strong.other], p_global) AS item
                        ORDER BY strong.weight DESC, strong.other, strong.association_type
                        LIMIT p_fan_out
                    ) AS e
                    WHERE w.depth < p_depth
                ) AS reached
                WHERE reached.way = 1
            ) AS n
            WHERE n.place <= c_level
        )
        SELECT w.kind, w.id, w.depth, w.strength, w.weight, w.association_type, w.via, w.content, w.occurred_at,
            estimate_tokens(w.content) AS tokens
        FROM walk AS w
        WHERE w.depth > 0
        ORDER BY w.depth, w.strength DESC, w.id
    LOOP
        CONTINUE WHEN v_row.tokens > v_room;
        v_room := v_room - v_row.tokens;
        RETURN QUERY SELECT v_row.kind, v_row.id, v_row.depth, v_row.strength, v_row.weight, v_row.association_type,
            v_row.via, v_row.content, v_row.occurred_at, v_row.tokens;
    END LOOP;
END
$function$;
