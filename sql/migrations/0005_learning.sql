-- What an agent learns beside memories: namespaces, learned knowledge, entities, decisions, and the review
-- queue. (Profile is facts of type profile; user memory is memories with source observation.)
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade
--
-- Shareable tables begin with (owner_kind, owner): user + id, team + name, global + the empty name.

CREATE TABLE :"schema".namespaces (
    app_name varchar(255) COLLATE "C" NOT NULL,
    name varchar(255) COLLATE "C" NOT NULL,
    kind varchar(10) COLLATE "C" NOT NULL DEFAULT 'team',
    created_by text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_name, kind, name),
    CONSTRAINT namespaces_kind CHECK (kind IN ('user', 'team', 'global')),
    CONSTRAINT namespaces_named CHECK ((kind = 'global') = (name = ''))
);

CREATE TABLE :"schema".namespace_members (
    app_name varchar(255) COLLATE "C" NOT NULL,
    namespace varchar(255) COLLATE "C" NOT NULL,
    kind varchar(10) COLLATE "C" NOT NULL DEFAULT 'team',
    user_id varchar(255) COLLATE "C" NOT NULL,
    role varchar(10) NOT NULL DEFAULT 'reader',
    granted_by text,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, kind, namespace),
    CONSTRAINT namespace_members_role CHECK (role IN ('reader', 'writer', 'admin'))
);

CREATE TABLE :"schema".learnings (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    title text NOT NULL,
    learning text NOT NULL,
    context text,
    tags text[] NOT NULL DEFAULT '{}',
    body_hash bytea NOT NULL,
    written_by varchar(255),
    retention_score double precision NOT NULL DEFAULT 1.0,
    importance_score double precision NOT NULL DEFAULT 0.5,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz,
    pinned_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    metadata jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    CONSTRAINT learnings_owner CHECK (owner_kind IN ('user', 'team', 'global') AND (owner_kind = 'global') = (owner = ''))
);
CREATE UNIQUE INDEX learnings_body_unique ON :"schema".learnings (owner_kind, owner, app_name, body_hash) WHERE deleted_at IS NULL;

CREATE TABLE :"schema".entities (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    entity_id varchar(255) COLLATE "C" NOT NULL,
    entity_type varchar(64) NOT NULL,
    name text NOT NULL,
    description text,
    properties jsonb NOT NULL DEFAULT '{}',
    aliases text[] NOT NULL DEFAULT '{}',
    written_by varchar(255),
    importance_score double precision NOT NULL DEFAULT 0.5,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz,
    archived_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    metadata jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    CONSTRAINT entities_unique UNIQUE (owner_kind, owner, app_name, entity_type, entity_id),
    CONSTRAINT entities_owner CHECK (owner_kind IN ('user', 'team', 'global') AND (owner_kind = 'global') = (owner = ''))
);

CREATE TABLE :"schema".entity_facts (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    entity uuid NOT NULL,
    content text NOT NULL,
    confidence double precision NOT NULL DEFAULT 1.0,
    superseded_by uuid,
    superseded_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    written_by varchar(255),
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    FOREIGN KEY (owner_kind, owner, app_name, entity)
        REFERENCES :"schema".entities (owner_kind, owner, app_name, id) ON DELETE CASCADE
);
CREATE INDEX idx_entity_facts_entity ON :"schema".entity_facts (owner_kind, owner, app_name, entity);

CREATE TABLE :"schema".entity_events (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    entity uuid NOT NULL,
    content text NOT NULL,
    happened_at timestamptz,
    date_text text,
    date_precision varchar(10),
    deleted_at timestamptz,
    deleted_reason text,
    written_by varchar(255),
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    FOREIGN KEY (owner_kind, owner, app_name, entity)
        REFERENCES :"schema".entities (owner_kind, owner, app_name, id) ON DELETE CASCADE
);
CREATE INDEX idx_entity_events_entity ON :"schema".entity_events (owner_kind, owner, app_name, entity, happened_at DESC);

CREATE TABLE :"schema".entity_relations (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    source uuid NOT NULL,
    relation varchar(255) NOT NULL,
    target uuid NOT NULL,
    weight double precision NOT NULL DEFAULT 0.5,
    valid_from timestamptz,
    valid_until timestamptz,
    expired_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    written_by varchar(255),
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    CONSTRAINT entity_relations_unique UNIQUE (owner_kind, owner, app_name, source, relation, target),
    CONSTRAINT entity_relations_not_self CHECK (source <> target),
    FOREIGN KEY (owner_kind, owner, app_name, source)
        REFERENCES :"schema".entities (owner_kind, owner, app_name, id) ON DELETE CASCADE,
    FOREIGN KEY (owner_kind, owner, app_name, target)
        REFERENCES :"schema".entities (owner_kind, owner, app_name, id) ON DELETE CASCADE
);
CREATE INDEX idx_entity_relations_target ON :"schema".entity_relations (owner_kind, owner, app_name, target);

