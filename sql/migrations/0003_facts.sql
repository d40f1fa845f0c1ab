-- Facts with their versions, conflicts, associations, summaries, core blocks, instructions, the cache of
-- proactive recall, and the queue that forms them.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade

CREATE TABLE :"schema".facts (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    thread_id uuid,
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    fact_type varchar(50) NOT NULL DEFAULT 'preference',
    key varchar(255) NOT NULL,
    value jsonb NOT NULL,
    confidence double precision NOT NULL DEFAULT 1.0,
    importance_score double precision NOT NULL DEFAULT 0.5,
    origin varchar(20) NOT NULL DEFAULT 'extracted',
    valid_from timestamptz DEFAULT now(),
    valid_until timestamptz,
    superseded_by uuid,
    status varchar(20) NOT NULL DEFAULT 'active',
    superseded_at timestamptz,
    expired_at timestamptz,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz,
    pinned_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    metadata jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT facts_named CHECK (user_id <> '' AND app_name <> ''),
    CONSTRAINT facts_status CHECK (status IN ('active', 'superseded')),
    CONSTRAINT facts_origin CHECK (origin IN ('manual', 'extracted')),
    CONSTRAINT facts_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT facts_not_own_successor CHECK (superseded_by IS DISTINCT FROM id),
    CONSTRAINT fk_facts_superseded_by FOREIGN KEY (user_id, app_name, superseded_by)
        REFERENCES :"schema".facts (user_id, app_name, id) ON DELETE SET NULL (superseded_by),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE SET NULL (thread_id)
);
COMMENT ON TABLE :"schema".facts IS 'bi-temporal: valid_from/valid_until is when it was true, created_at/expired_at when we believed it';
CREATE UNIQUE INDEX facts_user_key_unique ON :"schema".facts (user_id, app_name, fact_type, key)
    WHERE status = 'active' AND valid_until IS NULL AND deleted_at IS NULL;
