-- What recall, feedback and a change of the embedding model remember.
-- lock: ACCESS EXCLUSIVE on three small tables, for a moment (columns without a rewrite)
-- safe: before the code upgrade

ALTER TABLE :"schema".memory_preload_cache
    ADD COLUMN basis jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN details jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN expires_at timestamptz NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN :"schema".memory_preload_cache.basis IS 'preload_basis() when it was made: another one now, and it no longer holds';
COMMENT ON COLUMN :"schema".memory_preload_cache.details IS 'the items with their versions, what was left out, and the settings that it was made by';

ALTER TABLE :"schema".retrieval_feedback
    ADD COLUMN rating smallint CONSTRAINT retrieval_feedback_rating CHECK (rating BETWEEN 1 AND 5);
COMMENT ON COLUMN :"schema".retrieval_feedback.rating IS 'how good a person found the answer, 5 is best';

ALTER TABLE :"schema".embedding_models
    ADD COLUMN settings jsonb,
    ADD COLUMN retired_at timestamptz;
COMMENT ON COLUMN :"schema".embedding_models.settings IS 'the section embedding of the configuration it was made by, without secrets: searches go on with it while another is configured';
