-- How many tokens a text has, guessed from its characters; errs upwards for prose, code and identifiers.
--
-- Thirtieths of a token for each character: letters, blanks and line ends 9, digits 18, other ASCII 27,
-- Chinese, Japanese and Korean 48, beyond the first plane 96, all else 36. Runs of 24 and more ASCII
-- signs without a blank are keys, hashes or base64: 30 each.
--
-- callers: get_context_window(); any SQL client
-- volatility: IMMUTABLE, it depends on its argument alone
-- twin: negmem/core/text/token_estimate.py

CREATE OR REPLACE FUNCTION :"schema".estimate_tokens(p_text text)
RETURNS integer
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $function$
    SELECT ceil((
        30 * (length(p_text) - length(r.rest))
        + 9 * (length(r.rest) - length(regexp_replace(r.rest, '[A-Za-z \n]+', '', 'g')))
        + 18 * (length(r.rest) - length(regexp_replace(r.rest, '[0-9]+', '', 'g')))
        + 27 * (length(r.rest) - length(regexp_replace(r.rest,
            '[\u0001-\u0009\u000b-\u001f!-/:-@\u005b-\u0060\u007b-\u007f]+', '', 'g')))
        + 48 * c.cjk
        + 96 * c.astral
        + 36 * (c.beyond_ascii - c.cjk - c.astral)
    ) / 30.0)::integer
    FROM (SELECT regexp_replace(p_text, '[!-~]{24,}', '', 'g') AS rest) AS r
    CROSS JOIN LATERAL (
        SELECT length(r.rest) - length(regexp_replace(r.rest, '[\u0080-\U0010ffff]+', '', 'g')) AS beyond_ascii,
            length(r.rest) - length(regexp_replace(r.rest,
                '[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]+', '', 'g')) AS cjk,
            length(r.rest) - length(regexp_replace(r.rest, '[\U00010000-\U0010ffff]+', '', 'g')) AS astral
    ) AS c
$function$;
