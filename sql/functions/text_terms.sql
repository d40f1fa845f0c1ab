-- The one rule that turns text into search terms, for what is stored and for what is asked.
--
-- folding       NFKC (full width to half, ligatures apart), lower case, accents off (é to e, ё to е)
-- words         runs of letters and digits; English stems; English stop words and the endings after an
--               apostrophe ('s, 't, 're …) left out
-- identifiers   what holds inner punctuation with a digit or one of _ . : / \ @ + # stands as it is (user_id,
--               v1.10, 14:30, order-1234, a@b.org, c:\tmp, c++), and its parts besides; 1,000 is 1000
-- unspaced      runs of Han, kana, Hangul, Thai, Lao, Tibetan, Burmese, Khmer: overlapping pairs; Han characters
--               also alone (recall@5 on two Chinese sets: +0.04, +0.01); without pairs of function words and
--               function words alone (+0.02, +0.03); a number with the Han character after it (5月, 8日; 号 is 日)
-- emoji         each alone, without skin tone; flags whole
-- only stops    a text in which nothing else is left keeps its stop words: "to be or not to be", "你是谁"
--               (p_keep_stops: true keeps them always, false never)
--
-- What is cut: characters after the first 1,048,576; in a text over 10,000 characters, an unspaced run every 200
-- characters (one pair lost at each cut); terms after 64 characters, for the limit of an index entry.
--
-- callers: search_terms(), index_terms(), queries/search.sql
-- volatility: IMMUTABLE; it reads its argument alone. Classes of characters are ranges of code points, so that a
--   database of locale C gives the same terms. It needs the server encoding UTF8.
-- returns: the terms, one an occurrence, in no stated order; empty where the text has none

