-- A fact as one line: what is searched, embedded and shown of it.
--
-- callers: searches, and every writer of fact_terms and fact_vectors
-- volatility: IMMUTABLE; the answer depends on the arguments alone
-- returns: "key: value", where value is the text of {"text": …}, else the value as text

CREATE OR REPLACE FUNCTION :"schema".fact_text(p_key text, p_value jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT p_key || ': ' || COALESCE(
        CASE WHEN jsonb_typeof(p_value) = 'object' THEN p_value ->> 'text' END, p_value #>> '{}', '');
$function$;
