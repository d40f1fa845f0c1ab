-- Threads, events and memories: what was said, and what is kept of it.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade
--
-- Keys begin with user_id and carry app_name, so that one user's row can't point to another's, and the
-- tables can be partitioned or distributed by user_id as they are. Identifiers compare as bytes ("C"):
-- quick, and independent of the collation library's version.

CREATE TABLE :"schema".users (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    fades_threshold double precision,
    fades_lambda double precision,
    fades_next uuid,
    paused_at timestamptz,
    held_at timestamptz,
    hold_reason text,
    erasing_since timestamptz,
    PRIMARY KEY (user_id, app_name),
    CONSTRAINT users_named CHECK (user_id <> '' AND app_name <> '')
);
COMMENT ON TABLE :"schema".users IS 'whom an app knows; pause, legal hold, and the settings with which all fading times of this user were computed';
COMMENT ON COLUMN :"schema".users.fades_next IS 'where the recompute under these settings goes on; null: all of them are computed';

CREATE TABLE :"schema".threads (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    app_name varchar(255) COLLATE "C" NOT NULL,
    user_id varchar(255) COLLATE "C" NOT NULL,
    external_id text COLLATE "C" NOT NULL,
    state jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    metadata jsonb DEFAULT '{}',
    occurred_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT threads_app_user_unique PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT threads_external_unique UNIQUE (user_id, app_name, external_id),
    CONSTRAINT threads_named CHECK (user_id <> '' AND app_name <> '')
);
COMMENT ON COLUMN :"schema".threads.external_id IS 'the name that --thread and JSON show; unnamed threads take the hash of their first turn';
CREATE INDEX idx_threads_user_app ON :"schema".threads (user_id, app_name, updated_at DESC);
CREATE INDEX idx_threads_updated_at ON :"schema".threads (updated_at);

CREATE SEQUENCE :"schema".events_sequence_num_seq AS bigint;

CREATE TABLE :"schema".events (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    thread_id uuid NOT NULL,
    invocation_id uuid NOT NULL DEFAULT gen_random_uuid(),
    author varchar(255) NOT NULL,
    event_type varchar(50) NOT NULL DEFAULT 'message',
    content jsonb NOT NULL DEFAULT '{}',
    actions jsonb DEFAULT '{}',
    position integer NOT NULL,
    content_hash bytea NOT NULL,
    occurred_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    sequence_num bigint NOT NULL DEFAULT nextval(:'events_sequence'),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT events_turn_unique UNIQUE (user_id, app_name, thread_id, position, content_hash),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE CASCADE
);
ALTER SEQUENCE :"schema".events_sequence_num_seq OWNED BY :"schema".events.sequence_num;
COMMENT ON COLUMN :"schema".events.position IS 'place of the turn in its thread, from 1; a turn is (thread, position, content hash)';
CREATE INDEX idx_events_thread ON :"schema".events (user_id, app_name, thread_id, sequence_num DESC);

CREATE TABLE :"schema".memories (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    thread_id uuid,
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_type varchar(50) NOT NULL DEFAULT 'episodic',
    content text NOT NULL,
    metadata jsonb DEFAULT '{}',
    retention_score double precision NOT NULL DEFAULT 1.0,
    importance_score double precision NOT NULL DEFAULT 0.5,
    relevance_weight double precision NOT NULL DEFAULT 1.0,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz DEFAULT now(),
    occurred_at timestamptz,
    position integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    fades_at timestamptz NOT NULL DEFAULT 'infinity',
    fades_basis bigint,
    due_at timestamptz NOT NULL GENERATED ALWAYS AS (
        CASE WHEN fades_basis = hash_record_extended(
                ROW(access_count, last_accessed_at, created_at, memory_type, metadata -> 'decay_override'), 0)
            THEN fades_at ELSE '-infinity' END) STORED,
    pinned_at timestamptz,
    deleted_at timestamptz,
    deleted_reason text,
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT memories_named CHECK (user_id <> '' AND app_name <> ''),
    CONSTRAINT memories_content_not_blank CHECK (content <> ''),
    FOREIGN KEY (user_id, app_name, thread_id)
        REFERENCES :"schema".threads (user_id, app_name, id) ON DELETE SET NULL (thread_id)
);
COMMENT ON COLUMN :"schema".memories.created_at IS 'when negmem stored it; drives retention';
COMMENT ON COLUMN :"schema".memories.occurred_at IS 'when it was said; drives dates in contexts, time filters and temporal search';
COMMENT ON COLUMN :"schema".memories.retention_score IS 'the score at the last write or access; readers call calculate_retention_score() at now()';
COMMENT ON COLUMN :"schema".memories.fades_at IS 'when the score falls under the threshold; infinity: never';
COMMENT ON COLUMN :"schema".memories.fades_basis IS 'hash of what fades_at was computed from: retention_basis()';
COMMENT ON COLUMN :"schema".memories.due_at IS 'when the sweep looks at the row: when it fades, or at once where it was changed without its fading time';
COMMENT ON COLUMN :"schema".memories.position IS 'place of the turn in its thread, where the memory is a turn';
CREATE INDEX idx_memories_user_app ON :"schema".memories (user_id, app_name, created_at DESC) WHERE deleted_at IS NULL;
CREATE INDEX idx_memories_thread ON :"schema".memories (user_id, app_name, thread_id, position);
CREATE INDEX idx_memories_due ON :"schema".memories (user_id, app_name, due_at) WHERE deleted_at IS NULL AND pinned_at IS NULL;
CREATE INDEX idx_memories_reweighted ON :"schema".memories (user_id, app_name) WHERE relevance_weight <> 1;
CREATE INDEX idx_memories_deleted ON :"schema".memories (user_id, app_name, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE :"schema".memory_versions (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    version integer NOT NULL,
    before jsonb NOT NULL,
    reason text NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, memory_id, version),
    FOREIGN KEY (user_id, app_name, memory_id)
        REFERENCES :"schema".memories (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".memory_versions IS 'what a memory said before each change by hand or by a merge';

CREATE TABLE :"schema".item_sources (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    item_kind varchar(20) NOT NULL,
    item_id uuid NOT NULL,
    event_id uuid NOT NULL,
    run_id uuid,
    extractor varchar(64) NOT NULL,
    model varchar(255),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, item_id, event_id),
    CONSTRAINT item_sources_kind CHECK (item_kind IN
        ('memory', 'fact', 'summary', 'association', 'core_block', 'entity', 'entity_fact', 'entity_event',
         'entity_relation', 'learning', 'decision', 'proposal')),
    FOREIGN KEY (user_id, app_name, event_id)
        REFERENCES :"schema".events (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".item_sources IS 'provenance: from which event, by which run, extractor and model an item came; cascades follow it';
CREATE INDEX idx_item_sources_event ON :"schema".item_sources (user_id, app_name, event_id);

CREATE TABLE :"schema".memory_pii (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    kind varchar(40) NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    score double precision NOT NULL,
    engine varchar(40) NOT NULL,
    content_version integer NOT NULL,
    PRIMARY KEY (user_id, app_name, memory_id, span_start, span_end, kind),
    FOREIGN KEY (user_id, app_name, memory_id)
        REFERENCES :"schema".memories (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".memory_pii IS 'where personal data stands in a memory: offsets, never the text';
