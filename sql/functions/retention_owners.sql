-- The users of an app whose memories a sweep has something to do with, and how their rows are found.
--
-- is_configured: the numbers are those of the app's stored config. is_current: the fading times are
-- computed for them, so that the rows that are due at p_at are an index range; only users with such
-- rows are returned then. p_keep_importance NULL: the app's. Users under legal hold or being erased are left out. p_app_name NULL: the
-- main app and every app without a config of its own; p_user_id NULL: everyone.
--
-- Callers:    cleanup_low_value_memories, retention preview and the dry run.
-- Locks:      none.
-- Volatility: STABLE, it reads tables.
-- By hand:    psql -v schema=negentropy -f retention_owners.sql

CREATE OR REPLACE FUNCTION :"schema".retention_owners(
    p_app_name text,
    p_user_id text,
    p_threshold double precision,
    p_min_age_days integer,
    p_decay_rate double precision,
    p_at timestamptz,
    p_keep_importance double precision DEFAULT NULL
)
RETURNS TABLE (
    user_id text,
    app_name text,
    keep_importance double precision,
    is_configured boolean,
    is_current boolean
)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    WITH RECURSIVE owners AS (
        (
            SELECT m.user_id, m.app_name
            FROM memories AS m
            WHERE m.deleted_at IS NULL AND m.pinned_at IS NULL
                AND (p_user_id IS NULL OR m.user_id = p_user_id)
            ORDER BY m.user_id, m.app_name
            LIMIT 1
        )
        UNION ALL
        SELECT following.user_id, following.app_name
        FROM owners AS o
        CROSS JOIN LATERAL (
            SELECT m.user_id, m.app_name
            FROM memories AS m
            WHERE (m.user_id, m.app_name) > (o.user_id, o.app_name)
                AND m.deleted_at IS NULL AND m.pinned_at IS NULL
                AND (p_user_id IS NULL OR m.user_id = p_user_id)
            ORDER BY m.user_id, m.app_name
            LIMIT 1
        ) AS following
    ),
    apps AS MATERIALIZED (
        SELECT a.app_name, COALESCE(p_keep_importance, s.keep_importance) AS keep_importance,
            (s.threshold, s.decay_lambda, s.min_age_days, s.keep_importance)
                = (p_threshold, p_decay_rate, p_min_age_days,
                    COALESCE(p_keep_importance, s.keep_importance)) AS is_configured
        FROM (SELECT DISTINCT o.app_name FROM owners AS o) AS a
        CROSS JOIN LATERAL retention_settings(a.app_name) AS s
        WHERE CASE
            WHEN p_app_name IS NOT NULL THEN a.app_name = p_app_name
            ELSE NOT EXISTS (
                SELECT 1 FROM memory_automation_configs AS c
                WHERE c.app_name = a.app_name AND NOT c.is_main
            )
        END
    ),
    scoped AS (
        SELECT o.user_id, o.app_name, a.keep_importance, a.is_configured,
            a.is_configured AND u.fades_next IS NULL
                AND (u.fades_threshold, u.fades_lambda, u.fades_min_age, u.fades_importance)
                    IS NOT DISTINCT FROM (p_threshold, p_decay_rate, p_min_age_days, a.keep_importance)
                AS is_current
        FROM owners AS o
        JOIN apps AS a ON a.app_name = o.app_name
        LEFT JOIN users AS u ON u.user_id = o.user_id AND u.app_name = o.app_name
        WHERE u.held_at IS NULL AND u.erasing_since IS NULL
    )
    SELECT s.user_id, s.app_name, s.keep_importance, s.is_configured, s.is_current
    FROM scoped AS s
    WHERE NOT s.is_current
        OR EXISTS (
            SELECT 1 FROM memories AS m
            WHERE m.user_id = s.user_id AND m.app_name = s.app_name AND m.due_at <= p_at
                AND m.deleted_at IS NULL AND m.pinned_at IS NULL
        )
    ORDER BY s.user_id, s.app_name
$$;
