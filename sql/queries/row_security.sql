-- Row-level security on request: what the catalog holds, and the statements that change it.

-- name: observed
-- params: schema
-- returns: every table with an owner in its rows, in order of name: whose (user or kind), on or off, forced, policies
-- The trail names persons by an HMAC, which no setting can be compared with; its grants keep all but the auditor out.
SELECT c.relname::text AS name,
    CASE WHEN bool_or(a.attname = 'owner_kind') THEN 'kind' ELSE 'user' END AS owner,
    c.relrowsecurity AS is_on, c.relforcerowsecurity AS is_forced,
    COALESCE((
        SELECT jsonb_agg(jsonb_build_object('name', p.polname, 'command', p.polcmd, 'permissive', p.polpermissive,
            'roles', ARRAY(SELECT CASE WHEN r.oid = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(r.oid)::text END
                           FROM unnest(p.polroles) AS r (oid) ORDER BY 1),
            'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))
            ORDER BY p.polname)
        FROM pg_policy AS p WHERE p.polrelid = c.oid), '[]') AS policies
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = %(schema)s::name
JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped AND a.attname IN ('user_id', 'owner_kind')
WHERE c.relkind IN ('r', 'p') AND c.relname <> 'memory_audit_logs'
GROUP BY c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity
ORDER BY c.relname;

-- name: requested
SELECT i.row_security_requested FROM :"schema".installation AS i;

-- name: request
-- params: wanted
UPDATE :"schema".installation AS i SET row_security_requested = %(wanted)s::boolean
WHERE i.row_security_requested <> %(wanted)s::boolean;

-- name: turn_on
ALTER TABLE :"schema".:"table" ENABLE ROW LEVEL SECURITY; ALTER TABLE :"schema".:"table" NO FORCE ROW LEVEL SECURITY;

-- name: turn_off
ALTER TABLE :"schema".:"table" DISABLE ROW LEVEL SECURITY; ALTER TABLE :"schema".:"table" NO FORCE ROW LEVEL SECURITY;

-- name: drop_policy
DROP POLICY IF EXISTS :"policy" ON :"schema".:"table";

-- name: user_own
CREATE POLICY negmem_own ON :"schema".:"table" FOR ALL TO :roles
    USING (user_id::text = current_setting('negmem.user_id', true))
    WITH CHECK (user_id::text = current_setting('negmem.user_id', true));

-- name: user_all
CREATE POLICY negmem_all ON :"schema".:"table" FOR SELECT TO :roles USING (true);

-- name: kind_own
-- What a member of a team may write, everybody what is the user's own or of the whole app.
CREATE POLICY negmem_own ON :"schema".:"table" FOR ALL TO :roles
    USING (owner_kind::text = 'global'::text OR CASE owner_kind::text
        WHEN 'user'::text THEN owner::text = current_setting('negmem.user_id', true)
        ELSE EXISTS (
            SELECT FROM :"schema".namespace_members m
            WHERE m.user_id::text = current_setting('negmem.user_id', true) AND m.app_name::text = :"table".app_name::text
                AND m.kind::text = owner_kind::text AND m.namespace::text = owner::text AND m.role::text <> 'reader'::text)
        END);

-- name: kind_read
CREATE POLICY negmem_read ON :"schema".:"table" FOR SELECT TO :roles
    USING (owner_kind::text = 'team'::text AND EXISTS (
        SELECT FROM :"schema".namespace_members m
        WHERE m.user_id::text = current_setting('negmem.user_id', true) AND m.app_name::text = :"table".app_name::text
            AND m.kind::text = owner_kind::text AND m.namespace::text = owner::text));

-- name: kind_all
CREATE POLICY negmem_all ON :"schema".:"table" FOR SELECT TO :roles USING (true);

-- name: person
-- params: user_id
-- Whose rows the statements of this transaction may see.
SELECT set_config('negmem.user_id', %(user_id)s::text, true);
