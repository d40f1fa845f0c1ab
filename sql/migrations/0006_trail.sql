-- The audit trail: append-only, chained, and without a readable person.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade

CREATE TABLE :"schema".memory_audit_logs (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    app_name varchar(255) COLLATE "C" NOT NULL,
    user_id varchar(255) COLLATE "C" NOT NULL,
    memory_id varchar(255) COLLATE "C" NOT NULL,
    decision varchar(20) NOT NULL,
    note text,
    idempotency_key varchar(255),
    actor text NOT NULL,
    actor_verified boolean NOT NULL DEFAULT false,
    version integer NOT NULL DEFAULT 1,
    sequence bigint NOT NULL,
    previous_hash bytea NOT NULL,
    entry_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memory_audit_logs_chain UNIQUE (app_name, sequence),
    CONSTRAINT memory_audit_logs_version UNIQUE (app_name, user_id, memory_id, version),
    CONSTRAINT memory_audit_logs_idempotency_unique UNIQUE (app_name, user_id, memory_id, idempotency_key)
);
COMMENT ON TABLE :"schema".memory_audit_logs IS 'written by record_audit_entries() alone; user_id is an HMAC under the person''s key; note, key and actor are salted hashes';
CREATE INDEX idx_memory_audit_logs_history ON :"schema".memory_audit_logs (app_name, user_id, created_at DESC);

CREATE TABLE :"schema".audit_details (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    log_id uuid NOT NULL,
    salt bytea NOT NULL,
    note text,
    idempotency_key text,
    actor text NOT NULL,
    PRIMARY KEY (user_id, app_name, log_id)
);
COMMENT ON TABLE :"schema".audit_details IS 'the readable side of the trail; erasing a person empties it';

CREATE TABLE :"schema".audit_keys (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name)
);
COMMENT ON TABLE :"schema".audit_keys IS 'one key a person; without it the trail names nobody';

CREATE TABLE :"schema".audit_requests (
    app_name varchar(255) COLLATE "C" NOT NULL,
    user_id varchar(255) COLLATE "C" NOT NULL,
    idempotency_key varchar(255) NOT NULL,
    request_hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, idempotency_key)
);
COMMENT ON TABLE :"schema".audit_requests IS 'which set of decisions an idempotency key stood for: the same key with another set is refused';

CREATE TABLE :"schema".erased_persons (
    app_name varchar(255) COLLATE "C" NOT NULL,
    person_hmac bytea NOT NULL,
    certificate jsonb NOT NULL DEFAULT '{}',
    erased_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_name, person_hmac)
);
COMMENT ON TABLE :"schema".erased_persons IS 'HMAC under the installation''s key: lets a restored database be erased again';
