-- HMAC-SHA-256 (RFC 2104) of a message under a key of at most 64 bytes.
--
-- callers: record_audit_entries(); later the list of erased persons
-- volatility: IMMUTABLE, it depends on its arguments alone; sha256() is built in, so no extension is needed

CREATE OR REPLACE FUNCTION :"schema".hmac_sha256(p_key bytea, p_message bytea)
RETURNS bytea
LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL SAFE
AS $function$
DECLARE
    inner_pad bytea := decode(repeat('36', 64), 'hex');
    outer_pad bytea := decode(repeat('5c', 64), 'hex');
BEGIN
    IF length(p_key) > 64 THEN
        RAISE EXCEPTION 'the key has % bytes', length(p_key)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'use at most 64 bytes';
    END IF;
    FOR i IN 0 .. length(p_key) - 1 LOOP
        inner_pad := set_byte(inner_pad, i, get_byte(p_key, i) # 54);
        outer_pad := set_byte(outer_pad, i, get_byte(p_key, i) # 92);
    END LOOP;
    RETURN sha256(outer_pad || sha256(inner_pad || p_message));
END;
$function$;
