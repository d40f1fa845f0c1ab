-- The search terms of a text, each once, with how often it occurs.
--
-- The rule is in text_terms(); the length of a text, for BM25, is the sum of its tf.
--
-- callers: searches, and clients that index texts of their own
-- volatility: IMMUTABLE; standard SQL, so that it is inlined and finds its function under any search_path

CREATE OR REPLACE FUNCTION :"schema".search_terms(p_text text)
RETURNS TABLE (term text, tf integer)
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
ROWS 20
BEGIN ATOMIC
    SELECT word, count(*)::integer
    FROM unnest(:"schema".text_terms(p_text)) AS word
    GROUP BY word;
END;
