-- Begins the erasure of a person, or goes on with one: from here on nobody writes for the person.
--
-- Of whom nothing is to be remembered, that wish is kept beside the list: it outlives the person's rows.
-- The list of erased persons takes the person as an HMAC under the installation's key, with the certificate as it
-- grows: counts of a run that was killed are not lost.
--
-- callers: queries/erasure.sql
-- locks: the row of users, until writers that hold it are done; the app's trail
-- volatility: VOLATILE, it writes
-- returns: `held`, or whether the person is `known` here, was `listed` before, the HMAC, and since when

CREATE OR REPLACE FUNCTION :"schema".erase_begin(
    p_user_id text,
    p_app_name text,
    p_actor text DEFAULT NULL,
    p_actor_verified boolean DEFAULT false,
    p_note text DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_user users;
    v_known boolean;
    v_listed boolean;
    v_person bytea;
    v_jobs bigint;
BEGIN
    SELECT u.* INTO v_user FROM users AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name
    FOR UPDATE;
    v_known := FOUND;
    IF v_user.held_at IS NOT NULL THEN
        RETURN '{"held": true}';
    END IF;
    v_person := erased_person(p_user_id, p_app_name);
    SELECT true INTO v_listed FROM erased_persons AS e WHERE e.app_name = p_app_name AND e.person_hmac = v_person;
    IF v_known AND v_user.erasing_since IS NULL THEN
        UPDATE users AS u SET erasing_since = now() WHERE u.user_id = p_user_id AND u.app_name = p_app_name;
        PERFORM record_audit_entries(p_app_name, p_user_id, ARRAY['user'], 'erase', p_note, NULL, p_actor,
            p_actor_verified);
        -- Workers lose their lease, and what they were about to write.
        DELETE FROM consolidation_jobs AS j WHERE j.user_id = p_user_id AND j.app_name = p_app_name;
        GET DIAGNOSTICS v_jobs = ROW_COUNT;
        INSERT INTO erased_persons AS e (app_name, person_hmac, certificate)
        VALUES (p_app_name, v_person, jsonb_build_object('state', 'running', 'started_at', now(), 'tables',
            jsonb_strip_nulls(jsonb_build_object('consolidation_jobs', NULLIF(v_jobs, 0))),
            'objection', v_user.paused_at IS NOT NULL))
        ON CONFLICT (app_name, person_hmac) DO UPDATE
            SET certificate = excluded.certificate
                    || jsonb_build_object('erased_before', COALESCE((e.certificate ->> 'erased_before')::integer, 0) + 1),
                erased_at = now();
    END IF;
    RETURN jsonb_build_object('known', v_known, 'listed', COALESCE(v_listed, false),
        'person', encode(v_person, 'hex'));
END
$function$;
