-- The audit trail takes rows and gives none back: no change, no removal, by whomever.
-- lock: SHARE ROW EXCLUSIVE on the trail, for a moment
-- safe: before or after the code upgrade
--
-- Who owns the table can take the triggers off. That, and what was done then, is what `audit verify` finds by the
-- hashes, up to a head kept elsewhere.

CREATE FUNCTION :"schema".refuse_audit_change() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only'
        USING ERRCODE = 'insufficient_privilege',
            DETAIL = format('%s on %I', TG_OP, TG_TABLE_NAME),
            HINT = 'negmem audit verify';
END
$function$;

CREATE TRIGGER memory_audit_logs_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON :"schema".memory_audit_logs
    FOR EACH STATEMENT EXECUTE FUNCTION :"schema".refuse_audit_change();
