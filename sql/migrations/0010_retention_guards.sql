-- Minimum age and importance enter the fading time, so that the sweep doesn't read what may not go yet.
-- lock: ACCESS EXCLUSIVE on users, for a moment (columns without a rewrite)
-- safe: before the code upgrade

ALTER TABLE :"schema".users
    ADD COLUMN fades_min_age integer,
    ADD COLUMN fades_importance double precision;
COMMENT ON COLUMN :"schema".users.fades_min_age IS 'min_age_days with which the fading times of this user were computed';
COMMENT ON COLUMN :"schema".users.fades_importance IS 'keep_importance with which they were computed';
COMMENT ON COLUMN :"schema".memories.fades_at IS 'when it may be forgotten: under the threshold and of the minimum age; infinity: never';
