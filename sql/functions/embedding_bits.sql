-- The signs of a vector about the mean of its model: what the covering index holds and Hamming distance reads.
--
-- Vectors of one model share a direction, so that plain signs say little; centred ones rank nearly as the
-- exact distance does. Without a known mean the signs are taken as they stand.
--
-- callers: whoever stores a vector, and every vector search for its query
-- volatility: IMMUTABLE, it depends on its arguments alone; search_path is pinned for the operators of pgvector

CREATE OR REPLACE FUNCTION :"schema".embedding_bits(
    p_embedding :"vector_schema".vector,
    p_mean :"vector_schema".vector
)
RETURNS bit varying
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = :"vector_schema", pg_catalog, pg_temp
AS $function$
    SELECT binary_quantize(CASE WHEN p_mean IS NULL THEN p_embedding ELSE p_embedding - p_mean END)::bit varying;
$function$;