CREATE INDEX idx_facts_user_app ON :"schema".facts (user_id, app_name, fact_type, key, created_at DESC);
CREATE INDEX idx_facts_superseded_by ON :"schema".facts (user_id, app_name, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_facts_thread ON :"schema".facts (user_id, app_name, thread_id) WHERE thread_id IS NOT NULL;

CREATE TABLE :"schema".fact_vectors (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    fact_id uuid NOT NULL,
    model_id smallint NOT NULL,
    live boolean NOT NULL DEFAULT true,
    bits bit varying NOT NULL,
    embedding :"vector_schema".halfvec NOT NULL,
    PRIMARY KEY (user_id, app_name, fact_id, model_id),
    FOREIGN KEY (user_id, app_name, fact_id)
        REFERENCES :"schema".facts (user_id, app_name, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
ALTER TABLE :"schema".fact_vectors ALTER COLUMN embedding SET STORAGE MAIN,
    ALTER COLUMN bits SET STORAGE MAIN;
CREATE INDEX idx_fact_vectors_bits ON :"schema".fact_vectors (user_id, app_name, model_id)
    INCLUDE (fact_id, bits) WHERE live;

CREATE TABLE :"schema".fact_terms (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    fact_id uuid NOT NULL,
    tf smallint NOT NULL,
    len integer NOT NULL,
    PRIMARY KEY (user_id, app_name, term, fact_id) INCLUDE (tf, len)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);

CREATE TABLE :"schema".fact_term_stats (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    documents bigint NOT NULL DEFAULT 0,
    total_len bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, app_name)
) WITH (fillfactor = 50);

CREATE TABLE :"schema".memory_conflicts (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    old_fact_id uuid,
    new_fact_id uuid,
    conflict_type varchar(50) NOT NULL DEFAULT 'contradiction',
    resolution varchar(50) NOT NULL DEFAULT 'supersede',
    status varchar(20) NOT NULL DEFAULT 'resolved',
    confidence_delta double precision,
    detected_by varchar(50) NOT NULL DEFAULT 'key_collision',
    metadata jsonb NOT NULL DEFAULT '{}',
    resolved_by text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT memory_conflicts_type CHECK (conflict_type IN ('contradiction', 'temporal_update', 'refinement')),
    CONSTRAINT memory_conflicts_resolution CHECK (resolution IN ('supersede', 'keep_both', 'merge', 'keep_old', 'keep_new')),
    FOREIGN KEY (user_id, app_name, old_fact_id)
        REFERENCES :"schema".facts (user_id, app_name, id) ON DELETE SET NULL (old_fact_id),
    FOREIGN KEY (user_id, app_name, new_fact_id)
        REFERENCES :"schema".facts (user_id, app_name, id) ON DELETE CASCADE
);
CREATE INDEX ix_memory_conflicts_user_app ON :"schema".memory_conflicts (user_id, app_name, created_at);
CREATE INDEX ix_memory_conflicts_old ON :"schema".memory_conflicts (user_id, app_name, old_fact_id);
CREATE INDEX ix_memory_conflicts_new ON :"schema".memory_conflicts (user_id, app_name, new_fact_id);

CREATE TABLE :"schema".memory_associations (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    source_id uuid NOT NULL,
    source_type varchar(20) NOT NULL DEFAULT 'memory',
    target_id uuid NOT NULL,
    target_type varchar(20) NOT NULL DEFAULT 'memory',
    association_type varchar(50) NOT NULL DEFAULT 'semantic',
    weight double precision NOT NULL DEFAULT 0.5,
    metadata jsonb NOT NULL DEFAULT '{}',
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    valid_from timestamptz,
    valid_until timestamptz,
    expired_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT assoc_unique UNIQUE (user_id, app_name, source_id, target_id, association_type),
    CONSTRAINT memory_associations_ends CHECK (source_type IN ('memory', 'fact', 'entity')
        AND target_type IN ('memory', 'fact', 'entity') AND source_id <> target_id),
    CONSTRAINT memory_associations_weight CHECK (weight BETWEEN 0 AND 1)
);
CREATE INDEX ix_memory_assoc_target ON :"schema".memory_associations (user_id, app_name, target_id, association_type);

CREATE TABLE :"schema".memory_summaries (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    summary_type varchar(50) NOT NULL DEFAULT 'user_profile',
    thread_id uuid,
    content text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}',
    token_count integer,
    source_memory_count integer,
    source_fact_count integer,
    model_used varchar(255),
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT memory_summaries_user_type_unique UNIQUE NULLS NOT DISTINCT (user_id, app_name, summary_type, thread_id),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON COLUMN :"schema".memory_summaries.thread_id IS 'set for summary_type session: the context of one thread';

CREATE TABLE :"schema".memory_core_blocks (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    owner_kind varchar(10) COLLATE "C" NOT NULL DEFAULT 'user',
    owner varchar(255) COLLATE "C" NOT NULL,
    user_id varchar(255) COLLATE "C",
    app_name varchar(255) COLLATE "C" NOT NULL,
    scope varchar(20) NOT NULL DEFAULT 'user',
    thread_id uuid,
    label varchar(64) NOT NULL DEFAULT 'persona',
    content text NOT NULL,
    token_count integer,
    version integer NOT NULL DEFAULT 1,
    updated_by varchar(64),
    metadata jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    CONSTRAINT memory_core_blocks_unique UNIQUE NULLS NOT DISTINCT (owner_kind, owner, app_name, scope, thread_id, label),
    CONSTRAINT memory_core_blocks_scope_check CHECK (scope IN ('user', 'app', 'thread')),
    CONSTRAINT memory_core_blocks_owner CHECK (
        (scope = 'app' AND owner_kind = 'global' AND owner = '' AND user_id IS NULL AND thread_id IS NULL)
        OR (scope = 'user' AND owner_kind = 'user' AND owner = user_id AND thread_id IS NULL)
        OR (scope = 'thread' AND owner_kind = 'user' AND owner = user_id AND thread_id IS NOT NULL)),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".memory_core_blocks IS 'always in context; app-wide blocks belong to the app, not to a user';

CREATE TABLE :"schema".instructions (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    app_name varchar(255) COLLATE "C" NOT NULL,
    instruction_key varchar(255) NOT NULL,
    content text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    metadata jsonb DEFAULT '{}',
    created_by text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_name, id),
    CONSTRAINT instructions_app_key_version_unique UNIQUE (app_name, instruction_key, version)
);

CREATE TABLE :"schema".memory_preload_cache (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    preload_context text NOT NULL,
    memory_ids uuid[] NOT NULL,
    fact_ids uuid[] DEFAULT '{}',
    token_count integer,
    relevance_basis varchar(50) NOT NULL DEFAULT 'importance_recency',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT preload_cache_user_app_unique PRIMARY KEY (user_id, app_name)
);

CREATE TABLE :"schema".consolidation_jobs (
    id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    thread_id uuid,
    status varchar(20) NOT NULL DEFAULT 'pending',
    job_type varchar(50) NOT NULL,
    payload jsonb NOT NULL DEFAULT '{}',
    result jsonb DEFAULT '{}',
    error text,
    attempts integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL DEFAULT 5,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    locked_by text,
    lease_until timestamptz,
    started_at timestamptz,
    completed_at timestamptz,
    parked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT consolidation_jobs_status CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    CONSTRAINT consolidation_jobs_type CHECK (job_type IN ('fast_replay', 'deep_reflection', 'full_consolidation'))
);
COMMENT ON TABLE :"schema".consolidation_jobs IS 'the queue; locked row by row, so it has no foreign key to a user-owned table';
CREATE UNIQUE INDEX consolidation_jobs_open_unique ON :"schema".consolidation_jobs (user_id, app_name, thread_id, job_type)
    NULLS NOT DISTINCT WHERE status IN ('pending', 'running');
CREATE INDEX idx_consolidation_jobs_pending ON :"schema".consolidation_jobs (next_attempt_at, created_at) WHERE status = 'pending';
CREATE INDEX idx_consolidation_jobs_lease ON :"schema".consolidation_jobs (lease_until) WHERE status = 'running';
CREATE INDEX idx_consolidation_jobs_thread ON :"schema".consolidation_jobs (user_id, app_name, thread_id, created_at DESC);
