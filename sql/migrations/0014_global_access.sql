-- What users may do in the namespace global without a grant, so that functions called from SQL keep to it too.
-- lock: ACCESS EXCLUSIVE on memory_automation_configs for a moment; no row is read or written
-- safe: before or after the code upgrade

ALTER TABLE :"schema".memory_automation_configs
    ADD COLUMN global_access varchar(10)
        CONSTRAINT memory_automation_configs_access CHECK (global_access IN ('write', 'read', 'members'));
COMMENT ON COLUMN :"schema".memory_automation_configs.global_access IS 'learning.global_access as sync found it declared; null: write';
