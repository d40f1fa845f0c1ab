-- The text of a memory that is indexed and embedded: who said it, then what was said.
--
-- A bare turn says little about its speaker, and questions name people: on conversations between two people
-- the speaker in the text nearly doubles what vectors find.
--
-- callers: index_memories(); embedding of stored memories
-- volatility: IMMUTABLE, it depends on its arguments alone

CREATE OR REPLACE FUNCTION :"schema".memory_index_text(p_content text, p_metadata jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN COALESCE(p_metadata ->> 'speaker', '') = '' THEN p_content
    ELSE (p_metadata ->> 'speaker') || ': ' || p_content
END;
