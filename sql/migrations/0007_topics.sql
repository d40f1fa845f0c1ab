-- Topics of a user's memories, and which step of formation has seen which memory.
-- lock: none on existing tables (creates new ones)
-- safe: before or after the code upgrade

CREATE TABLE :"schema".memory_topics (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    label varchar(255) NOT NULL DEFAULT 'topic',
    model_id smallint NOT NULL,
    centroid :"vector_schema".vector NOT NULL,
    member_count integer NOT NULL DEFAULT 1,
    labelled_at_count integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, id),
    CONSTRAINT memory_topics_named CHECK (user_id <> '' AND app_name <> ''),
    CONSTRAINT memory_topics_members CHECK (member_count >= 0)
);
COMMENT ON TABLE :"schema".memory_topics IS 'groups of similar memories; an id stays while members come and go';
COMMENT ON COLUMN :"schema".memory_topics.centroid IS 'mean of the members'' vectors, of the model model_id; not unit length';
COMMENT ON COLUMN :"schema".memory_topics.labelled_at_count IS 'how many members it had when its label was made';

CREATE TABLE :"schema".memory_topic_members (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    topic_id uuid NOT NULL,
    similarity double precision NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, memory_id),
    FOREIGN KEY (user_id, app_name, memory_id)
        REFERENCES :"schema".memories (user_id, app_name, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, app_name, topic_id)
        REFERENCES :"schema".memory_topics (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".memory_topic_members IS 'the one topic of a memory; similarity to its centre when it joined, calibrated, 0..1';
CREATE INDEX idx_memory_topic_members_topic ON :"schema".memory_topic_members (user_id, app_name, topic_id);

CREATE TABLE :"schema".memory_formation (
    user_id varchar(255) COLLATE "C" NOT NULL,
    app_name varchar(255) COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    step varchar(64) COLLATE "C" NOT NULL,
    content_version integer NOT NULL,
    done_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, app_name, memory_id, step),
    FOREIGN KEY (user_id, app_name, memory_id)
        REFERENCES :"schema".memories (user_id, app_name, id) ON DELETE CASCADE
);
COMMENT ON TABLE :"schema".memory_formation IS 'which step has done its work on a memory, and on which version of it: a step that was killed goes on there';
