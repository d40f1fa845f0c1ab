-- Forgets memories whose retention score is under the threshold: soft-deletes them and returns how many.
--
-- Never a core memory, a pinned one, one younger than p_min_age_days, or one of a user under legal
-- hold. From one user never more than p_max_share of the live memories within 24 hours, though 20 may
-- always go; what went first under the threshold goes first. One call takes at most p_max_rows rows
-- (NULL: all) and one transaction; the rest waits for the next call.
--
-- p_decay_rate is the base rate per day: types keep their proportion to it, and decay_override in a
-- memory's metadata wins. p_app_name NULL means the main app and every app without a config of its own.
--
-- Where threshold and rate are those of the stored config, the rows are found by memories.due_at, an
-- index range; the score is computed only for those. With other arguments, or while the fading times
-- of a user are not yet computed for a changed config, the score of each of the user's rows is
-- computed: the same answer at the cost of reading them.
--
-- Queued accesses are applied first, so that what was just found is not forgotten.
--
-- Callers:    the job cleanup_memories; retention run; operators by hand.
-- Locks:      a transaction-level advisory lock per scope: a second run says "skipped, already running"
--             and returns 0. Rows that others hold are passed over.
-- Volatility: VOLATILE, it writes.
-- By hand:    psql -v schema=negentropy -v low_retention_threshold=0.1 -v min_age_days=7
--             -v decay_lambda=0.1 -v max_share=0.2 -v max_rows=10000
--             -f cleanup_low_value_memories.sql

