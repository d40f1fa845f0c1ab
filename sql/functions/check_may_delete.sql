-- Refuses a deletion while a legal hold lies on the person; no hold begins until the transaction ends.
--
-- callers: forget_memories(), forget_facts()
-- locks: the row of users, FOR KEY SHARE
-- volatility: VOLATILE, it locks
-- errors: SQLSTATE NM003

CREATE OR REPLACE FUNCTION :"schema".check_may_delete(p_user_id text, p_app_name text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_held_at timestamptz;
BEGIN
    SELECT u.held_at INTO v_held_at FROM users AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name
    FOR KEY SHARE;
    IF v_held_at IS NOT NULL THEN
        RAISE EXCEPTION 'nothing of a person under legal hold is deleted' USING ERRCODE = 'NM003';
    END IF;
END
$function$;
