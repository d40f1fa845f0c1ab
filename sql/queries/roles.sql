-- The four roles and their grants: what the catalog holds, and the statements that change it.

-- name: observed
-- params: schema, roles, functions
-- returns: one row: roles, owners and grants of the schema's objects, what later objects of the owner get
WITH own AS (SELECT n.oid, n.nspname, n.nspowner, n.nspacl FROM pg_namespace AS n WHERE n.nspname = %(schema)s::name),
objects AS (
    SELECT 'schema' AS kind, o.nspname::text AS name, o.nspowner AS owner, true AS owner_is_settable,
        o.nspacl AS acl, acldefault('n', o.nspowner) AS acl_default, true AS is_ours
    FROM own AS o
    UNION ALL
    SELECT CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname::text, c.relowner,
        c.relkind <> 'S' OR NOT EXISTS (
            SELECT FROM pg_depend AS d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')),
        c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner), true
    FROM pg_class AS c JOIN own AS o ON o.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT 'function', p.proname || '(' || oidvectortypes(p.proargtypes) || ')', p.proowner, true,
        p.proacl, acldefault('f', p.proowner), p.proname = ANY (%(functions)s::name[])
    FROM pg_proc AS p JOIN own AS o ON o.oid = p.pronamespace
    WHERE p.prokind = 'f' AND NOT EXISTS (
        SELECT FROM pg_depend AS d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
),
grants AS (
    SELECT o.kind, o.name, a.grantee, a.privilege_type::text AS privilege, a.is_grantable
    FROM objects AS o
    CROSS JOIN LATERAL aclexplode(COALESCE(o.acl, o.acl_default)) AS a
    WHERE a.grantee <> o.owner
    UNION ALL
    SELECT 'table', c.relname::text, a.grantee, a.privilege_type || '(' || t.attname || ')', a.is_grantable
    FROM pg_class AS c
    JOIN own AS o ON o.oid = c.relnamespace
    JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attacl IS NOT NULL
    CROSS JOIN LATERAL aclexplode(t.attacl) AS a
    WHERE a.grantee <> c.relowner
    UNION ALL
    -- Defaults of the whole database and of the schema add up, so that PUBLIC is only kept out by the former.
    SELECT 'default', k.name, a.grantee, a.privilege_type, a.is_grantable
    FROM pg_roles AS r
    CROSS JOIN (VALUES ('functions', 'f'::"char"), ('sequences', 'S')) AS k (name, kind)
    LEFT JOIN pg_default_acl AS d
        ON d.defaclrole = r.oid AND d.defaclnamespace = 0 AND d.defaclobjtype = k.kind
    CROSS JOIN LATERAL aclexplode(
        COALESCE(d.defaclacl, acldefault(CASE k.kind WHEN 'S' THEN 's' ELSE k.kind END, r.oid))) AS a
    WHERE r.rolname = (%(roles)s::name[])[1] AND a.grantee <> r.oid
    UNION ALL
    SELECT 'default', k.name, a.grantee, a.privilege_type, a.is_grantable
    FROM pg_default_acl AS d
    JOIN own AS o ON o.oid = d.defaclnamespace
    JOIN pg_roles AS r ON r.oid = d.defaclrole AND r.rolname = (%(roles)s::name[])[1]
    JOIN (VALUES ('functions', 'f'::"char"), ('sequences', 'S'), ('tables', 'r')) AS k (name, kind)
        ON k.kind = d.defaclobjtype
    CROSS JOIN LATERAL aclexplode(d.defaclacl) AS a
    WHERE a.grantee <> d.defaclrole
)
SELECT
    COALESCE((SELECT jsonb_agg(jsonb_build_object(
            'name', r.rolname, 'attributes', array_remove(ARRAY[
                CASE WHEN r.rolcanlogin THEN 'LOGIN' END, CASE WHEN r.rolsuper THEN 'SUPERUSER' END,
                CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END, CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
                CASE WHEN r.rolreplication THEN 'REPLICATION' END, CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END], NULL),
            'member_of', ARRAY(
                SELECT pg_get_userbyid(m.roleid)::text FROM pg_auth_members AS m WHERE m.member = r.oid ORDER BY 1)))
        FROM pg_roles AS r WHERE r.rolname = ANY (%(roles)s::name[])), '[]') AS roles,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('kind', o.kind, 'name', o.name,
            'owner', pg_get_userbyid(o.owner), 'owner_is_settable', o.owner_is_settable, 'is_ours', o.is_ours)
            ORDER BY o.kind, o.name)
        FROM objects AS o), '[]') AS objects,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('kind', g.kind, 'name', g.name,
            'grantee', CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee)::text END,
            'privilege', g.privilege || CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END))
        FROM grants AS g), '[]') AS grants;

-- name: recorded
-- returns: which role stands for which purpose here, and whether negmem made it
SELECT m.name AS key, m.definition AS role, m.fingerprint = 'made' AS is_made
FROM :"schema".managed_objects AS m WHERE m.kind = 'role';

-- name: requested
SELECT i.roles_requested FROM :"schema".installation AS i;

-- name: request
UPDATE :"schema".installation AS i SET roles_requested = true WHERE NOT i.roles_requested;

