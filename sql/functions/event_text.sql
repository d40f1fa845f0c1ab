-- What was said in an event: its text without calls of tools, attachments and other structure.
--
-- Takes the shapes that clients write: a string, {"parts": [{"text": …}]}, {"text": …}, {"content": …} with
-- a string or parts inside. Anything else has no text.
--
-- callers: context_candidates(); any SQL client
-- volatility: IMMUTABLE, it depends on its argument alone

CREATE OR REPLACE FUNCTION :"schema".event_text(p_content jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $function$
    SELECT CASE jsonb_typeof(said.value)
        WHEN 'string' THEN said.value #>> '{}'
        WHEN 'array' THEN (
            SELECT string_agg(CASE jsonb_typeof(part.value)
                    WHEN 'string' THEN part.value #>> '{}'
                    WHEN 'object' THEN CASE WHEN jsonb_typeof(part.value -> 'text') = 'string'
                        THEN part.value ->> 'text' END
                END, E'\n' ORDER BY part.number)
            FROM jsonb_array_elements(said.value) WITH ORDINALITY AS part (value, number)
        )
    END
    FROM (
        SELECT CASE
            WHEN jsonb_typeof(p_content) <> 'object' THEN p_content
            WHEN p_content ? 'parts' THEN p_content -> 'parts'
            WHEN p_content ? 'text' THEN p_content -> 'text'
            WHEN jsonb_typeof(p_content -> 'content') = 'object' THEN
                COALESCE(p_content #> '{content,parts}', p_content #> '{content,text}')
            ELSE p_content -> 'content'
        END AS value
    ) AS said
$function$;
