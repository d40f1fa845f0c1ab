-- Forgets memories whose retention score is under the threshold: soft-deletes them and returns how many.
--
-- Never a core memory, a pinned one, one younger than p_min_age_days, one whose importance is at least
-- keep_importance of the app's config, or one of a user under legal hold. From one user never more than
-- p_max_share of the live memories within 24 hours, though 20 may always go; what went first under the
-- threshold goes first. One call takes at most p_max_rows rows (NULL: all) and one transaction; the
-- rest waits for the next call. p_user_id NULL means everyone.
--
-- Where statement_timeout would end it, it takes fewer rows, one for each 5 ms of it and 100 at least: a job that is cut
-- off forgets nothing, and is cut off again the next day. With p_max_rows NULL it takes all the same.
--
-- p_decay_rate is the base rate per day: types keep their proportion to it, and decay_override in a
-- memory's metadata wins. p_app_name NULL means the main app and every app without a config of its own.
--
-- Where the numbers are those of the stored config, the rows are found by memories.due_at, an index
-- range (retention_due()); the score is computed only for those. With other arguments, or while the fading times
-- of a user are not yet computed for a changed config, the score of each of the user's rows is
-- computed: the same answer at the cost of reading them.
--
-- Queued accesses are applied first, so that what was just found is not forgotten.
--
-- Callers:    the job cleanup_memories; retention run; operators by hand.
-- Locks:      a transaction-level advisory lock per scope: a second run says "skipped, already running"
--             and returns 0. Rows that others hold are passed over, also those whose fading time is only
--             computed anew: a neighbour that lost one then stays as long as it would have with it.
-- Volatility: VOLATILE, it writes.
-- Plans:      one for all users, here and in what it calls: all of them look rows up by key.
-- By hand:    psql -v schema=negentropy -v low_retention_threshold=0.1 -v min_age_days=7
--             -v decay_lambda=0.1 -v max_share=0.2 -v max_rows=10000
--             -f cleanup_low_value_memories.sql

CREATE OR REPLACE FUNCTION :"schema".cleanup_low_value_memories(
    p_threshold double precision DEFAULT :low_retention_threshold,
    p_min_age_days integer DEFAULT :min_age_days,
    p_decay_rate double precision DEFAULT :decay_lambda,
    p_app_name text DEFAULT NULL,
    p_max_share double precision DEFAULT :max_share,
    p_max_rows integer DEFAULT :max_rows,
    p_user_id text DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_scope text;
    v_timeout_ms bigint := (SELECT s.setting::bigint FROM pg_settings AS s WHERE s.name = 'statement_timeout');
    v_budget bigint := CASE
        WHEN p_max_rows IS NULL THEN 2147483647
        WHEN v_timeout_ms > 0 THEN LEAST(p_max_rows, GREATEST(100, v_timeout_ms / 5))
        ELSE p_max_rows
    END;
    v_refreshable bigint := v_budget;
    v_seen bigint;
    v_is_current boolean;
    v_allowed bigint;
    v_ids uuid[];
    v_threads uuid[];
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
        SELECT o.user_id, o.app_name, o.keep_importance, o.is_configured, o.is_current
        FROM retention_owners(p_app_name, p_user_id, p_threshold, p_min_age_days, p_decay_rate, now())
            AS o
    LOOP
        EXIT WHEN v_budget <= 0;
        v_is_current := v_owner.is_current;
        IF v_owner.is_configured AND NOT v_is_current AND v_refreshable > 0 THEN
            BEGIN
                v_seen := refresh_fading_times(v_owner.user_id, v_owner.app_name,
                    v_refreshable::integer);
                v_is_current := v_seen < v_refreshable;
                v_refreshable := v_refreshable - v_seen;
            EXCEPTION WHEN lock_not_available THEN
                -- Somebody holds one of the rows: their times wait for the next call, scores are computed.
                v_is_current := false;
            END;
        END IF;

        SELECT array_agg(due.id ORDER BY due.due_at, due.id) INTO v_ids
        FROM retention_due(v_owner.user_id, v_owner.app_name, p_threshold, p_min_age_days,
            p_decay_rate, v_owner.keep_importance, now(), v_is_current, v_budget) AS due;

        IF cardinality(v_ids) > 0 THEN
            v_allowed := COALESCE(
                retention_allowance(v_owner.user_id, v_owner.app_name, p_max_share, cardinality(v_ids)),
                cardinality(v_ids));
            v_waiting := v_waiting + GREATEST(0, cardinality(v_ids) - v_allowed);
            v_ids := v_ids[1:GREATEST(0, v_allowed)];
            -- Locked only now, so that rows that must wait are not written to; what changed since is
            -- looked at again.
            SELECT array_agg(due.id) INTO v_ids
            FROM (
                SELECT m.id
                FROM memories AS m
                WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                    AND m.id = ANY (v_ids)
                    AND m.deleted_at IS NULL AND m.pinned_at IS NULL
                    AND m.memory_type <> 'core'
                    AND m.created_at < now() - LEAST(p_min_age_days, 365000) * interval '24 hours'
                    AND NOT (m.importance_score >= v_owner.keep_importance
                        AND m.importance_score <> 'NaN')
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
            SELECT array_agg(DISTINCT gone.thread_id) INTO v_threads
            FROM memories AS gone
            WHERE gone.user_id = v_owner.user_id AND gone.app_name = v_owner.app_name
                AND gone.id = ANY (v_ids) AND gone.thread_id IS NOT NULL;
            v_neighbours := NULL;
            IF v_threads IS NOT NULL THEN
                SELECT array_agg(near.id) INTO v_neighbours
                FROM (
                    SELECT m.id
                    FROM memories AS m
                    WHERE m.user_id = v_owner.user_id AND m.app_name = v_owner.app_name
                        AND m.deleted_at IS NULL AND m.thread_id = ANY (v_threads)
                        AND related_count(m.user_id, m.app_name, m.thread_id, m.id) < 5
                    ORDER BY m.id
                    FOR UPDATE SKIP LOCKED
                ) AS near;
            END IF;
            PERFORM rescore_memories(v_owner.user_id, v_owner.app_name, v_neighbours)
            WHERE v_neighbours IS NOT NULL;
        END IF;

        IF v_is_current THEN
            -- Rows that were changed without their fading time and are not forgotten by now, and rows
            -- that have become too important since it was computed.
            SELECT array_agg(m.id) INTO v_ids
            FROM (
                SELECT one.id
                FROM memories AS one
                WHERE one.user_id = v_owner.user_id AND one.app_name = v_owner.app_name
                    AND one.due_at <= now()
                    AND (one.due_at = '-infinity'
                        OR (one.importance_score >= v_owner.keep_importance
                            AND one.importance_score <> 'NaN'))
                    AND one.deleted_at IS NULL AND one.pinned_at IS NULL
                LIMIT v_refreshable
                FOR UPDATE SKIP LOCKED
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
