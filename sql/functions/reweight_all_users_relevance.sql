-- Sets the relevance weight of each memory from the feedback on it (Rocchio); returns how many changed.
--
-- Only memories that a feedback names count. Of each retrieval a memory has one vote: the last feedback
-- that names it. A vote counts half after half_life_days of the app's config, a quarter after twice that,
-- by whole days of UTC; harmful ones cost more than irrelevant ones. A weight goes back to 1 when its votes have
-- gone with their logs or are too few. Each user's votes move that user's memories alone.
-- p_app_name NULL means the main app and every app without a config of its own.
--
-- Callers:    the job reweight_relevance; operators by hand.
-- Locks:      a transaction-level advisory lock per scope: a second run says "skipped, already running"
--             and returns 0; the rows that change.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -f reweight_all_users_relevance.sql

CREATE OR REPLACE FUNCTION :"schema".reweight_all_users_relevance(p_app_name text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_scope text;
    v_changed integer;
BEGIN
    SELECT CASE WHEN c.is_main THEN '' ELSE p_app_name END INTO v_scope
    FROM memory_automation_configs AS c
    WHERE c.app_name = p_app_name;
    v_scope := COALESCE(v_scope, p_app_name, '');
    IF NOT pg_try_advisory_xact_lock(
        hashtextextended('negmem:reweight_relevance:' || current_schema() || ':' || v_scope, 0))
    THEN
        RAISE NOTICE 'reweight_all_users_relevance: skipped, already running';
        PERFORM record_automation_run('reweight_relevance', p_app_name, 'skipped', 0,
            'skipped, already running', v_started);
        RETURN 0;
    END IF;

    WITH apps AS (
        SELECT a.app_name
        FROM (
            SELECT DISTINCT f.app_name FROM retrieval_feedback AS f
            UNION
            SELECT DISTINCT m.app_name FROM memories AS m WHERE m.relevance_weight <> 1
        ) AS a
        WHERE CASE
            WHEN p_app_name IS NOT NULL THEN a.app_name = p_app_name
            ELSE NOT EXISTS (
                SELECT 1 FROM memory_automation_configs AS c
                WHERE c.app_name = a.app_name AND NOT c.is_main
            )
        END
    ),
    named AS (
        SELECT DISTINCT ON (f.user_id, f.app_name, f.retrieval_id, i.id)
            f.user_id, f.app_name, i.id, f.outcome, f.created_at
        FROM retrieval_feedback AS f
        CROSS JOIN LATERAL unnest(f.memory_ids || f.used_ids) AS i (id)
        WHERE f.app_name IN (SELECT a.app_name FROM apps AS a)
        ORDER BY f.user_id, f.app_name, f.retrieval_id, i.id, f.created_at DESC, f.id DESC
    ),
    settings AS (
        SELECT a.app_name, r.beta, r.gamma, r.harmful_gamma, r.min_count, r.half_life_days
        FROM apps AS a
        CROSS JOIN LATERAL relevance_settings(a.app_name) AS r
    ),
    votes AS (
        SELECT n.user_id, n.app_name, n.id,
            sum(w.it) FILTER (WHERE n.outcome = 'helpful') AS helpful,
            sum(w.it) FILTER (WHERE n.outcome = 'irrelevant') AS irrelevant,
            sum(w.it) FILTER (WHERE n.outcome = 'harmful') AS harmful
        FROM named AS n
        JOIN settings AS s ON s.app_name = n.app_name
        CROSS JOIN LATERAL (
            -- Whole days of UTC: the same votes give the same weight all day, whatever zone a session is in.
            SELECT power(0.5::float8, LEAST(1000, GREATEST(0,
                (now() AT TIME ZONE 'UTC')::date - (n.created_at AT TIME ZONE 'UTC')::date)
                / s.half_life_days)) AS it
        ) AS w
        GROUP BY n.user_id, n.app_name, n.id
    ),
    weighed AS (
        SELECT v.user_id, v.app_name, v.id, rocchio_weight(v.helpful, v.irrelevant, v.harmful,
            s.beta, s.gamma, s.harmful_gamma, s.min_count) AS weight
        FROM votes AS v
        JOIN settings AS s ON s.app_name = v.app_name
        UNION ALL
        SELECT m.user_id, m.app_name, m.id, 1
        FROM memories AS m
        WHERE m.relevance_weight <> 1
            AND m.app_name IN (SELECT a.app_name FROM apps AS a)
            AND NOT EXISTS (
                SELECT 1 FROM votes AS v
                WHERE v.user_id = m.user_id AND v.app_name = m.app_name AND v.id = m.id
            )
    ),
    locked AS (
        SELECT m.user_id, m.app_name, m.id, w.weight
        FROM weighed AS w
        JOIN memories AS m ON m.user_id = w.user_id AND m.app_name = w.app_name AND m.id = w.id
        WHERE m.relevance_weight IS DISTINCT FROM w.weight
        ORDER BY m.user_id, m.app_name, m.id
        FOR UPDATE OF m
    ),
    changed AS (
        UPDATE memories AS m
        SET relevance_weight = l.weight
        FROM locked AS l
        WHERE m.user_id = l.user_id AND m.app_name = l.app_name AND m.id = l.id
        RETURNING 1
    )
    SELECT count(*) INTO v_changed FROM changed;

    PERFORM record_automation_run('reweight_relevance', p_app_name, 'succeeded', v_changed,
        NULL, v_started);
    RETURN v_changed;
END
$$;
