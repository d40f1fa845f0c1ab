-- The managed functions as the catalog holds them, and the record of what negmem wrote.

-- name: definitions
-- params: schema (null: the session's temporary functions)
-- returns: one row a function, in the order of creation; members of extensions are left out
SELECT p.oid::bigint AS oid,
    p.proname::text AS name,
    oidvectortypes(p.proargtypes) AS argument_types,
    pg_get_function_identity_arguments(p.oid) AS identity,
    pg_get_function_arguments(p.oid) AS arguments,
    p.pronargdefaults::integer AS default_count,
    pg_get_function_result(p.oid) AS result,
    l.lanname::text AS language,
    p.provolatile::text AS volatility,
    p.proparallel::text AS parallel,
    p.proisstrict AS is_strict,
    p.prosecdef AS is_security_definer,
    p.proleakproof AS is_leakproof,
    p.proconfig AS settings,
    p.procost::double precision AS cost,
    p.prorows::double precision AS rows,
    COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc) AS body,
    pg_get_functiondef(p.oid) AS definition,
    obj_description(p.oid, 'pg_proc') AS comment,
    pg_get_userbyid(p.proowner)::text AS owner,
    ARRAY(
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' WHEN p.proowner THEN 'OWNER'
                ELSE quote_ident(pg_get_userbyid(a.grantee)) END
            || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
        FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE a.privilege_type = 'EXECUTE'
        ORDER BY 1
    ) AS grants
FROM pg_proc AS p
JOIN pg_language AS l ON l.oid = p.prolang
WHERE p.pronamespace = CASE
        WHEN %(schema)s::name IS NULL THEN pg_my_temp_schema()
        ELSE (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = %(schema)s::name)
    END
    AND p.prokind = 'f'
    AND NOT EXISTS (
        SELECT 1 FROM pg_depend AS d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    )
ORDER BY p.oid;

-- name: drop
DROP FUNCTION :"schema".:"name"(:argument_types);

-- name: give_owner
ALTER FUNCTION :"schema".:"name"(:argument_types) OWNER TO :owner;

-- name: take_access
REVOKE ALL ON FUNCTION :"schema".:"name"(:argument_types) FROM :grantee;

-- name: give_access
GRANT EXECUTE ON FUNCTION :"schema".:"name"(:argument_types) TO :grantee;

-- name: stamp
COMMENT ON FUNCTION :"schema".:"name"(:argument_types) IS :'comment';

-- name: savepoint
SAVEPOINT negmem_expected;

-- name: rollback_to_savepoint
ROLLBACK TO SAVEPOINT negmem_expected;

-- name: release_savepoint
RELEASE SAVEPOINT negmem_expected;

-- name: record
-- params: objects, negmem_version
INSERT INTO :"schema".managed_objects AS m (kind, name, fingerprint, definition, negmem_version)
SELECT 'function', o.name, o.fingerprint, o.definition, %(negmem_version)s::text
FROM jsonb_to_recordset(%(objects)s::jsonb) AS o (name text, fingerprint text, definition text)
ON CONFLICT ON CONSTRAINT managed_objects_unique DO UPDATE
    SET fingerprint = excluded.fingerprint,
        definition = excluded.definition,
        negmem_version = excluded.negmem_version,
        owner_name = excluded.owner_name,
        installed_by = excluded.installed_by,
        installed_at = now()
    WHERE (m.fingerprint, m.definition) IS DISTINCT FROM (excluded.fingerprint, excluded.definition);

-- name: forget
-- params: names
DELETE FROM :"schema".managed_objects AS m
WHERE m.kind IN ('function', 'grant') AND m.name = ANY (%(names)s::text[]);

-- name: keep_replaced
-- params: name, definition, reason
INSERT INTO :"schema".replaced_definitions (kind, name, definition, reason)
VALUES ('function', %(name)s::text, %(definition)s::text, %(reason)s::text);

-- name: recorded_access
-- returns: the functions of which owner and grants are written down
SELECT m.name FROM :"schema".managed_objects AS m WHERE m.kind = 'grant';
