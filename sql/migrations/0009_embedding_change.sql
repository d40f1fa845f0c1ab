-- Who works at a change of the embedding model, so that two do not pay for the same texts.
-- lock: ACCESS EXCLUSIVE on a small table, for a moment (columns without a rewrite)
-- safe: before the code upgrade

ALTER TABLE :"schema".embedding_models
    ADD COLUMN lease_by text,
    ADD COLUMN lease_until timestamptz;
COMMENT ON COLUMN :"schema".embedding_models.lease_by IS 'host and process that embeds for this model, until lease_until unless it goes on';
