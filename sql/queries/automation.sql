-- What `sync` remembers of a config it applied, and the jobs' commands.

-- name: applied
-- params: app_name
-- returns: the hash of the YAML that was applied last, and the stored config as it was then
SELECT c.applied_yaml_hash, c.applied_at,
    (SELECT h.config
     FROM :"schema".memory_automation_config_history AS h
     WHERE h.app_name = c.app_name AND (h.changed_at <= c.applied_at OR c.applied_at IS NULL)
     ORDER BY CASE WHEN c.applied_at IS NULL THEN h.revision ELSE -h.revision END
     LIMIT 1) AS base
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar;

-- name: remember_applied
-- params: app_name, yaml_hash, config_hash
UPDATE :"schema".memory_automation_configs AS c
SET applied_yaml_hash = %(yaml_hash)s::text,
    applied_config_hash = %(config_hash)s::text,
    applied_at = now()
WHERE c.app_name = %(app_name)s::varchar;

-- name: cleanup_memories
SELECT :schema.cleanup_low_value_memories(:arguments)

-- name: trigger_consolidation
SELECT :schema.trigger_maintenance_consolidation(:arguments)

-- name: reweight_relevance
SELECT :schema.reweight_all_users_relevance(:arguments)

-- name: schedule_by_hand
SELECT cron.schedule_in_database(:'name', :'schedule', :'command', :'database')

-- name: schedule_for_by_hand
SELECT cron.schedule_in_database(:'name', :'schedule', :'command', :'database', :'owner')

-- name: unschedule_by_hand
SELECT cron.unschedule(:job_id)

-- name: purge_by_hand
SELECT cron.schedule(:'name', :'schedule', :'command')

-- name: purge_command
DELETE FROM cron.job_run_details AS d WHERE d.jobid IN (SELECT j.jobid FROM cron.job AS j WHERE j.database = :'database' AND j.jobname IN (:names)) AND d.start_time < now() - interval :'age'
