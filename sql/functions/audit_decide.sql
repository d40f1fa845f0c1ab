-- Carries out decisions about memories of one user, all or nothing, and records who decided what.
--
-- An item is {"id", "decision", "expected_version", "note"}; the version of a memory is the number of its last entry on
-- the trail, 0 before the first. It is compared while the memory is locked. An idempotency key stands for one set of
-- decisions, by its hash: the same set again returns what was recorded and does nothing.
--
-- An item that was decided so before is not decided again, and the answer has its entry: since then its memory is gone,
-- or without its words.
--
-- Where something stands against it, nothing is done and the answer says what: `held`, `erasing`, `mismatch` (the key
-- stood for another set), `unknown` (ids), `decided` (gone since another decision), `conflicts`. The caller then rolls
-- back, since a new key is taken by then.
--
-- callers: queries/audit.sql
-- locks: the row of users, FOR KEY SHARE; the key's row; the user's facts; the memories in order of id; then as
--   audit_cascade()
-- volatility: VOLATILE, it writes
-- returns: records (id, decision, version, at, by, replayed), reach (rows by table), and what stands against it

CREATE OR REPLACE FUNCTION :"schema".audit_decide(
    p_user_id text,
    p_app_name text,
    p_items jsonb,
    p_idempotency_key text DEFAULT NULL,
    p_request_hash bytea DEFAULT NULL,
    p_actor text DEFAULT NULL,
    p_actor_verified boolean DEFAULT false
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_user users;
    v_hash bytea;
    v_ids uuid[];
    v_known uuid[];
    v_empty uuid[];
    v_done uuid[] := '{}';
    v_items jsonb := p_items;
    v_against jsonb;
    v_person text;
    v_reach jsonb := '{}';
    v_part jsonb;
    v_replayed boolean := false;
    v_group record;
BEGIN
    SELECT u.* INTO v_user FROM users AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name
    FOR KEY SHARE;
    IF v_user.erasing_since IS NOT NULL THEN
        RETURN '{"erasing": true}';
    END IF;
    SELECT array_agg((i ->> 'id')::uuid) INTO v_ids FROM jsonb_array_elements(p_items) AS i;
    IF p_idempotency_key IS NOT NULL THEN
        INSERT INTO audit_requests (app_name, user_id, idempotency_key, request_hash)
        VALUES (p_app_name, p_user_id, p_idempotency_key, p_request_hash)
        ON CONFLICT (user_id, app_name, idempotency_key) DO NOTHING;
        IF NOT FOUND THEN
            SELECT r.request_hash INTO v_hash FROM audit_requests AS r
            WHERE r.user_id = p_user_id AND r.app_name = p_app_name AND r.idempotency_key = p_idempotency_key;
            IF v_hash IS DISTINCT FROM p_request_hash THEN
                RETURN '{"mismatch": true}';
            END IF;
            v_replayed := true;
        END IF;
    END IF;
    IF NOT v_replayed THEN
        PERFORM lock_facts(p_user_id, p_app_name);
        SELECT COALESCE(array_agg(m.id), '{}'), COALESCE(array_agg(m.id) FILTER (WHERE m.content = '[ANONYMIZED]'), '{}')
        INTO v_known, v_empty
        FROM (
            SELECT one.id, one.content FROM memories AS one
            WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id = ANY (v_ids)
            ORDER BY one.id
            FOR UPDATE
        ) AS m;
        -- Only now: whoever held the memories may have made the person's first entry.
        v_person := audit_person(p_user_id, p_app_name);
        SELECT COALESCE(array_agg(w.id) FILTER (WHERE w.is_same AND (w.is_gone OR w.is_empty)), '{}'),
            jsonb_strip_nulls(jsonb_build_object(
                'unknown', jsonb_agg(w.id ORDER BY w.place) FILTER (WHERE w.is_gone AND w.decision IS NULL),
                'decided', jsonb_agg(jsonb_build_object('id', w.id, 'decision', w.decision,
                    'at', to_char(w.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), 'by', w.actor)
                    ORDER BY w.place) FILTER (WHERE w.is_gone AND NOT w.is_same)))
        INTO v_done, v_against
        FROM (
            SELECT i.place, (i.item ->> 'id')::uuid AS id, l.decision, l.created_at AS at, l.actor,
                (i.item ->> 'id')::uuid <> ALL (v_known) AS is_gone,
                l.decision = 'anonymize' AND (i.item ->> 'id')::uuid = ANY (v_empty) AS is_empty,
                l.decision = i.item ->> 'decision'
                    AND COALESCE((i.item ->> 'expected_version')::integer IN (l.version, l.version - 1), true) AS is_same
            FROM jsonb_array_elements(p_items) WITH ORDINALITY AS i (item, place)
            LEFT JOIN LATERAL (
                SELECT one.decision, one.version, one.created_at, d.actor
                FROM memory_audit_logs AS one
                LEFT JOIN audit_details AS d
                    ON d.user_id = p_user_id AND d.app_name = p_app_name AND d.log_id = one.id
                WHERE one.app_name = p_app_name AND one.user_id = v_person AND one.memory_id = i.item ->> 'id'
                ORDER BY one.version DESC
                LIMIT 1
            ) AS l ON true
        ) AS w;
        IF v_against <> '{}' THEN
            RETURN v_against;
        END IF;
        SELECT COALESCE(jsonb_agg(i.item ORDER BY i.place), '[]') INTO v_items
        FROM jsonb_array_elements(p_items) WITH ORDINALITY AS i (item, place)
        WHERE (i.item ->> 'id')::uuid <> ALL (v_done);
        SELECT jsonb_agg(jsonb_build_object('id', c.id, 'expected', c.expected, 'found', c.version,
            'decision', c.decision, 'at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), 'by', c.actor)
            ORDER BY c.place)
        INTO v_against
        FROM (
            SELECT i.place, i.item ->> 'id' AS id, (i.item ->> 'expected_version')::integer AS expected,
                COALESCE(l.version, 0) AS version, l.decision, l.created_at, l.actor
            FROM jsonb_array_elements(v_items) WITH ORDINALITY AS i (item, place)
            LEFT JOIN LATERAL (
                SELECT one.version, one.decision, one.created_at, d.actor
                FROM memory_audit_logs AS one
                LEFT JOIN audit_details AS d
                    ON d.user_id = p_user_id AND d.app_name = p_app_name AND d.log_id = one.id
                WHERE one.app_name = p_app_name AND one.user_id = v_person AND one.memory_id = i.item ->> 'id'
                ORDER BY one.version DESC
                LIMIT 1
            ) AS l ON true
            WHERE i.item ->> 'expected_version' IS NOT NULL
        ) AS c
        WHERE c.expected <> c.version;
        IF v_against IS NOT NULL THEN
            RETURN jsonb_build_object('conflicts', v_against);
        END IF;
        IF v_user.held_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM jsonb_array_elements(v_items) AS i WHERE i ->> 'decision' <> 'retain')
        THEN
            RETURN '{"held": true}';
        END IF;
        FOR v_group IN
            SELECT i ->> 'decision' AS decision, array_agg((i ->> 'id')::uuid ORDER BY i ->> 'id') AS ids
            FROM jsonb_array_elements(v_items) AS i
            GROUP BY i ->> 'decision'
            ORDER BY i ->> 'decision'
        LOOP
            CONTINUE WHEN v_group.decision = 'retain';
            v_part := audit_cascade(p_user_id, p_app_name, v_group.ids, v_group.decision, p_actor, p_actor_verified);
            SELECT jsonb_object_agg(r.key, r.rows) INTO v_reach
            FROM (
                SELECT e.key, sum(e.value::bigint) AS rows
                FROM (SELECT * FROM jsonb_each_text(v_reach) UNION ALL SELECT * FROM jsonb_each_text(v_part)) AS e
                GROUP BY e.key
            ) AS r;
        END LOOP;
        FOR v_group IN
            SELECT i.item ->> 'decision' AS decision, i.item ->> 'note' AS note,
                array_agg(i.item ->> 'id' ORDER BY i.place) AS ids
            FROM jsonb_array_elements(v_items) WITH ORDINALITY AS i (item, place)
            GROUP BY i.item ->> 'decision', i.item ->> 'note'
            ORDER BY min(i.place)
        LOOP
            PERFORM record_audit_entries(p_app_name, p_user_id, v_group.ids, v_group.decision, v_group.note,
                p_idempotency_key, p_actor, p_actor_verified);
        END LOOP;
    END IF;
    v_person := audit_person(p_user_id, p_app_name);
    RETURN jsonb_build_object('reach', v_reach, 'records', (
        SELECT jsonb_agg(jsonb_build_object('id', l.memory_id, 'decision', l.decision, 'version', l.version,
            'at', l.created_at, 'by', l.actor, 'replayed', v_replayed OR g.id = ANY (v_done)) ORDER BY g.place)
        FROM (
            SELECT (i.item ->> 'id')::uuid AS id, i.item ->> 'decision' AS decision, i.place
            FROM jsonb_array_elements(p_items) WITH ORDINALITY AS i (item, place)
        ) AS g
        CROSS JOIN LATERAL (
            SELECT one.memory_id, one.decision, one.version, one.created_at, d.actor
            FROM memory_audit_logs AS one
            JOIN audit_details AS d ON d.log_id = one.id AND d.user_id = p_user_id AND d.app_name = p_app_name
            WHERE one.app_name = p_app_name AND one.user_id = v_person AND one.memory_id = g.id::text
                AND one.decision = g.decision
            ORDER BY d.idempotency_key IS NOT DISTINCT FROM p_idempotency_key DESC, one.version DESC
            LIMIT 1
        ) AS l));
END
$function$;
