-- Appends one entry a memory to the audit trail of an app; the only writer of memory_audit_logs.
--
-- The person is stored as an HMAC under a key of their own, which erasure destroys; note, idempotency key
-- and actor as salted hashes, their text in audit_details, which erasure empties. Entries are chained by
-- hash, in sequence, per app.
--
-- callers: cleanup_low_value_memories(), pruning, memory rm and restore, governance
-- locks: a transaction-level advisory lock per app, so that the chain has one end
-- security: DEFINER, so that whoever may write memories writes entries and nobody writes the tables; the search
--   path is pinned, no argument becomes SQL. Whoever may not write memories is refused, also where no roles were
--   asked for and anybody with USAGE could call it
-- volatility: VOLATILE, it writes
-- returns: the number of entries

CREATE OR REPLACE FUNCTION :"schema".record_audit_entries(
    p_app_name text,
    p_user_id text,
    p_memory_ids text[],
    p_decision text,
    p_note text DEFAULT NULL,
    p_idempotency_key text DEFAULT NULL,
    p_actor text DEFAULT NULL,
    p_actor_verified boolean DEFAULT false
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE SECURITY DEFINER
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    person_key bytea;
    person text;
    last_sequence bigint;
    last_hash bytea;
    this_hash bytea;
    salt bytea;
    note_hash text;
    key_hash text;
    actor text := COALESCE(p_actor, session_user::text);
    actor_hash text;
    entry_id uuid;
    entry_version integer;
    memory text;
    written integer := 0;
    caller name := COALESCE(NULLIF(current_setting('role'), 'none'), session_user);
BEGIN
    IF NOT has_table_privilege(caller, 'memories', 'UPDATE') THEN
        RAISE EXCEPTION 'permission denied for function record_audit_entries'
            USING ERRCODE = 'insufficient_privilege',
                DETAIL = format('%I may not write memories', caller);
    END IF;
    IF COALESCE(p_user_id, '') = '' OR COALESCE(p_app_name, '') = '' THEN
        RAISE EXCEPTION 'an audit entry needs an app and a user'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('negmem:trail:' || current_schema() || ':' || p_app_name, 0));

    INSERT INTO audit_keys (user_id, app_name, key)
    VALUES (p_user_id, p_app_name,
        sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')))
    ON CONFLICT (user_id, app_name) DO NOTHING;
    SELECT k.key INTO STRICT person_key
    FROM audit_keys AS k WHERE k.user_id = p_user_id AND k.app_name = p_app_name;
    person := encode(hmac_sha256(person_key, convert_to(p_user_id, 'UTF8')), 'hex');

    SELECT l.sequence, l.entry_hash INTO last_sequence, last_hash
    FROM memory_audit_logs AS l
    WHERE l.app_name = p_app_name
    ORDER BY l.sequence DESC
    LIMIT 1;
    last_sequence := COALESCE(last_sequence, 0);
    last_hash := COALESCE(last_hash, sha256(convert_to('negmem:trail:' || p_app_name, 'UTF8')));

    FOREACH memory IN ARRAY p_memory_ids LOOP
        salt := sha256(convert_to(gen_random_uuid()::text, 'UTF8'));
        note_hash := encode(sha256(salt || convert_to(p_note, 'UTF8')), 'hex');
        key_hash := encode(sha256(person_key || convert_to(p_idempotency_key, 'UTF8')), 'hex');
        actor_hash := encode(sha256(salt || convert_to(actor, 'UTF8')), 'hex');
        entry_id := gen_random_uuid();
        SELECT COALESCE(max(l.version), 0) + 1 INTO entry_version
        FROM memory_audit_logs AS l
        WHERE l.app_name = p_app_name AND l.user_id = person AND l.memory_id = memory;
        last_sequence := last_sequence + 1;
        this_hash := audit_entry_hash(last_hash, last_sequence, entry_id, p_app_name, person, memory, p_decision,
            note_hash, key_hash, actor_hash, p_actor_verified, entry_version, now());
        INSERT INTO memory_audit_logs (id, app_name, user_id, memory_id, decision, note, idempotency_key,
            actor, actor_verified, version, sequence, previous_hash, entry_hash)
        VALUES (entry_id, p_app_name, person, memory, p_decision, note_hash, key_hash,
            actor_hash, p_actor_verified, entry_version, last_sequence, last_hash, this_hash);
        INSERT INTO audit_details (user_id, app_name, log_id, salt, note, idempotency_key, actor)
        VALUES (p_user_id, p_app_name, entry_id, salt, p_note, p_idempotency_key, actor);
        last_hash := this_hash;
        written := written + 1;
    END LOOP;
    RETURN written;
END;
$function$;
