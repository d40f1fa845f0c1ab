-- Deletes what is over its lifetime, of one owner: facts, lessons, entities and decisions that were removed before the
-- restore window, completed jobs of consolidation, proposals that were decided or ran out, caches and counters.
--
-- The last completed job of a thread or user stays whatever its age: it says how far consolidation came. Parked jobs
-- wait for a person. An applied proposal says who let the write through: it goes with the completed jobs, once what it
-- wrote is gone for good; a rejected one after 30 days at least, in which the same is not proposed again. Pinned rows stay; of a person under legal hold or being erased all stays. The trail keeps an entry
-- of each item of a person.
--
-- Callers:    retention purge, batch by batch.
-- Locks:      the user's row of users, shared, so that no hold begins meanwhile; the rows of one batch, those that
--             nobody else holds; the app's trail.
-- Volatility: VOLATILE, it writes; with p_dry_run it counts.
-- Returns:    rows by table; none where nothing is left that may go. At most p_max_rows of each table.
-- By hand:    psql -v schema=negentropy -f purge_expired.sql

CREATE OR REPLACE FUNCTION :"schema".purge_expired(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_window_days integer,
    p_job_days integer,
    p_max_rows integer DEFAULT 1000,
    p_dry_run boolean DEFAULT false,
    p_actor text DEFAULT NULL
)
RETURNS TABLE (table_name text, gone bigint)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_removed CONSTANT timestamptz := now() - LEAST(GREATEST(p_window_days, 0), 365000) * interval '24 hours';
    v_ended CONSTANT timestamptz := now() - LEAST(GREATEST(p_job_days, 0), 365000) * interval '24 hours';
    v_is_held boolean;
    v_where text;
    v_ids uuid[];
    v_step record;
BEGIN
    IF p_owner_kind = 'user' THEN
        SELECT u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL INTO v_is_held
        FROM users AS u
        WHERE u.user_id = p_owner AND u.app_name = p_app_name;
        IF NOT p_dry_run THEN
            SELECT u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL INTO v_is_held
            FROM users AS u
            WHERE u.user_id = p_owner AND u.app_name = p_app_name
            FOR SHARE;
        END IF;
        IF v_is_held THEN
            RETURN;
        END IF;
    END IF;
    FOR v_step IN
        SELECT s.*
        FROM (VALUES
            ('facts', false, 't.deleted_at <= $4 AND t.pinned_at IS NULL', 'fact'),
            ('decisions', false, 't.deleted_at <= $4', 'decision'),
            ('consolidation_jobs', false, 't.status IN (''completed'', ''cancelled'')'
                ' AND COALESCE(t.completed_at, t.created_at) <= $5 AND EXISTS ('
                ' SELECT 1 FROM consolidation_jobs AS later WHERE later.user_id = t.user_id AND later.app_name = t.app_name'
                ' AND later.thread_id IS NOT DISTINCT FROM t.thread_id AND later.job_type = t.job_type'
                ' AND later.status = ''completed'' AND (later.completed_at, later.id) > (t.completed_at, t.id))', NULL),
            ('memory_preload_cache', false, 't.expires_at <= now()', NULL),
            ('tool_calls', false, 't.window_start < now() - interval ''24 hours''', NULL),
            ('learnings', true, 't.deleted_at <= $4 AND t.pinned_at IS NULL', 'learning'),
            ('entity_facts', true, 't.deleted_at <= $4', 'entity_fact'),
            ('entity_events', true, 't.deleted_at <= $4', 'entity_event'),
            ('entity_relations', true, 't.deleted_at <= $4', 'entity_relation'),
            ('entities', true, 't.deleted_at <= $4', 'entity'),
            ('proposals', true, 'COALESCE(t.decided_at, t.expires_at) <= LEAST($4, now() - interval ''30 days'')'
                ' AND (t.status IN (''rejected'', ''expired'')'
                ' OR t.status IN (''pending'', ''stale'', ''failed'') AND t.expires_at <= $4'
                ' OR t.status = ''applied'' AND t.decided_at <= $5 AND NOT EXISTS ('
                ' SELECT 1 FROM memories AS i WHERE t.owner_kind = ''user'' AND i.user_id = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM facts AS i WHERE t.owner_kind = ''user'' AND i.user_id = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM learnings AS i WHERE i.owner_kind = t.owner_kind AND i.owner = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM entities AS i WHERE i.owner_kind = t.owner_kind AND i.owner = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM entity_facts AS i WHERE i.owner_kind = t.owner_kind AND i.owner = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM entity_events AS i WHERE i.owner_kind = t.owner_kind AND i.owner = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                ' UNION ALL'
                ' SELECT 1 FROM entity_relations AS i WHERE i.owner_kind = t.owner_kind AND i.owner = t.owner AND i.app_name = t.app_name'
                ' AND i.id = COALESCE(t.applied_id, t.target_id) AND (i.deleted_at IS NULL OR i.deleted_at > $4)'
                '))'
                ' AND NOT EXISTS (SELECT 1 FROM users AS h WHERE h.user_id = t.user_id AND h.app_name = t.app_name'
                ' AND (h.held_at IS NOT NULL OR h.erasing_since IS NOT NULL))', NULL)
        ) AS s (name, is_shareable, condition, item_kind)
        WHERE s.is_shareable OR p_owner_kind = 'user'
    LOOP
        v_where := CASE WHEN v_step.is_shareable THEN 't.owner_kind = $1 AND t.owner = $2 AND t.app_name = $3 AND '
            ELSE '$1 = ''user'' AND t.user_id = $2 AND t.app_name = $3 AND ' END || v_step.condition;
        table_name := v_step.name;
        IF p_dry_run THEN
            EXECUTE format('SELECT count(*) FROM %I AS t WHERE %s', v_step.name, v_where)
            INTO gone USING p_owner_kind, p_owner, p_app_name, v_removed, v_ended;
        ELSE
            EXECUTE format(
                'WITH picked AS MATERIALIZED (SELECT t.ctid AS place FROM %I AS t WHERE %s LIMIT %s FOR UPDATE SKIP LOCKED),'
                ' gone AS (DELETE FROM %I AS t USING picked AS p WHERE t.ctid = p.place RETURNING %s AS id)'
                ' SELECT count(*), array_agg(g.id) FROM gone AS g',
                v_step.name, v_where, p_max_rows, v_step.name,
                CASE WHEN v_step.item_kind IS NULL THEN 'NULL::uuid' ELSE 't.id' END)
            INTO gone, v_ids USING p_owner_kind, p_owner, p_app_name, v_removed, v_ended;
            IF gone > 0 AND v_step.item_kind IS NOT NULL THEN
                DELETE FROM shared_item_versions AS v
                WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.item_id = ANY (v_ids);
                DELETE FROM shared_vectors AS v
                WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.item_id = ANY (v_ids);
                IF p_owner_kind = 'user' THEN
                    DELETE FROM memory_associations AS a
                    WHERE a.user_id = p_owner AND a.app_name = p_app_name
                        AND (a.source_id = ANY (v_ids) OR a.target_id = ANY (v_ids));
                    DELETE FROM item_sources AS i
                    WHERE i.user_id = p_owner AND i.app_name = p_app_name AND i.item_id = ANY (v_ids);
                    PERFORM record_audit_entries(p_app_name, p_owner, v_ids::text[], 'purge', 'restore window is over', NULL,
                        p_actor);
                END IF;
            END IF;
        END IF;
        IF gone > 0 THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
