-- The live memories of a user whose sign bits differ least from some, nearest first: candidates for an exact look.
--
-- callers: link_memories()
-- locks: none beyond reading
-- volatility: STABLE, it reads a table
-- returns: ids of memories, in order

CREATE OR REPLACE FUNCTION :"schema".nearest_by_bits(
    p_user_id text,
    p_app_name text,
    p_model_id smallint,
    p_bits bit varying,
    p_limit integer
)
RETURNS TABLE (memory_id uuid)
LANGUAGE sql
STABLE
ROWS 64
-- Only the covering index is read. Of a table that was filled a moment ago the planner knows nothing, and would read
-- the vectors themselves.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_indexscan = off
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
    SELECT v.memory_id
    FROM memory_vectors AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = p_model_id AND v.live
    ORDER BY v.bits <~> p_bits
    LIMIT p_limit
$function$;
