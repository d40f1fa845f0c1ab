-- The tools of agents: how often they are called.

-- name: admit
-- params: user_id, app_name, tool, calls, window_s
-- returns: one row; retry_s is how many whole seconds a refused call should wait
SELECT a.admitted, a.counted, a.retry_at,
    GREATEST(1, ceil(extract(epoch FROM a.retry_at - clock_timestamp())))::integer AS retry_s
FROM :"schema".admit_tool_call(%(user_id)s::text, %(app_name)s::text, %(tool)s::text, %(calls)s::integer,
    make_interval(secs => %(window_s)s::integer)) AS a;

-- name: called_within
-- params: user_id, app_name, tool, window_s
-- returns: whether the user's agent called the tool in the last so many seconds
SELECT EXISTS (
    SELECT FROM :"schema".tool_calls AS t
    WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.tool = %(tool)s::varchar
        AND t.window_start > clock_timestamp() - make_interval(secs => %(window_s)s::integer)) AS called;

-- name: ping
-- params:
-- returns: a row, where the server still answers
SELECT 1 AS one;
