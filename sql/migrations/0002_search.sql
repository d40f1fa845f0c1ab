-- Vectors and search terms, in narrow tables of their own: what every search changes must not live in a
-- row that such indexes carry.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade

CREATE TABLE :"schema".embedding_models (
    app_name varchar(255) COLLATE "C" NOT NULL,
    id smallint NOT NULL,
    provider varchar(64) NOT NULL,
    model varchar(255) NOT NULL,
    version varchar(64) NOT NULL,
    dims integer NOT NULL,
    status varchar(20) NOT NULL DEFAULT 'active',
    calibration jsonb NOT NULL DEFAULT '{}',
    mean :"vector_schema".vector,
    created_at timestamptz NOT NULL DEFAULT now(),
    activated_at timestamptz,
    PRIMARY KEY (app_name, id),
    CONSTRAINT embedding_models_unique UNIQUE (app_name, provider, model, version, dims),
    CONSTRAINT embedding_models_status CHECK (status IN ('active', 'building', 'retired')),
    CONSTRAINT embedding_models_dims CHECK (dims BETWEEN 1 AND 16000)
);
CREATE UNIQUE INDEX embedding_models_one_active ON :"schema".embedding_models (app_name) WHERE status = 'active';
COMMENT ON COLUMN :"schema".embedding_models.mean IS 'mean vector of the model: sign bits are taken of the centred vector';

CREATE TABLE :"schema".memory_vectors (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    model_id smallint NOT NULL,
    live boolean NOT NULL DEFAULT true,
    bits bit varying NOT NULL,
    embedding :"vector_schema".halfvec NOT NULL,
    PRIMARY KEY (user_id, app_name, memory_id, model_id),
    FOREIGN KEY (user_id, app_name, memory_id)
        REFERENCES :"schema".memories (user_id, app_name, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE :"schema".memory_vectors ALTER COLUMN embedding SET STORAGE MAIN,
    ALTER COLUMN bits SET STORAGE MAIN;
COMMENT ON COLUMN :"schema".memory_vectors.live IS 'false while the memory is soft-deleted: such rows leave the index';
CREATE INDEX idx_memory_vectors_bits ON :"schema".memory_vectors (user_id, app_name, model_id)
    INCLUDE (memory_id, bits) WHERE live;

CREATE TABLE :"schema".memory_terms (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    tf smallint NOT NULL,
    len integer NOT NULL,
    PRIMARY KEY (user_id, app_name, term, memory_id) INCLUDE (tf, len)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE :"schema".memory_terms IS 'postings of live memories, for BM25; no foreign key: writers and deleters keep it by statement';

CREATE TABLE :"schema".memory_term_stats (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    documents bigint NOT NULL DEFAULT 0,
    total_len bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, app_name)
) WITH (fillfactor = 50);
COMMENT ON TABLE :"schema".memory_term_stats IS 'how many live memories of a user are indexed, and their total length in terms';

CREATE TABLE :"schema".memory_retrieval_logs (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    thread_id uuid,
    query text NOT NULL,
    retrieved_memory_ids uuid[] NOT NULL,
    retrieved_fact_ids uuid[],
    items jsonb NOT NULL DEFAULT '[]',
    search_level varchar(20),
    fallbacks jsonb NOT NULL DEFAULT '[]',
    latency_ms double precision,
    budget_tokens integer,
    used_tokens integer,
    was_referenced boolean,
    reference_count integer DEFAULT 0,
    outcome_feedback varchar(50),
    counted boolean NOT NULL DEFAULT true,
    applied_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id)
);
COMMENT ON COLUMN :"schema".memory_retrieval_logs.counted IS 'false for a repeat or a page of the same query within a minute';
COMMENT ON COLUMN :"schema".memory_retrieval_logs.applied_at IS 'when its accesses were added to the memories; null: still queued';
CREATE INDEX ix_memory_retrieval_logs_user_app ON :"schema".memory_retrieval_logs (user_id, app_name, created_at);
CREATE INDEX ix_memory_retrieval_logs_queued ON :"schema".memory_retrieval_logs (app_name, created_at) WHERE applied_at IS NULL;

CREATE TABLE :"schema".retrieval_feedback (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    retrieval_id uuid NOT NULL,
    outcome varchar(20) NOT NULL,
    memory_ids uuid[] NOT NULL DEFAULT '{}',
    used_ids uuid[] NOT NULL DEFAULT '{}',
    given_by text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT retrieval_feedback_outcome CHECK (outcome IN ('helpful', 'irrelevant', 'harmful')),
    FOREIGN KEY (user_id, app_name, retrieval_id)
        REFERENCES :"schema".memory_retrieval_logs (user_id, app_name, id) ON DELETE CASCADE
);
CREATE INDEX idx_retrieval_feedback_retrieval ON :"schema".retrieval_feedback (user_id, app_name, retrieval_id);
