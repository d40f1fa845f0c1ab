-- What an agent should read before it answers, within a budget of tokens, in reading order.
--
-- Rows of `summary`, `core`, `instruction` and `profile`, then `reflection`, `memory` and `fact` as the search ranks
-- them, `entity`, `knowledge`, and `history`, the last messages of one thread, oldest first. p_max_tokens times
-- p_memory_ratio may go to what is remembered, times p_history_ratio to what was last said; what history
-- leaves goes to memory. Of the memory's share core blocks have at most 30 %, profile, entities and knowledge 20 %,
-- summary and instructions 15 %, reflections 10 %. What the history or an earlier section says in the same
-- words is left out.
--
-- Candidates and their order are those of `negmem context`; tokens are estimated by the script of the
-- text, on the high side. A text that does not fit is left out, a smaller one after it may come in;
-- history ends at the first that does not fit. Without p_query_embedding all is found by words. What is shared with the
-- whole app is there as far as accessible_owners() says.
--
-- callers: agents through SQL
-- locks: none beyond reading; access is not recorded
-- volatility: STABLE, it reads tables and now()
-- by hand: psql -v schema=negentropy -v vector_schema=public -v max_tokens=4000 -v memory_ratio=0.3
--          -v history_ratio=0.5 -f get_context_window.sql

CREATE OR REPLACE FUNCTION :"schema".get_context_window(
    p_user_id varchar(255),
    p_app_name varchar(255),
    p_query text,
    p_query_embedding :"vector_schema".vector,
    p_max_tokens integer DEFAULT :max_tokens,
    p_memory_ratio double precision DEFAULT :memory_ratio,
    p_history_ratio double precision DEFAULT :history_ratio,
    p_thread_id uuid DEFAULT NULL
)
RETURNS TABLE (
    context_type varchar(50),
    content text,
    relevance_score double precision,
    token_estimate integer
)
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    c_candidates CONSTANT integer := 50;
    -- As in negmem/core/retrieval/packing.py.
    c_shares CONSTANT jsonb := '{"core": 0.3, "instruction": 0.15, "summary": 0.15, "profile": 0.2,
        "reflection": 0.1, "entity": 0.2, "knowledge": 0.2}';
    c_reading CONSTANT text[] := '{summary,core,instruction,profile,reflection,memory,fact,entity,knowledge}';
    v_memory bigint;
    v_history bigint;
    v_room bigint;
    v_tokens integer;
    v_left jsonb := '{}';
    v_said text[] := '{}';
    v_seen text[] := '{}';
    v_sections text[] := '{}';
    v_texts text[] := '{}';
    v_scores double precision[] := '{}';
    v_row record;
BEGIN
    IF p_max_tokens IS NULL OR p_max_tokens < 0
        OR p_memory_ratio IS NULL OR p_memory_ratio = 'NaN' OR p_memory_ratio NOT BETWEEN 0 AND 1
        OR p_history_ratio IS NULL OR p_history_ratio = 'NaN' OR p_history_ratio NOT BETWEEN 0 AND 1
        OR p_memory_ratio + p_history_ratio > 1 + 1e-9
    THEN
        RAISE EXCEPTION 'no context can be made within these numbers'
            USING ERRCODE = 'invalid_parameter_value',
                DETAIL = format('max_tokens %s, memory_ratio %s, history_ratio %s',
                    p_max_tokens, p_memory_ratio, p_history_ratio),
                HINT = 'give a budget that is not negative, and ratios of at most 1 together';
    END IF;
    v_memory := floor(p_max_tokens * p_memory_ratio + 1e-9);
    v_history := LEAST(floor(p_max_tokens * p_history_ratio + 1e-9)::bigint, p_max_tokens - v_memory);
    SELECT jsonb_object_agg(c.key, floor(c.value::float8 * v_memory)) INTO v_left FROM jsonb_each_text(c_shares) AS c;

    -- One more for the line end that joins a text to the next.
    FOR v_row IN
        SELECT c.content
        FROM context_candidates(p_user_id, p_app_name, p_thread_id) AS c
        WHERE c.section = 'history'
        ORDER BY c.rank
    LOOP
        v_tokens := estimate_tokens(v_row.content) + 1;
        EXIT WHEN v_tokens > v_history;
        v_history := v_history - v_tokens;
        v_said := v_said || v_row.content;
        v_seen := v_seen || btrim(regexp_replace(v_row.content, '[ \t\r\n]+', ' ', 'g'), ' ');
    END LOOP;
    v_room := v_memory + v_history;

    FOR v_row IN
        SELECT c.section, c.content, 1::float8 AS score, false AS is_profile,
            array_position('{core,instruction,summary,profile}'::text[], c.section) AS place, c.rank
        FROM context_candidates(p_user_id, p_app_name, p_thread_id) AS c
        WHERE c.section <> 'history'
        UNION ALL
        SELECT CASE WHEN s.kind = 'memory' AND m.metadata ->> 'subtype' = 'reflection' THEN 'reflection' ELSE s.kind END,
            COALESCE(m.content, fact_text(f.key, f.value)), s.score, f.fact_type = 'profile',
            CASE WHEN m.metadata ->> 'subtype' = 'reflection' THEN 5 ELSE 8 END, s.ordinality
        FROM search_items(p_user_id, p_app_name, p_query, p_query_embedding,
            CASE WHEN p_query_embedding IS NULL THEN 'keyword' ELSE 'hybrid' END, c_candidates)
            WITH ORDINALITY AS s
        LEFT JOIN memories AS m
            ON s.kind = 'memory' AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = s.id
        LEFT JOIN facts AS f
            ON s.kind = 'fact' AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = s.id
        UNION ALL
        SELECT 'entity', e.content, e.score, false, 6, e.rank
        FROM entity_candidates(p_user_id, p_app_name, p_query, p_embedding => p_query_embedding) AS e
        UNION ALL
        SELECT 'knowledge', k.content, k.score, false, 7, k.rank
        FROM knowledge_candidates(p_user_id, p_app_name, p_query, p_embedding => p_query_embedding) AS k
        ORDER BY 5, 6
    LOOP
        CONTINUE WHEN v_row.is_profile
            OR btrim(regexp_replace(v_row.content, '[ \t\r\n]+', ' ', 'g'), ' ') = ANY (v_seen);
        v_seen := v_seen || btrim(regexp_replace(v_row.content, '[ \t\r\n]+', ' ', 'g'), ' ');
        v_tokens := estimate_tokens(v_row.content) + 1;
        CONTINUE WHEN v_tokens > LEAST(v_room, COALESCE((v_left ->> v_row.section)::bigint, v_room));
        v_room := v_room - v_tokens;
        IF v_left ? v_row.section THEN
            v_left := jsonb_set(v_left, ARRAY[v_row.section], to_jsonb((v_left ->> v_row.section)::bigint - v_tokens));
        END IF;
        v_sections := v_sections || v_row.section::text;
        v_texts := v_texts || v_row.content::text;
        v_scores := v_scores || v_row.score::float8;
    END LOOP;

    RETURN QUERY
        SELECT t.section::varchar(50), t.words, t.score, estimate_tokens(t.words) + 1
        FROM unnest(v_sections, v_texts, v_scores) WITH ORDINALITY AS t (section, words, score, number)
        ORDER BY array_position(c_reading, t.section), t.number;
    RETURN QUERY
        SELECT 'history'::varchar(50), t.words, 1::float8, estimate_tokens(t.words) + 1
        FROM unnest(v_said) WITH ORDINALITY AS t (words, number)
        ORDER BY t.number DESC;
END
$function$;
