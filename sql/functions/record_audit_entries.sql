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
SET enable_seqscan = off
SET jit = off
AS $function$
DECLARE
    person_key bytea;
    person text;
    last_sequence bigint;
    last_hash bytea;
    actor text := COALESCE(p_actor, session_user::text);
    ids uuid[];
    memories text[];
    versions integer[];
    salts bytea[];
    note_hashes text[];
    actor_hashes text[];
    key_hash text;
    hashes bytea[] := '{}';
    link bytea;
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

    key_hash := encode(sha256(person_key || convert_to(p_idempotency_key, 'UTF8')), 'hex');
    -- Asked as a place in the order of one index, so that no other is taken where statistics are missing.
    SELECT array_agg(e.id ORDER BY e.place), array_agg(e.memory ORDER BY e.place), array_agg(e.salt ORDER BY e.place),
        array_agg(COALESCE(e.latest, 0) + e.nth ORDER BY e.place),
        array_agg(encode(sha256(e.salt || convert_to(p_note, 'UTF8')), 'hex') ORDER BY e.place),
        array_agg(encode(sha256(e.salt || convert_to(actor, 'UTF8')), 'hex') ORDER BY e.place)
    INTO ids, memories, salts, versions, note_hashes, actor_hashes
    FROM (
        SELECT g.memory, g.place, gen_random_uuid() AS id, sha256(convert_to(gen_random_uuid()::text, 'UTF8')) AS salt,
            (row_number() OVER (PARTITION BY g.memory ORDER BY g.place))::integer AS nth,
            (SELECT CASE WHEN l.memory_id = g.memory AND l.user_id = person AND l.app_name = p_app_name THEN l.version END
             FROM memory_audit_logs AS l
             WHERE (l.app_name, l.user_id, l.memory_id, l.version) <= (p_app_name, person, g.memory, 2147483647)
             ORDER BY l.app_name DESC, l.user_id DESC, l.memory_id DESC, l.version DESC
             LIMIT 1) AS latest
        FROM unnest(p_memory_ids) WITH ORDINALITY AS g (memory, place)
    ) AS e;
    -- Each hash is of the one before it: this alone goes one by one. Written they are together.
    link := last_hash;
    FOR place IN 1 .. COALESCE(cardinality(ids), 0) LOOP
        link := audit_entry_hash(link, last_sequence + place, ids[place], p_app_name, person, memories[place], p_decision,
            note_hashes[place], key_hash, actor_hashes[place], p_actor_verified, versions[place], now());
        hashes[place] := link;
    END LOOP;
    INSERT INTO memory_audit_logs (id, app_name, user_id, memory_id, decision, note, idempotency_key,
        actor, actor_verified, version, sequence, previous_hash, entry_hash)
    SELECT e.id, p_app_name, person, e.memory, p_decision, e.note_hash, key_hash,
        e.actor_hash, p_actor_verified, e.version, last_sequence + e.place, lag(e.hash, 1, last_hash) OVER (ORDER BY e.place),
        e.hash
    FROM unnest(ids, memories, note_hashes, actor_hashes, versions, hashes) WITH ORDINALITY
        AS e (id, memory, note_hash, actor_hash, version, hash, place)
    ORDER BY e.place;
    INSERT INTO audit_details (user_id, app_name, log_id, salt, note, idempotency_key, actor)
    SELECT p_user_id, p_app_name, e.id, e.salt, p_note, p_idempotency_key, actor
    FROM unnest(ids, salts) AS e (id, salt);
    RETURN COALESCE(cardinality(ids), 0);
END;
$function$;