-- name: record
-- params: objects, negmem_version
INSERT INTO :"schema".managed_objects AS m (kind, name, fingerprint, definition, negmem_version)
SELECT 'role', o.name, o.fingerprint, o.definition, %(negmem_version)s::text
FROM jsonb_to_recordset(%(objects)s::jsonb) AS o (name text, fingerprint text, definition text)
ON CONFLICT ON CONSTRAINT managed_objects_unique DO UPDATE
    SET definition = excluded.definition, fingerprint = excluded.fingerprint,
        negmem_version = excluded.negmem_version, installed_by = excluded.installed_by, installed_at = now()
    WHERE m.definition IS DISTINCT FROM excluded.definition;

-- name: caller
-- params: role
-- returns: what the caller may do about roles; `inherits`: it may act as the owner's role without SET ROLE
SELECT r.rolsuper AS is_superuser, r.rolcreaterole AS may_create,
    COALESCE((SELECT pg_has_role(o.oid, 'USAGE') AND pg_has_role(o.oid, 'SET')
              FROM pg_roles AS o WHERE o.rolname = %(role)s::name), false) AS inherits,
    COALESCE((SELECT pg_has_role(o.oid, 'MEMBER WITH ADMIN OPTION')
              FROM pg_roles AS o WHERE o.rolname = %(role)s::name), false) AS may_grant
FROM pg_roles AS r WHERE r.rolname = current_user;

-- name: create_role
CREATE ROLE :"role" NOLOGIN;

-- name: comment_role
COMMENT ON ROLE :"role" IS :'comment';

-- name: join_owner
GRANT :"role" TO CURRENT_USER WITH INHERIT TRUE, SET TRUE;

-- name: join_owner_by_hand
GRANT :"role" TO :"member" WITH INHERIT TRUE, SET TRUE;

-- name: alter_role
ALTER ROLE :"role" :attributes;

-- name: leave_role
REVOKE :"other" FROM :"role";

-- name: own_schema
ALTER SCHEMA :"schema" OWNER TO :"role";

-- name: own_table
ALTER TABLE :"schema".:"name" OWNER TO :"role";

-- name: own_sequence
ALTER SEQUENCE :"schema".:"name" OWNER TO :"role";

-- name: own_function
ALTER FUNCTION :"schema".:"name"(:argument_types) OWNER TO :"role";

-- name: grant_schema
GRANT :privileges ON SCHEMA :"schema" TO :grantee;

-- name: grant_table
GRANT :privileges ON TABLE :"schema".:"name" TO :grantee;

-- name: grant_sequence
GRANT :privileges ON SEQUENCE :"schema".:"name" TO :grantee;

-- name: grant_function
GRANT :privileges ON FUNCTION :"schema".:"name"(:argument_types) TO :grantee;

-- name: grant_default
ALTER DEFAULT PRIVILEGES FOR ROLE :"role" IN SCHEMA :"schema" GRANT :privileges ON :kind TO :grantee;

-- name: revoke_schema
REVOKE :privileges ON SCHEMA :"schema" FROM :grantee CASCADE;

-- name: revoke_table
REVOKE :privileges ON TABLE :"schema".:"name" FROM :grantee CASCADE;

-- name: revoke_sequence
REVOKE :privileges ON SEQUENCE :"schema".:"name" FROM :grantee CASCADE;

-- name: revoke_function
REVOKE :privileges ON FUNCTION :"schema".:"name"(:argument_types) FROM :grantee CASCADE;

-- name: revoke_default
ALTER DEFAULT PRIVILEGES FOR ROLE :"role" IN SCHEMA :"schema" REVOKE :privileges ON :kind FROM :grantee;
ALTER DEFAULT PRIVILEGES FOR ROLE :"role" REVOKE :privileges ON :kind FROM :grantee;

-- name: grant_all_functions
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA :"schema" FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA :"schema" TO :grantee;

-- name: use_vector
GRANT USAGE ON SCHEMA :"vector_schema" TO :grantee;

-- name: vector_users
-- params: roles, vector_schema
-- returns: the roles that may not use the schema of pgvector
SELECT r.rolname::text AS role FROM pg_roles AS r
JOIN pg_namespace AS n ON n.nspname = %(vector_schema)s::name
WHERE r.rolname = ANY (%(roles)s::name[]) AND NOT has_schema_privilege(r.oid, n.oid, 'USAGE')
ORDER BY 1;

-- name: vector_grant
-- params: role, vector_schema
SELECT 1 AS one
FROM pg_namespace AS n
CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
WHERE n.nspname = %(vector_schema)s::name AND a.grantee <> 0
    AND pg_get_userbyid(a.grantee) = %(role)s::name;

-- name: held_elsewhere
-- params: role
-- returns: what else depends on a role: objects that it owns, grants to it, in this database and others
SELECT DISTINCT CASE
        WHEN s.deptype <> 'o' AND s.classid = 'pg_default_acl'::regclass THEN 'default privileges'
        WHEN s.deptype = 'o' THEN 'objects' ELSE 'grants' END AS what,
    COALESCE(d.datname::text, 'the cluster') AS place,
    s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AS is_here
FROM pg_shdepend AS s
LEFT JOIN pg_database AS d ON d.oid = s.dbid
WHERE s.refclassid = 'pg_authid'::regclass
    AND s.refobjid = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = %(role)s::name);

-- name: role_exists
-- params: role
SELECT 1 AS one FROM pg_roles AS r WHERE r.rolname = %(role)s::name;

-- name: forget_later
ALTER DEFAULT PRIVILEGES FOR ROLE :"role" GRANT EXECUTE ON FUNCTIONS TO PUBLIC;

-- name: leave_vector
REVOKE USAGE ON SCHEMA :"vector_schema" FROM :grantee;

-- name: drop_role
DROP ROLE :"role";
