-- Lets a transaction write for a person, and makes the person known; refuses while the person is erased or paused.
--
-- The row of users stays shared until the end of the transaction: an erasure begins after it or is seen by it.
--
-- callers: queries/memory.sql, queries/ingest.sql, upsert_facts()
-- locks: the row of users, FOR KEY SHARE
-- volatility: VOLATILE, it writes
-- errors: SQLSTATE NM001 being erased, NM002 paused

CREATE OR REPLACE FUNCTION :"schema".admit_writer(p_user_id text, p_app_name text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_user users;
BEGIN
    LOOP
        SELECT u.* INTO v_user FROM users AS u
        WHERE u.user_id = p_user_id AND u.app_name = p_app_name
        FOR KEY SHARE;
        EXIT WHEN FOUND;
        IF objection_since(p_user_id, p_app_name) IS NOT NULL THEN
            RAISE EXCEPTION 'nothing is to be remembered of a person who objected before the erasure'
                USING ERRCODE = 'NM002';
        END IF;
        INSERT INTO users (user_id, app_name) VALUES (p_user_id, p_app_name)
        ON CONFLICT (user_id, app_name) DO NOTHING;
    END LOOP;
    IF v_user.erasing_since IS NOT NULL THEN
        RAISE EXCEPTION 'nothing is written for a person who is being erased' USING ERRCODE = 'NM001';
    END IF;
    IF v_user.paused_at IS NOT NULL THEN
        RAISE EXCEPTION 'nothing is to be remembered of a person who is paused' USING ERRCODE = 'NM002';
    END IF;
END
$function$;
