-- How alike a stored text and a question are: the cosine of their vectors about the mean of the model, 1 = the same.
--
-- The vectors of one model share a direction, which says nothing: about the mean, what is unrelated is near 0
-- whatever the model (recall@10 on LoCoMo: +0.01). The stored vector is read as it is; p_direction is the centred question
-- at unit length, p_offset its inner product with the mean.
--
-- callers: ranked_items()
-- volatility: IMMUTABLE; standard SQL, so that it is inlined and finds its operators under any search_path
-- returns: -1 to 1; NULL for a vector that is the mean itself

CREATE OR REPLACE FUNCTION :"schema".embedding_similarity(
    p_embedding :"vector_schema".halfvec,
    p_mean :"vector_schema".halfvec,
    p_direction :"vector_schema".halfvec,
    p_offset double precision
)
RETURNS double precision
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT -((p_embedding OPERATOR(:"vector_schema".<#>) p_direction) + p_offset)
        / NULLIF(p_embedding OPERATOR(:"vector_schema".<->) p_mean, 0);
END;
