-- Admits a call of an agent's tool, or says when the next one will be: the rate limit, one for all processes.
--
-- A call is a row with its moment, so that no span of p_window ever holds more than p_calls of them. A refused call
-- is not counted: who waits until retry_at is admitted. Rows older than an hour and than p_window are removed here.
--
-- callers: queries/tools.sql
-- locks: a transaction-level advisory lock per user, app and tool; the row of users, FOR KEY SHARE, where there is one
-- volatility: VOLATILE, it writes
-- returns: one row: whether the call is admitted; how many calls the window holds, this one included; when the next
--   one would be, where it is not. p_calls 0: no limit, calls are recorded alone, to the second
-- errors: SQLSTATE NM001 the person is being erased

CREATE OR REPLACE FUNCTION :"schema".admit_tool_call(
    p_user_id text,
    p_app_name text,
    p_tool text,
    p_calls integer,
    p_window interval DEFAULT '1 minute'
)
RETURNS TABLE (admitted boolean, counted integer, retry_at timestamptz)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_now timestamptz;
    v_moments timestamptz[];
BEGIN
    PERFORM FROM users AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name AND u.erasing_since IS NULL
    FOR KEY SHARE;
    IF NOT FOUND AND EXISTS (
        SELECT FROM users AS u WHERE u.user_id = p_user_id AND u.app_name = p_app_name)
    THEN
        RAISE EXCEPTION 'no tool works for a person who is being erased' USING ERRCODE = 'NM001';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended(
        'negmem:tool:' || current_schema() || ':' || p_app_name || ':' || p_tool || ':' || p_user_id, 0));
    v_now := clock_timestamp();
    DELETE FROM tool_calls AS t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.tool = p_tool
        AND t.window_start < v_now - GREATEST(p_window, interval '1 hour');
    SELECT COALESCE(array_agg(t.window_start ORDER BY t.window_start DESC), '{}') INTO v_moments
    FROM tool_calls AS t
    CROSS JOIN LATERAL generate_series(1, t.calls)
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.tool = p_tool
        AND t.window_start > v_now - p_window;
    IF p_calls > 0 AND cardinality(v_moments) >= p_calls THEN
        RETURN QUERY SELECT false, cardinality(v_moments), v_moments[p_calls] + p_window;
        RETURN;
    END IF;
    INSERT INTO tool_calls AS t (user_id, app_name, tool, window_start, calls)
    VALUES (p_user_id, p_app_name, p_tool, CASE WHEN p_calls > 0 THEN v_now ELSE date_trunc('second', v_now) END, 1)
    ON CONFLICT (user_id, app_name, tool, window_start) DO UPDATE SET calls = t.calls + 1;
    RETURN QUERY SELECT true, cardinality(v_moments) + 1, NULL::timestamptz;
END
$function$;
