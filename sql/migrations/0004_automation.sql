-- The stored configuration with its history, what negmem put into the database, and the runs of its jobs.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade
--
-- These tables are not owned by a user: they are locked row by row and stay on one node.

CREATE TABLE :"schema".installation (
    single boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (single),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL DEFAULT session_user,
    erasure_key bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')),
    roles_requested boolean NOT NULL DEFAULT false,
    row_security_requested boolean NOT NULL DEFAULT false
);
COMMENT ON COLUMN :"schema".installation.erasure_key IS 'one key of the installation: erased persons are listed as HMAC under it';

CREATE TABLE :"schema".memory_automation_configs (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    app_name varchar(255) COLLATE "C" NOT NULL UNIQUE,
    config jsonb NOT NULL DEFAULT '{}',
    is_main boolean NOT NULL DEFAULT false,
    revision integer NOT NULL DEFAULT 1,
    applied_yaml_hash text,
    applied_config_hash text,
    applied_at timestamptz,
    updated_by varchar(255),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE :"schema".memory_automation_configs IS 'one row an app; what stands here is what runs';
CREATE UNIQUE INDEX memory_automation_configs_one_main ON :"schema".memory_automation_configs (is_main) WHERE is_main;

CREATE TABLE :"schema".memory_automation_config_history (
    app_name varchar(255) COLLATE "C" NOT NULL,
    revision integer NOT NULL,
    config jsonb NOT NULL,
    changed_keys text[] NOT NULL DEFAULT '{}',
    changed_by text NOT NULL,
    reason text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_name, revision)
);

CREATE TABLE :"schema".managed_objects (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    kind varchar(20) NOT NULL,
    name text NOT NULL,
    app_name varchar(255) COLLATE "C",
    database_name text NOT NULL DEFAULT current_database(),
    owner_name text NOT NULL DEFAULT current_user,
    job_id bigint,
    fingerprint text NOT NULL,
    definition text NOT NULL,
    negmem_version varchar(64) NOT NULL,
    installed_by text NOT NULL DEFAULT session_user,
    installed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT managed_objects_unique UNIQUE NULLS NOT DISTINCT (kind, name, app_name),
    CONSTRAINT managed_objects_kind CHECK (kind IN ('function', 'job', 'index', 'role', 'grant', 'extension'))
);
COMMENT ON TABLE :"schema".managed_objects IS 'what negmem put into the database and therefore may change or remove; all else is shown and left alone';

CREATE TABLE :"schema".replaced_definitions (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    kind varchar(20) NOT NULL,
    name text NOT NULL,
    definition text NOT NULL,
    reason text NOT NULL,
    replaced_by text NOT NULL DEFAULT session_user,
    replaced_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE :"schema".replaced_definitions IS 'the text of hand-edited objects that were overwritten on request';

CREATE TABLE :"schema".automation_runs (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    job varchar(64) NOT NULL,
    app_name varchar(255) COLLATE "C",
    source varchar(20) NOT NULL DEFAULT 'manual',
    status varchar(20) NOT NULL DEFAULT 'running',
    rows_touched bigint,
    message text,
    started_by text NOT NULL DEFAULT session_user,
    backend_pid integer NOT NULL DEFAULT pg_backend_pid(),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    CONSTRAINT automation_runs_status CHECK (status IN ('running', 'succeeded', 'failed', 'skipped', 'cancelled')),
    CONSTRAINT automation_runs_source CHECK (source IN ('manual', 'pg_cron', 'scheduler', 'external'))
);
CREATE INDEX idx_automation_runs_recent ON :"schema".automation_runs (job, started_at DESC);

CREATE TABLE :"schema".scheduler_leader (
    single boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (single),
    instance uuid NOT NULL,
    host text NOT NULL,
    process_id integer NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    beat_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz NOT NULL
);
COMMENT ON TABLE :"schema".scheduler_leader IS 'the one built-in scheduler that leads, and its heartbeat';

CREATE TABLE :"schema".benchmark_runs (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    kind varchar(20) NOT NULL,
    dataset varchar(64),
    data_hash text,
    config jsonb NOT NULL DEFAULT '{}',
    versions jsonb NOT NULL DEFAULT '{}',
    metrics jsonb NOT NULL DEFAULT '{}',
    seed bigint,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);