CREATE OR REPLACE FUNCTION :"schema".text_terms(p_text text, p_keep_stops boolean DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
-- One plan for all texts: planning anew for each text costs more than the rest.
SET plan_cache_mode = force_generic_plan
SET search_path = pg_catalog
AS $function$
DECLARE
    c_letters CONSTANT text := 'a-z0-9\u00df-\u00f6\u00f8-\u02af\u0370-\u0589\u05b0-\u05ea\u0610-\u061a'
        '\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0750-\u077f\u0900-\u0963\u0966-\u0dff\u10a0-\u11ff'
        '\u1200-\u137f\u1c80-\u1fff';
    c_han CONSTANT text := '\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd';
    c_unspaced CONSTANT text :=
        '\u0e00-\u109f\u1780-\u17ff\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\uac00-\ud7a3' || c_han;
    c_emoji CONSTANT text :=
        '\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff';
    -- Pronouns, particles, question words, prepositions and auxiliaries.
    c_function_words CONSTANT text :=
        '的了是我你您他她它们咱在和与也都就吗呢吧啊呀哪那这个有什么怎样谁几多少来着对于被把给让请问还会到说要去不过';
    c_identifier CONSTANT text := '([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?'
        '|[a-z0-9]+(?:(?:[-_.:/\\@+#]|::|:/{1,2}|:?\\{1,2})[a-z0-9]+)+(?:\+\+|#)?'
        '|[a-z0-9]+(?:\+\+|#))';
    v_text text := lower(left(p_text, 1048576) COLLATE "C");
    v_run text := CASE WHEN length(v_text) > 10000 THEN '{1,200}' ELSE '+' END;
    -- The text again for each of the rarer rules that it may need, else NULL, which costs nothing.
    v_identifiers text;
    v_unspaced text;
    v_emoji text;
    v_keep_stops boolean := COALESCE(p_keep_stops, false);
    v_terms text[];
BEGIN
    IF octet_length(v_text) > length(v_text) THEN
        v_text := normalize(v_text, NFKC);
        IF v_text ~ '[\u00ad\u00c0-\u058f\u1e00-\u206f\ufe00-\ufe0f]' THEN
            v_text := translate(
                normalize(
                    regexp_replace(
                        normalize(v_text, NFKD),
                        '[\u00ad\u0300-\u036f\u200b-\u200f\u2060\ufe00-\ufe0f]', '', 'g'),
                    NFKC),
                '’‘ʼØÆŒŁĐÞıАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯІЄЂЈЉЊЋЏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩς',
                '''''''øæœłđþiабвгдежзиклмнопрстуфхцчшщъыьэюяієђјљњћџαβγδεζηθικλμνξοπρστυφχψωσ');
        END IF;
        v_text := lower(v_text COLLATE "C");
        v_unspaced := CASE WHEN v_text ~ ('[' || c_unspaced || ']') THEN v_text END;
        v_emoji := CASE WHEN v_text ~ ('[' || c_emoji || ']') THEN v_text END;
    END IF;
    IF v_text ~ '[a-z0-9][_.:/\\@#,][a-z0-9\\/]|[a-z][+#]|[0-9]-[a-z]|[a-z]-[0-9]|[0-9]-[0-9]' THEN
        v_identifiers := v_text;
    END IF;

    -- A rule that has nothing to do is no part of the statement: to set it up takes longer than the words of a question.
    LOOP
        -- words; the blank at the end lets an ending after an apostrophe end there
        v_terms := ARRAY(
            SELECT found.word
            FROM (
                SELECT left(
                    CASE
                        WHEN w COLLATE "C" < 'a' THEN w
                        ELSE COALESCE((ts_lexize('english_stem', w))[1], CASE WHEN v_keep_stops THEN w END)
                    END, 64) AS word
                FROM string_to_table(
                    regexp_replace(
                        v_text || ' ', '(?:''(?:s|t|m|d|re|ve|ll))?[^' || c_letters || ']+', ' ', 'g'),
                    ' ') AS w
                WHERE w <> ''
                OFFSET 0
            ) AS found
            WHERE found.word IS NOT NULL
        );
        IF v_identifiers IS NOT NULL THEN
            -- identifiers; self-care is only its parts
            v_terms := v_terms || ARRAY(
                SELECT left(replace(m[1], ',', ''), 64)
                FROM regexp_matches(v_identifiers, c_identifier, 'g') AS m
                WHERE m[1] ~ '[0-9_.:/\\@+#]'
            );
        END IF;
        IF v_unspaced IS NOT NULL THEN
            v_terms := v_terms || ARRAY(
                WITH runs AS (
                    SELECT m[1] AS run
                    FROM regexp_matches(v_unspaced, '([' || c_unspaced || ']' || v_run || ')', 'g') AS m
                )
                -- pairs
                SELECT pair
                FROM runs, generate_series(1, length(run) - 1) AS i, substr(run, i, 2) AS pair
                WHERE v_keep_stops OR pair !~ ('^[' || c_function_words || ']{2}$')
                UNION ALL
                -- single Han characters, and runs of one character
                SELECT c
                FROM runs, string_to_table(run, NULL) AS c
                WHERE (c ~ ('[' || c_han || ']') OR length(run) = 1)
                    AND (v_keep_stops OR position(c IN c_function_words) = 0)
                UNION ALL
                -- numbers with their unit
                SELECT left(replace(m[1], '号', '日'), 64)
                FROM regexp_matches(v_unspaced, '([0-9]+[' || c_han || '])', 'g') AS m
            );
        END IF;
        IF v_emoji IS NOT NULL THEN
            v_terms := v_terms || ARRAY(
                SELECT m[1]
                FROM regexp_matches(
                    v_emoji, '([\U0001f1e6-\U0001f1ff]{2}|[' || c_emoji || '])', 'g') AS m
            );
        END IF;
        EXIT WHEN v_terms <> '{}' OR v_keep_stops OR p_keep_stops IS NOT NULL;
        v_keep_stops := true;
    END LOOP;
    RETURN v_terms;
END
$function$;
