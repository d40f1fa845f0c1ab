-- The hash of one entry of the trail: of everything that it says, and of the entry before it.
--
-- callers: record_audit_entries(), queries/trail.sql
-- volatility: STABLE, as jsonb_build_array() is; it reads no table
-- returns: SHA-256

CREATE OR REPLACE FUNCTION :"schema".audit_entry_hash(
    p_previous bytea,
    p_sequence bigint,
    p_id uuid,
    p_app_name text,
    p_person text,
    p_subject text,
    p_decision text,
    p_note_hash text,
    p_key_hash text,
    p_actor_hash text,
    p_actor_verified boolean,
    p_version integer,
    p_at timestamptz
)
RETURNS bytea
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT sha256(p_previous || convert_to(jsonb_build_array(p_sequence, p_id, p_app_name, p_person, p_subject, p_decision,
        p_note_hash, p_key_hash, p_actor_hash, p_actor_verified, p_version, extract(epoch FROM p_at))::text, 'UTF8'));
$function$;
