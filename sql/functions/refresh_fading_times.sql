-- Computes the fading times of one user under the app's present settings, one bounded step at a time.
--
-- users.fades_threshold, fades_lambda, fades_min_age and fades_importance name the settings; fades_next is where the next step goes on.
-- When they differ from the app's settings, the recompute begins anew.
--
-- Callers:    cleanup_low_value_memories, after a change of the config.
-- Locks:      the user's row of users; the rows of one step, in order of id.
-- Volatility: VOLATILE, it writes.
-- Returns:    how many memories this step looked at; fewer than p_max_rows: all are done.
-- By hand:    psql -v schema=negentropy -f refresh_fading_times.sql

CREATE OR REPLACE FUNCTION :"schema".refresh_fading_times(
    p_user_id text,
    p_app_name text,
    p_max_rows integer
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    settings record;
    next_id uuid;
    step uuid[];
BEGIN
    SELECT s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance INTO settings
    FROM retention_settings(p_app_name) AS s;
    INSERT INTO users AS u (user_id, app_name, fades_threshold, fades_lambda, fades_min_age,
        fades_importance, fades_next)
    VALUES (p_user_id, p_app_name, settings.threshold, settings.decay_lambda, settings.min_age_days,
        settings.keep_importance, '00000000-0000-0000-0000-000000000000')
    ON CONFLICT (user_id, app_name) DO UPDATE
        SET fades_threshold = excluded.fades_threshold,
            fades_lambda = excluded.fades_lambda,
            fades_min_age = excluded.fades_min_age,
            fades_importance = excluded.fades_importance,
            fades_next = CASE
                WHEN (u.fades_threshold, u.fades_lambda, u.fades_min_age, u.fades_importance)
                    IS DISTINCT FROM (excluded.fades_threshold, excluded.fades_lambda,
                        excluded.fades_min_age, excluded.fades_importance)
                THEN excluded.fades_next
                ELSE u.fades_next
            END
    RETURNING u.fades_next INTO next_id;
    IF next_id IS NULL THEN
        RETURN 0;
    END IF;
    SELECT array_agg(m.id) INTO step
    FROM (
        SELECT one.id
        FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id >= next_id
        ORDER BY one.id
        LIMIT p_max_rows
    ) AS m;
    PERFORM rescore_memories(p_user_id, p_app_name, COALESCE(step, '{}'));
    UPDATE users AS u
    SET fades_next = (
        SELECT one.id
        FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name
            AND one.id > step[cardinality(step)]
        ORDER BY one.id
        LIMIT 1
    )
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name;
    RETURN COALESCE(cardinality(step), 0);
END
$$;