CREATE OR REPLACE FUNCTION :"schema".cleanup_low_value_memories(
    p_threshold double precision DEFAULT :low_retention_threshold,
    p_min_age_days integer DEFAULT :min_age_days,
    p_decay_rate double precision DEFAULT :decay_lambda,
    p_app_name text DEFAULT NULL,
    p_max_share double precision DEFAULT :max_share,
    p_max_rows integer DEFAULT :max_rows
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    c_always CONSTANT integer := 20;
    v_started timestamptz := clock_timestamp();
    v_cutoff timestamptz;
    v_scope text;
    v_budget bigint := COALESCE(p_max_rows, 2147483647);
    v_refreshable bigint := COALESCE(p_max_rows, 2147483647);
    v_seen bigint;
    v_is_current boolean;
    v_gone_today bigint;
    v_live bigint;
    v_allowed bigint;
    v_ids uuid[];
    v_neighbours uuid[];
    v_forgotten integer := 0;
    v_waiting bigint := 0;
    v_owner record;
BEGIN
    IF p_threshold IS NULL OR p_threshold = 'NaN' OR p_threshold < 0
        OR p_decay_rate IS NULL OR p_decay_rate = 'NaN' OR p_decay_rate < 0
        OR p_min_age_days IS NULL OR p_min_age_days < 0
        OR p_max_share = 'NaN' OR p_max_share < 0 OR p_max_rows < 0
    THEN
        RAISE EXCEPTION 'nothing can be forgotten by these numbers'
            USING ERRCODE = 'invalid_parameter_value',
                DETAIL = format('threshold %s, min_age_days %s, decay_rate %s, max_share %s, max_rows %s',
                    p_threshold, p_min_age_days, p_decay_rate, p_max_share, p_max_rows),
                HINT = 'give numbers that are not negative';
    END IF;
    v_cutoff := now() - LEAST(p_min_age_days, 365000) * interval '24 hours';
    SELECT CASE WHEN c.is_main THEN '' ELSE p_app_name END INTO v_scope
    FROM memory_automation_configs AS c
    WHERE c.app_name = p_app_name;
    v_scope := COALESCE(v_scope, p_app_name, '');
    IF NOT pg_try_advisory_xact_lock(
        hashtextextended('negmem:cleanup_memories:' || current_schema() || ':' || v_scope, 0))
    THEN
        RAISE NOTICE 'cleanup_low_value_memories: skipped, already running';
        PERFORM record_automation_run('cleanup_memories', p_app_name, 'skipped', 0,
            'skipped, already running', v_started);
        RETURN 0;
    END IF;

    LOOP
        EXIT WHEN apply_recorded_accesses(p_app_name) = 0;
    END LOOP;

    FOR v_owner IN
        WITH RECURSIVE owners AS (
            (
                SELECT m.user_id, m.app_name
                FROM memories AS m
                WHERE m.deleted_at IS NULL AND m.pinned_at IS NULL
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
                ORDER BY m.user_id, m.app_name
                LIMIT 1
            ) AS following
        ),
        apps AS MATERIALIZED (
            SELECT a.app_name,
                (s.threshold, s.decay_lambda) = (p_threshold, p_decay_rate) AS is_configured
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
            SELECT o.user_id, o.app_name, a.is_configured,
                a.is_configured AND u.fades_next IS NULL
                    AND (u.fades_threshold, u.fades_lambda)
                        IS NOT DISTINCT FROM (p_threshold, p_decay_rate) AS is_current
            FROM owners AS o
            JOIN apps AS a ON a.app_name = o.app_name
            LEFT JOIN users AS u ON u.user_id = o.user_id AND u.app_name = o.app_name
            WHERE u.held_at IS NULL AND u.erasing_since IS NULL
        )
        SELECT s.user_id, s.app_name, s.is_configured, s.is_current
        FROM scoped AS s
        WHERE NOT s.is_current
            OR EXISTS (
                SELECT 1 FROM memories AS m
                WHERE m.user_id = s.user_id AND m.app_name = s.app_name AND m.due_at <= now()
                    AND m.deleted_at IS NULL AND m.pinned_at IS NULL
            )
    LOOP
        EXIT WHEN v_budget <= 0;
        v_is_current := v_owner.is_current;
        IF v_owner.is_configured AND NOT v_is_current AND v_refreshable > 0 THEN
            v_seen := refresh_fading_times(v_owner.user_id, v_owner.app_name, v_refreshable::integer);
            v_is_current := v_seen < v_refreshable;
            v_refreshable := v_refreshable - v_seen;
        END IF;

        SELECT array_agg(due.id ORDER BY due.due_at, due.id) INTO v_ids
        FROM (
            SELECT m.id, m.due_at
            FROM memories AS m
            WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                AND m.due_at <= CASE WHEN v_is_current THEN now() ELSE 'infinity' END
                AND m.deleted_at IS NULL AND m.pinned_at IS NULL
                AND m.memory_type <> 'core' AND m.created_at < v_cutoff
                AND calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
                    m.memory_type, 0, retention_decay_override(m.metadata), now(),
                    p_decay_rate) < p_threshold
                AND calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
                    m.memory_type, related_count(m.user_id, m.app_name, m.thread_id, m.id),
                    retention_decay_override(m.metadata), now(), p_decay_rate) < p_threshold
            ORDER BY m.due_at, m.id
            LIMIT v_budget
        ) AS due;

        IF cardinality(v_ids) > 0 THEN
            SELECT count(*) INTO v_gone_today
            FROM memories AS m
            WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                AND m.deleted_at > now() - interval '24 hours' AND m.deleted_reason = 'retention';
            v_allowed := c_always - v_gone_today;
            IF cardinality(v_ids) > v_allowed THEN
                SELECT count(*) INTO v_live
                FROM memories AS m
                WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                    AND m.deleted_at IS NULL;
                v_allowed := GREATEST(c_always,
                    floor(LEAST(1, COALESCE(p_max_share, 1)) * (v_live + v_gone_today))) - v_gone_today;
                IF p_max_share >= 1 OR p_max_share IS NULL THEN
                    v_allowed := v_live;
                END IF;
            END IF;
            v_waiting := v_waiting + GREATEST(0, cardinality(v_ids) - GREATEST(0, v_allowed));
            -- Locked only now, so that rows that must wait are not written to; what changed since is
            -- looked at again.
            SELECT array_agg(due.id) INTO v_ids
            FROM (
                SELECT m.id
                FROM memories AS m
                WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                    AND m.id = ANY (v_ids[1:GREATEST(0, v_allowed)])
                    AND m.deleted_at IS NULL AND m.pinned_at IS NULL
                    AND m.memory_type <> 'core' AND m.created_at < v_cutoff
                    AND calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
                        m.memory_type, 0, retention_decay_override(m.metadata), now(),
                        p_decay_rate) < p_threshold
                ORDER BY m.id
                FOR UPDATE SKIP LOCKED
            ) AS due;
        END IF;
        IF cardinality(v_ids) > 0 THEN
            v_forgotten := v_forgotten
                + forget_memories(v_owner.user_id, v_owner.app_name, v_ids, 'retention');
            v_budget := v_budget - cardinality(v_ids);
            -- Neighbours lost one: below the cap their own time moves.
            SELECT array_agg(m.id) INTO v_neighbours
            FROM memories AS m
            WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                AND m.deleted_at IS NULL
                AND m.thread_id IN (
                    SELECT gone.thread_id
                    FROM memories AS gone
                    WHERE gone.user_id = v_owner.user_id AND gone.app_name = v_owner.app_name
                        AND gone.id = ANY (v_ids)
                )
                AND related_count(m.user_id, m.app_name, m.thread_id, m.id) < 5;
            PERFORM rescore_memories(v_owner.user_id, v_owner.app_name, v_neighbours)
            WHERE v_neighbours IS NOT NULL;
        END IF;

        IF v_is_current THEN
            -- Rows that were changed without their fading time and are not forgotten by now.
            SELECT array_agg(m.id) INTO v_ids
            FROM (
                SELECT one.id
                FROM memories AS one
                WHERE one.user_id = v_owner.user_id AND one.app_name = v_owner.app_name
                    AND one.due_at = '-infinity'
                    AND one.deleted_at IS NULL AND one.pinned_at IS NULL
                LIMIT v_refreshable
            ) AS m;
            PERFORM rescore_memories(v_owner.user_id, v_owner.app_name, v_ids)
            WHERE v_ids IS NOT NULL;
            v_refreshable := v_refreshable - COALESCE(cardinality(v_ids), 0);
        END IF;
    END LOOP;

    PERFORM record_automation_run('cleanup_memories', p_app_name, 'succeeded', v_forgotten,
        CASE WHEN v_waiting > 0
            THEN format('%s more wait: at most %s of one user''s memories in a day', v_waiting, p_max_share)
        END,
        v_started);
    RETURN v_forgotten;
END
$$;
