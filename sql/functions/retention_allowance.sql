-- How many of one user's memories may still be forgotten today: p_max_share of the live ones in 24
-- hours, though 20 may always go. NULL: as many as are due.
--
-- p_wanted spares the count of the live memories where twenty are enough.
--
-- Callers:    cleanup_low_value_memories, the dry run.
-- Locks:      none.
-- Volatility: STABLE, it reads tables.
-- By hand:    psql -v schema=negentropy -f retention_allowance.sql

CREATE OR REPLACE FUNCTION :"schema".retention_allowance(
    p_user_id text,
    p_app_name text,
    p_max_share double precision,
    p_wanted bigint
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    c_always CONSTANT bigint := 20;
    v_gone_today bigint;
    v_live bigint;
BEGIN
    IF p_max_share IS NULL OR p_max_share >= 1 THEN
        RETURN NULL;
    END IF;
    SELECT count(*) INTO v_gone_today
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name
        AND m.deleted_at > now() - interval '24 hours' AND m.deleted_reason = 'retention';
    IF p_wanted <= c_always - v_gone_today THEN
        RETURN c_always - v_gone_today;
    END IF;
    SELECT count(*) INTO v_live
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL;
    RETURN GREATEST(0,
        GREATEST(c_always, floor(p_max_share * (v_live + v_gone_today))::bigint) - v_gone_today);
END
$$;