CREATE TABLE :"schema".shared_vectors (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    item_kind varchar(20) COLLATE "C" NOT NULL,
    item_id uuid NOT NULL,
    model_id smallint NOT NULL,
    live boolean NOT NULL DEFAULT true,
    bits bit varying NOT NULL,
    embedding :"vector_schema".halfvec NOT NULL,
    PRIMARY KEY (owner_kind, owner, app_name, item_kind, item_id, model_id),
    CONSTRAINT shared_vectors_kind CHECK (item_kind IN ('entity', 'learning'))
);
ALTER TABLE :"schema".shared_vectors ALTER COLUMN embedding SET STORAGE MAIN,
    ALTER COLUMN bits SET STORAGE MAIN;
CREATE INDEX idx_shared_vectors_bits ON :"schema".shared_vectors (owner_kind, owner, app_name, item_kind, model_id)
    INCLUDE (item_id, bits) WHERE live;

CREATE TABLE :"schema".shared_terms (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    item_kind varchar(20) COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    item_id uuid NOT NULL,
    tf smallint NOT NULL,
    len integer NOT NULL,
    PRIMARY KEY (owner_kind, owner, app_name, item_kind, term, item_id) INCLUDE (tf, len),
    CONSTRAINT shared_terms_kind CHECK (item_kind IN ('entity', 'learning'))
);

CREATE TABLE :"schema".shared_term_stats (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    item_kind varchar(20) COLLATE "C" NOT NULL,
    documents bigint NOT NULL DEFAULT 0,
    total_len bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (owner_kind, owner, app_name, item_kind)
) WITH (fillfactor = 50);

CREATE TABLE :"schema".shared_item_versions (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    item_kind varchar(20) COLLATE "C" NOT NULL,
    item_id uuid NOT NULL,
    version integer NOT NULL,
    before jsonb NOT NULL,
    reason text NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, item_kind, item_id, version)
);

CREATE TABLE :"schema".proposals (
    owner_kind varchar(10) COLLATE "C" NOT NULL,
    owner varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C",
    agent_id varchar(255),
    thread_id uuid,
    store varchar(20) NOT NULL,
    op varchar(20) NOT NULL,
    mode varchar(10) NOT NULL DEFAULT 'propose',
    target_id uuid,
    target_version integer,
    payload jsonb NOT NULL,
    evidence jsonb NOT NULL DEFAULT '[]',
    rationale text,
    confidence double precision,
    model varchar(255),
    prompt_version varchar(64),
    duplicates jsonb NOT NULL DEFAULT '[]',
    status varchar(10) NOT NULL DEFAULT 'pending',
    proposed_by text,
    decided_by text,
    decided_at timestamptz,
    reason text,
    applied_id uuid,
    expires_at timestamptz NOT NULL DEFAULT now() + interval '30 days',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_kind, owner, app_name, id),
    CONSTRAINT proposals_store CHECK (store IN ('profile', 'memory', 'entity', 'knowledge')),
    CONSTRAINT proposals_op CHECK (op IN ('add', 'update', 'delete', 'merge', 'supersede')),
    CONSTRAINT proposals_mode CHECK (mode IN ('propose', 'hitl')),
    CONSTRAINT proposals_status CHECK (status IN
        ('pending', 'approved', 'rejected', 'edited', 'expired', 'stale', 'applied', 'failed'))
);
CREATE INDEX idx_proposals_open ON :"schema".proposals (owner_kind, owner, app_name, created_at)
    WHERE status IN ('pending', 'edited', 'approved', 'stale');

CREATE TABLE :"schema".decisions (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    agent_id varchar(255),
    team_id varchar(255),
    thread_id uuid,
    decision text NOT NULL,
    reasoning text,
    decision_type varchar(64),
    context text,
    alternatives text[] NOT NULL DEFAULT '{}',
    confidence double precision,
    outcome text,
    outcome_quality varchar(10),
    tags text[] NOT NULL DEFAULT '{}',
    deleted_at timestamptz,
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT decisions_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT decisions_quality CHECK (outcome_quality IN ('good', 'bad', 'neutral')),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE SET NULL (thread_id)
);
CREATE INDEX idx_decisions_recent ON :"schema".decisions (user_id, app_name, created_at DESC);

CREATE TABLE :"schema".tool_calls (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    tool varchar(64) COLLATE "C" NOT NULL,
    window_start timestamptz NOT NULL,
    calls integer NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, app_name, tool, window_start)
);
COMMENT ON TABLE :"schema".tool_calls IS 'how often a user''s tools were called in a window: the rate limit';
