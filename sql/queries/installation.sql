-- What `init` records besides the schema itself.

-- name: installation
INSERT INTO :"schema".installation (single) VALUES (true) ON CONFLICT (single) DO NOTHING;

-- name: app_config
-- params: app_name, config, updated_by
-- returns: a row when the app is new here; the first app of a database is its main one
WITH added AS (
    -- A row that somebody deleted has left its history: revisions go on from there.
    INSERT INTO :"schema".memory_automation_configs (app_name, config, is_main, updated_by, revision)
    SELECT %(app_name)s::varchar, %(config)s::jsonb,
        NOT EXISTS (SELECT 1 FROM :"schema".memory_automation_configs AS c WHERE c.is_main),
        %(updated_by)s::text,
        1 + COALESCE((SELECT max(h.revision) FROM :"schema".memory_automation_config_history AS h
                      WHERE h.app_name = %(app_name)s::varchar), 0)
    ON CONFLICT (app_name) DO NOTHING
    RETURNING app_name, revision, config, is_main
),
history AS (
    INSERT INTO :"schema".memory_automation_config_history
        (app_name, revision, config, changed_by, reason)
    SELECT a.app_name, a.revision, a.config, %(updated_by)s::text, 'init'
    FROM added AS a
)
SELECT app_name, is_main FROM added;

-- name: main_config
-- returns: the stored config of the main app
SELECT app_name, config, revision FROM :"schema".memory_automation_configs WHERE is_main;

-- name: active_model
-- params: app_name
SELECT id, provider, model, version, dims, calibration
FROM :"schema".embedding_models
WHERE app_name = %(app_name)s::varchar AND status = 'active';

-- name: register_model
-- params: app_name, provider, model, version, dims, calibration, mean
-- The first model of an app becomes its active one; later ones are an online change of their own.
INSERT INTO :"schema".embedding_models
    (app_name, id, provider, model, version, dims, status, calibration, mean, activated_at)
SELECT %(app_name)s::varchar,
    COALESCE((SELECT max(m.id) FROM :"schema".embedding_models AS m WHERE m.app_name = %(app_name)s::varchar), 0) + 1,
    %(provider)s::text, %(model)s::text, %(version)s::text, %(dims)s::integer, 'active',
    %(calibration)s::jsonb, %(mean)s::real[]:::"vector_schema".vector, now()
WHERE NOT EXISTS (SELECT 1 FROM :"schema".embedding_models AS m
                  WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active')
ON CONFLICT DO NOTHING;

-- name: reach
-- params: schema
-- returns: what stands in the schema, with estimated rows
SELECT c.relname::text AS name, c.relkind::text AS kind, greatest(c.reltuples, 0)::bigint AS rows
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY c.relname;

-- name: functions_count
-- params: schema
SELECT count(*)::integer AS functions
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = %(schema)s::name;

-- name: outside_dependents
-- params: schema
-- returns: what stands elsewhere and needs a table, function or type of this schema: views, foreign keys, defaults,
--   checks, triggers, policies, functions. It would go with a CASCADE
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) AS dependent
FROM (
    SELECT 'pg_class'::regclass AS classid, c.oid AS objid, c.relnamespace AS nsp FROM pg_class AS c
    UNION ALL SELECT 'pg_proc'::regclass, p.oid, p.pronamespace FROM pg_proc AS p
    UNION ALL SELECT 'pg_type'::regclass, t.oid, t.typnamespace FROM pg_type AS t
) AS ours
JOIN pg_namespace AS n ON n.oid = ours.nsp AND n.nspname = %(schema)s::name
JOIN pg_depend AS d ON d.refclassid = ours.classid AND d.refobjid = ours.objid AND d.deptype IN ('n', 'a')
LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
LEFT JOIN pg_attrdef AS a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
LEFT JOIN pg_constraint AS k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
LEFT JOIN pg_trigger AS t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
LEFT JOIN pg_policy AS p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid
LEFT JOIN pg_class AS holder
    ON holder.oid = COALESCE(r.ev_class, a.adrelid, NULLIF(k.conrelid, 0), t.tgrelid, p.polrelid)
LEFT JOIN pg_namespace AS place ON place.oid = holder.relnamespace
CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) AS named
WHERE COALESCE(quote_ident(place.nspname), named.schema) IS DISTINCT FROM quote_ident(%(schema)s::text)
ORDER BY 1;

-- name: may_remove
-- params: schema, roles
-- returns: whose the schema is, whether this role may drop it with all that stands in it, and which of the roles it
--   may not drop
SELECT quote_ident(current_user) AS role, quote_ident(pg_get_userbyid(n.nspowner)) AS owner,
    pg_has_role(n.nspowner, 'USAGE') AS may_drop,
    ARRAY(SELECT r.rolname::text FROM pg_roles AS r
          JOIN pg_roles AS me ON me.rolname = current_user
          WHERE r.rolname = ANY (%(roles)s::name[]) AND NOT me.rolsuper
              AND NOT (me.rolcreaterole AND pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION'))
          ORDER BY 1) AS kept_roles
FROM pg_namespace AS n
WHERE n.nspname = %(schema)s::name;

-- name: drop_schema
-- Only after outside_dependents came back empty: then CASCADE reaches nothing but the schema itself.
DROP SCHEMA :"schema" CASCADE;
