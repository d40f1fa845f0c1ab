-- What an agent should read before it answers, within a budget of tokens, in reading order.
--
-- Rows of `core` and `profile`, then `memory` and `fact` as the search ranks them, then `history`, the
-- last messages of one thread, oldest first. p_max_tokens times p_memory_ratio may go to what is
-- remembered, times p_history_ratio to what was last said; what history leaves goes to memory. Core
-- blocks have at most 30 % of the memory's share, the profile 20 %. A memory of the same thread that says
-- what the history shows is left out.
--
-- Candidates and their order are those of `negmem context`; tokens are estimated by the script of the
-- text, on the high side. A text that does not fit is left out, a smaller one after it may come in;
-- history ends at the first that does not fit. Without p_query_embedding memories are found by words.
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
    c_core CONSTANT double precision := 0.3;
    c_profile CONSTANT double precision := 0.2;
    v_memory bigint;
    v_history bigint;
    v_core bigint;
    v_profile bigint;
    v_room bigint;
    v_tokens integer;
    v_thread uuid;
    v_said text[] := '{}';
    v_facts text[] := '{}';
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
    v_core := floor(c_core * v_memory);
    v_profile := floor(c_profile * v_memory);

    -- One more for the line end that joins a text to the next.
    FOR v_row IN
        SELECT c.content, c.thread_id
        FROM context_candidates(p_user_id, p_app_name, p_thread_id) AS c
        WHERE c.section = 'history'
        ORDER BY c.rank
    LOOP
        v_tokens := estimate_tokens(v_row.content) + 1;
        EXIT WHEN v_tokens > v_history;
        v_history := v_history - v_tokens;
        v_said := v_said || v_row.content;
        v_thread := v_row.thread_id;
    END LOOP;
    v_room := v_memory + v_history;

    FOR v_row IN
        SELECT c.section, c.content
        FROM context_candidates(p_user_id, p_app_name, p_thread_id) AS c
        WHERE c.section IN ('core', 'profile')
        ORDER BY c.section, c.rank
    LOOP
        v_tokens := estimate_tokens(v_row.content) + 1;
        CONTINUE WHEN v_tokens > LEAST(v_room, CASE v_row.section WHEN 'core' THEN v_core ELSE v_profile END);
        v_room := v_room - v_tokens;
        IF v_row.section = 'core' THEN
            v_core := v_core - v_tokens;
        ELSE
            v_profile := v_profile - v_tokens;
        END IF;
        RETURN QUERY SELECT v_row.section::varchar(50), v_row.content::text, 1::float8, v_tokens;
    END LOOP;

    FOR v_row IN
        SELECT s.kind, s.score, COALESCE(m.content, fact_text(f.key, f.value)) AS content
        FROM search_items(p_user_id, p_app_name, p_query, p_query_embedding,
            CASE WHEN p_query_embedding IS NULL THEN 'keyword' ELSE 'hybrid' END, c_candidates)
            WITH ORDINALITY AS s
        LEFT JOIN memories AS m
            ON s.kind = 'memory' AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = s.id
        LEFT JOIN facts AS f
            ON s.kind = 'fact' AND f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = s.id
        WHERE (m.thread_id = v_thread AND m.content = ANY (v_said)) IS NOT TRUE
            AND f.fact_type IS DISTINCT FROM 'profile'
        ORDER BY s.ordinality
    LOOP
        v_tokens := estimate_tokens(v_row.content) + 1;
        CONTINUE WHEN v_tokens > v_room;
        v_room := v_room - v_tokens;
        IF v_row.kind = 'memory' THEN
            RETURN QUERY SELECT 'memory'::varchar(50), v_row.content::text, v_row.score::float8, v_tokens;
        ELSE
            v_facts := v_facts || v_row.content::text;
            v_scores := v_scores || v_row.score::float8;
        END IF;
    END LOOP;

    RETURN QUERY
        SELECT 'fact'::varchar(50), t.fact, t.score, estimate_tokens(t.fact) + 1
        FROM unnest(v_facts, v_scores) WITH ORDINALITY AS t (fact, score, number)
        ORDER BY t.number;
    RETURN QUERY
        SELECT 'history'::varchar(50), t.words, 1::float8, estimate_tokens(t.words) + 1
        FROM unnest(v_said) WITH ORDINALITY AS t (words, number)
        ORDER BY t.number DESC;
END
$function$;
