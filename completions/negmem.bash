# negmem completions for bash. Generated from the command line: make generate

_negmem_shared="--dsn --config --schema --app --json --no-color --quiet --verbose --wait"

_negmem_command()
{
    commands="" options=""
    case "$1" in
        "") commands="init doctor demo db config sync diff automation scheduler ingest consolidate memory fact conflict summary core instruction profile entity learn proposals namespace tools search context recall feedback metrics audit user import pii retention curator embed bench report completions uninstall" options="--version --help" ;;
        "init") commands="" options="--embedder --dims --roles --dry-run --yes $_negmem_shared --help" ;;
        "doctor") commands="" options="--fix --list --only --format --fail-on --exit-zero --dry-run --yes $_negmem_shared --help" ;;
        "demo") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "db") commands="start stop status url psql migrate upgrade" options="--help" ;;
        "db start") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "db stop") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "db status") commands="" options="$_negmem_shared --help" ;;
        "db url") commands="" options="$_negmem_shared --help" ;;
        "db psql") commands="" options="$_negmem_shared --help" ;;
        "db migrate") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "db upgrade") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "config") commands="show set export validate schema path" options="--help" ;;
        "config show") commands="" options="--stored --defaults $_negmem_shared --help" ;;
        "config set") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "config export") commands="" options="$_negmem_shared --help" ;;
        "config validate") commands="" options="$_negmem_shared --help" ;;
        "config schema") commands="" options="$_negmem_shared --help" ;;
        "config path") commands="" options="$_negmem_shared --help" ;;
        "sync") commands="" options="--overwrite-edited --prune --adopt --take --plan-out --plan --dry-run --yes $_negmem_shared --help" ;;
        "diff") commands="" options="--exit-zero --format $_negmem_shared --help" ;;
        "automation") commands="show enable disable reconcile run logs purge export" options="--help" ;;
        "automation show") commands="" options="$_negmem_shared --help" ;;
        "automation enable") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "automation disable") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "automation reconcile") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "automation run") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "automation logs") commands="" options="--limit $_negmem_shared --help" ;;
        "automation purge") commands="" options="--older-than --dry-run --yes $_negmem_shared --help" ;;
        "automation export") commands="" options="--format $_negmem_shared --help" ;;
        "scheduler") commands="run status" options="--help" ;;
        "scheduler run") commands="" options="--log-format --once --grace $_negmem_shared --help" ;;
        "scheduler status") commands="" options="$_negmem_shared --help" ;;
        "ingest") commands="" options="--format --user --thread --me --timezone --rejects --dry-run --yes $_negmem_shared --help" ;;
        "consolidate") commands="" options="--job --user --thread --workers --extractor --max-calls --max-tokens --max-cost --again --retry --list --state --limit --dry-run --yes $_negmem_shared --help" ;;
        "memory") commands="add list show edit rm restore pin unpin link unlink links topics history" options="--help" ;;
        "memory add") commands="" options="--user --type --thread --metadata --occurred-at --dry-run --yes $_negmem_shared --help" ;;
        "memory list") commands="" options="--user --type --thread --since --until --deleted --pinned --oldest-first --limit --offset $_negmem_shared --help" ;;
        "memory show") commands="" options="--user $_negmem_shared --help" ;;
        "memory edit") commands="" options="--user --content --type --metadata --expected-version --dry-run --yes $_negmem_shared --help" ;;
        "memory rm") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "memory restore") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "memory pin") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "memory unpin") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "memory link") commands="" options="--user --type --weight --dry-run --yes $_negmem_shared --help" ;;
        "memory unlink") commands="" options="--user --type --dry-run --yes $_negmem_shared --help" ;;
        "memory links") commands="" options="--user --depth --max-tokens --min-weight --type $_negmem_shared --help" ;;
        "memory topics") commands="" options="--user --limit --offset $_negmem_shared --help" ;;
        "memory history") commands="" options="--user $_negmem_shared --help" ;;
        "fact") commands="set list show history search rm restore" options="--help" ;;
        "fact set") commands="" options="--user --confidence --valid-from --valid-until --dry-run --yes $_negmem_shared --help" ;;
        "fact list") commands="" options="--user --type --key --thread --as-of --believed-at --deleted --limit --offset $_negmem_shared --help" ;;
        "fact show") commands="" options="--user $_negmem_shared --help" ;;
        "fact history") commands="" options="--user --type $_negmem_shared --help" ;;
        "fact search") commands="" options="--user --type --as-of --believed-at --limit $_negmem_shared --help" ;;
        "fact rm") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "fact restore") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "conflict") commands="list show resolve" options="--help" ;;
        "conflict list") commands="" options="--user --status --detected-by --limit --offset $_negmem_shared --help" ;;
        "conflict show") commands="" options="--user $_negmem_shared --help" ;;
        "conflict resolve") commands="" options="--undo --user --dry-run --yes $_negmem_shared --help" ;;
        "summary") commands="show refresh" options="--help" ;;
        "summary show") commands="" options="--user --thread --type --limit --offset $_negmem_shared --help" ;;
        "summary refresh") commands="" options="--user --thread --type --force --extractor --max-calls --max-cost --dry-run --yes $_negmem_shared --help" ;;
        "core") commands="show set rm" options="--help" ;;
        "core show") commands="" options="--user --scope --thread --history $_negmem_shared --help" ;;
        "core set") commands="" options="--user --scope --thread --append --metadata --expected-version --dry-run --yes $_negmem_shared --help" ;;
        "core rm") commands="" options="--user --scope --thread --dry-run --yes $_negmem_shared --help" ;;
        "instruction") commands="set list show" options="--help" ;;
        "instruction set") commands="" options="--metadata --expected-version --dry-run --yes $_negmem_shared --help" ;;
        "instruction list") commands="" options="$_negmem_shared --help" ;;
        "instruction show") commands="" options="--history $_negmem_shared --help" ;;
        "profile") commands="show set unset" options="--help" ;;
        "profile show") commands="" options="--user $_negmem_shared --help" ;;
        "profile set") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "profile unset") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "entity") commands="add fact event relate list show search" options="--help" ;;
        "entity add") commands="" options="--type --name --description --alias --property --namespace --user --update --dry-run --yes $_negmem_shared --help" ;;
        "entity fact") commands="" options="--type --confidence --namespace --user --dry-run --yes $_negmem_shared --help" ;;
        "entity event") commands="" options="--date --type --namespace --user --dry-run --yes $_negmem_shared --help" ;;
        "entity relate") commands="" options="--direction --type --other-type --namespace --user --dry-run --yes $_negmem_shared --help" ;;
        "entity list") commands="" options="--type --namespace --user --limit --offset $_negmem_shared --help" ;;
        "entity show") commands="" options="--type --namespace --user --history $_negmem_shared --help" ;;
        "entity search") commands="" options="--namespace --user --limit --offset $_negmem_shared --help" ;;
        "learn") commands="save search list show edit rm versions undo" options="--help" ;;
        "learn save") commands="" options="--title --learning --context --tag --namespace --user --anyway --dry-run --yes $_negmem_shared --help" ;;
        "learn search") commands="" options="--namespace --user --limit --offset $_negmem_shared --help" ;;
        "learn list") commands="" options="--namespace --user --tag --deleted --limit --offset $_negmem_shared --help" ;;
        "learn show") commands="" options="--user $_negmem_shared --help" ;;
        "learn edit") commands="" options="--user --title --learning --context --tag --expected-version --dry-run --yes $_negmem_shared --help" ;;
        "learn rm") commands="" options="--user --reason --expected-version --dry-run --yes $_negmem_shared --help" ;;
        "learn versions") commands="" options="--user $_negmem_shared --help" ;;
        "learn undo") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "proposals") commands="list show approve reject" options="--help" ;;
        "proposals list") commands="" options="--user --namespace --store --status --limit --offset $_negmem_shared --help" ;;
        "proposals show") commands="" options="--user $_negmem_shared --help" ;;
        "proposals approve") commands="" options="--user --actor --reason --anyway --dry-run --yes $_negmem_shared --help" ;;
        "proposals reject") commands="" options="--user --actor --reason --dry-run --yes $_negmem_shared --help" ;;
        "namespace") commands="create list grant revoke" options="--help" ;;
        "namespace create") commands="" options="--admin --dry-run --yes $_negmem_shared --help" ;;
        "namespace list") commands="" options="--user $_negmem_shared --help" ;;
        "namespace grant") commands="" options="--role --dry-run --yes $_negmem_shared --help" ;;
        "namespace revoke") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "tools") commands="list schema call" options="--help" ;;
        "tools list") commands="" options="$_negmem_shared --help" ;;
        "tools schema") commands="" options="$_negmem_shared --help" ;;
        "tools call") commands="" options="--user --arguments --namespace --thread --agent --dry-run --yes $_negmem_shared --help" ;;
        "search") commands="" options="--user --level --limit --offset --kind --type --thread --since --until --as-of --where --semantic-weight --keyword-weight --explain --why-not --strict --no-record $_negmem_shared --help" ;;
        "context") commands="" options="--user --max-tokens --thread --blocks --level --strict --no-record $_negmem_shared --help" ;;
        "recall") commands="" options="--user --max-tokens --refresh --no-record $_negmem_shared --help" ;;
        "feedback") commands="" options="--memory --used --rating --user --dry-run --yes $_negmem_shared --help" ;;
        "metrics") commands="" options="--user --apply --dry-run --yes $_negmem_shared --help" ;;
        "audit") commands="retain delete anonymize apply history head verify erase replay export" options="--help" ;;
        "audit retain") commands="" options="--user --expected-version --idempotency-key --note --actor --dry-run --yes $_negmem_shared --help" ;;
        "audit delete") commands="" options="--user --expected-version --idempotency-key --note --actor --dry-run --yes $_negmem_shared --help" ;;
        "audit anonymize") commands="" options="--user --expected-version --idempotency-key --note --actor --dry-run --yes $_negmem_shared --help" ;;
        "audit apply") commands="" options="--user --idempotency-key --note --actor --dry-run --yes $_negmem_shared --help" ;;
        "audit history") commands="" options="--user --memory --before --limit $_negmem_shared --help" ;;
        "audit head") commands="" options="--erasures --with-key $_negmem_shared --help" ;;
        "audit verify") commands="" options="--head --certificate $_negmem_shared --help" ;;
        "audit erase") commands="" options="--user --output --actor --dry-run --yes $_negmem_shared --help" ;;
        "audit replay") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "audit export") commands="" options="--user --output $_negmem_shared --help" ;;
        "user") commands="show pause resume hold release" options="--help" ;;
        "user show") commands="" options="--user $_negmem_shared --help" ;;
        "user pause") commands="" options="--user --reason --actor --objection --dry-run --yes $_negmem_shared --help" ;;
        "user resume") commands="" options="--user --reason --actor --dry-run --yes $_negmem_shared --help" ;;
        "user hold") commands="" options="--user --reason --actor --dry-run --yes $_negmem_shared --help" ;;
        "user release") commands="" options="--user --reason --actor --dry-run --yes $_negmem_shared --help" ;;
        "import") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "pii") commands="scan fix" options="--help" ;;
        "pii scan") commands="" options="--user --kind --table --max-rows --after $_negmem_shared --help" ;;
        "pii fix") commands="" options="--policy --user --kind --table --max-rows --after --dry-run --yes $_negmem_shared --help" ;;
        "retention") commands="run preview curve explain purge" options="--help" ;;
        "retention run") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "retention preview") commands="" options="--user --days --set --limit $_negmem_shared --help" ;;
        "retention curve") commands="" options="--user --points $_negmem_shared --help" ;;
        "retention explain") commands="" options="--user $_negmem_shared --help" ;;
        "retention purge") commands="" options="--user --dry-run --yes $_negmem_shared --help" ;;
        "curator") commands="prune dedup" options="--help" ;;
        "curator prune") commands="" options="--user --max-age-days --max-count --store --namespace --undo --compat --dry-run --yes $_negmem_shared --help" ;;
        "curator dedup") commands="" options="--user --exact --semantic --threshold --store --namespace --compat --max-comparisons --after --undo --dry-run --yes $_negmem_shared --help" ;;
        "embed") commands="status migrate" options="--help" ;;
        "embed status") commands="" options="$_negmem_shared --help" ;;
        "embed migrate") commands="" options="--rollback --confirm --cancel --max-cost --dry-run --yes $_negmem_shared --help" ;;
        "bench") commands="retrieval load judge history" options="--help" ;;
        "bench retrieval") commands="" options="--dataset --data --level --variant --mini --pooled --compare --fail-under --no-record --format $_negmem_shared --help" ;;
        "bench load") commands="" options="--rows --users --clients --seconds --reads --fail-under --no-record $_negmem_shared --help" ;;
        "bench judge") commands="" options="--dataset --data --level --variant --mini --questions --context-tokens --max-calls --max-cost --no-record $_negmem_shared --help" ;;
        "bench history") commands="" options="--kind --dataset --limit $_negmem_shared --help" ;;
        "report") commands="" options="--out --days --personal --exit-zero $_negmem_shared --help" ;;
        "completions") commands="show install" options="--help" ;;
        "completions show") commands="" options="$_negmem_shared --help" ;;
        "completions install") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
        "uninstall") commands="" options="--dry-run --yes $_negmem_shared --help" ;;
    esac
}

_negmem_values()
{
    values=""
    case "$2" in
        --dsn) values="@word"; return ;;
        --config) values="@files"; return ;;
        --schema) values="@word"; return ;;
        --app) values="@word"; return ;;
        --wait) values="@word"; return ;;
    esac
    case "$1 $2" in
        "init --embedder") values="local onnx litellm none" ;;
        "init --dims") values="@word" ;;
        "doctor --only") values="connection extensions schema functions jobs indexes data providers accesses_waiting age_not_created behind_pooler clock_differs collation_changed column_missing config_drifted config_missing connections_short cron_history_large embedder_absent embedder_differs embedder_fails embedder_key_missing embedding_missing forgetting_held_back function_answers_wrong function_drifted function_leftover function_missing function_not_executable index_differs index_invalid index_missing job_drifted job_duplicated job_failed job_missing job_not_running job_off_schedule jobs_hidden jobs_parked jobs_waiting letters_lost migration_changed orphan_terms password_expires pg_cron_logs_unavailable pg_cron_not_installed pg_cron_not_permitted pg_cron_unavailable pooler_in_statement_mode schema_foreign schema_missing schema_newer schema_not_usable schema_outdated search_fails search_reads_table search_slow server_read_only server_too_old statistics_missing stored_config_invalid sweep_reads_table table_missing table_not_readable table_not_writable term_statistics_wrong timestamp_without_zone vector_dims_differ vector_no_iterative_scan vector_not_available vector_not_created vector_not_usable vector_outdated vector_too_old visibility_low words_missing" ;;
        "doctor --format") values="text json github junit nagios" ;;
        "doctor --fail-on") values="warn fail" ;;
        "config show 0") values="automation.consolidation automation.context_assembler automation.jobs automation.retention automation.reweight_relevance connection doctor embedding formation formation.compaction governance governance.pii governance.pii.kinds governance.roles learning learning.decision_log learning.entity learning.knowledge learning.memory learning.profile learning.session_context learning.tools llm retention retrieval connection.dsn connection.schema connection.app connection.connect_timeout_s connection.statement_timeout_ms connection.lock_timeout_ms embedding.provider embedding.model embedding.path embedding.dims embedding.max_tokens embedding.query_prefix embedding.document_prefix embedding.api_base embedding.api_key_env embedding.timeout_ms embedding.max_retries embedding.max_batch_texts llm.model llm.api_base llm.api_key_env llm.timeout_ms llm.max_retries llm.max_output_tokens llm.batch_turns llm.batch_chars llm.input_usd_per_million llm.output_usd_per_million automation.retention.decay_lambda automation.retention.low_retention_threshold automation.retention.min_age_days automation.retention.keep_importance automation.retention.max_share automation.retention.max_rows automation.retention.auto_cleanup_enabled automation.retention.cleanup_schedule automation.consolidation.enabled automation.consolidation.schedule automation.consolidation.lookback_interval automation.context_assembler.max_tokens automation.context_assembler.memory_ratio automation.context_assembler.history_ratio automation.reweight_relevance.enabled automation.reweight_relevance.schedule automation.reweight_relevance.beta automation.reweight_relevance.gamma automation.reweight_relevance.harmful_gamma automation.reweight_relevance.min_count automation.reweight_relevance.half_life_days automation.jobs.prefix retrieval.limit retrieval.semantic_weight retrieval.keyword_weight retrieval.neighbours_weight retrieval.session_weight retrieval.speaker_boost retrieval.intent_boost retrieval.learned_relevance retrieval.repeat_window_s retrieval.recall_tokens retrieval.recall_ttl_s formation.batch_turns formation.max_turn_chars formation.steps formation.step_timeout_ms formation.extractor formation.workers formation.lease_s formation.retry_base_s formation.retry_max_s formation.max_calls formation.max_tokens formation.max_cost_usd formation.link_threshold formation.merge_threshold formation.conflict_threshold formation.topic_threshold formation.compaction.enabled formation.compaction.keep_turns formation.compaction.tool_chars formation.compaction.turn_chars formation.compaction.absolute_dates retention.restore_window_days retention.retrieval_log_days retention.run_log_days learning.profile.enabled learning.profile.mode learning.profile.fields learning.memory.enabled learning.memory.mode learning.entity.enabled learning.entity.mode learning.knowledge.enabled learning.knowledge.mode learning.session_context.enabled learning.session_context.mode learning.decision_log.enabled learning.decision_log.mode learning.global_access learning.tools.in_always learning.tools.calls learning.tools.window_s learning.tools.limits learning.tools.max_tokens learning.tools.search_first_s governance.actor governance.roles.owner governance.roles.app governance.roles.reader governance.roles.auditor governance.pii.policy governance.pii.kinds.id_card governance.pii.kinds.credit_card governance.pii.kinds.iban governance.pii.kinds.passport governance.pii.kinds.ssn governance.pii.kinds.email governance.pii.kinds.phone governance.pii.kinds.ip_address governance.pii.kinds.address governance.pii.kinds.person governance.pii.kinds.location governance.pii.kinds.date_time governance.pii.kinds.url governance.pii.shown governance.pii.raw_for governance.pii.engine governance.pii.languages governance.pii.score_threshold doctor.accept doctor.check_timeout_ms" ;;
        "config set 0") values="connection.dsn connection.schema connection.app connection.connect_timeout_s connection.statement_timeout_ms connection.lock_timeout_ms embedding.provider embedding.model embedding.path embedding.dims embedding.max_tokens embedding.query_prefix embedding.document_prefix embedding.api_base embedding.api_key_env embedding.timeout_ms embedding.max_retries embedding.max_batch_texts llm.model llm.api_base llm.api_key_env llm.timeout_ms llm.max_retries llm.max_output_tokens llm.batch_turns llm.batch_chars llm.input_usd_per_million llm.output_usd_per_million automation.retention.decay_lambda automation.retention.low_retention_threshold automation.retention.min_age_days automation.retention.keep_importance automation.retention.max_share automation.retention.max_rows automation.retention.auto_cleanup_enabled automation.retention.cleanup_schedule automation.consolidation.enabled automation.consolidation.schedule automation.consolidation.lookback_interval automation.context_assembler.max_tokens automation.context_assembler.memory_ratio automation.context_assembler.history_ratio automation.reweight_relevance.enabled automation.reweight_relevance.schedule automation.reweight_relevance.beta automation.reweight_relevance.gamma automation.reweight_relevance.harmful_gamma automation.reweight_relevance.min_count automation.reweight_relevance.half_life_days automation.jobs.prefix retrieval.limit retrieval.semantic_weight retrieval.keyword_weight retrieval.neighbours_weight retrieval.session_weight retrieval.speaker_boost retrieval.intent_boost retrieval.learned_relevance retrieval.repeat_window_s retrieval.recall_tokens retrieval.recall_ttl_s formation.batch_turns formation.max_turn_chars formation.steps formation.step_timeout_ms formation.extractor formation.workers formation.lease_s formation.retry_base_s formation.retry_max_s formation.max_calls formation.max_tokens formation.max_cost_usd formation.link_threshold formation.merge_threshold formation.conflict_threshold formation.topic_threshold formation.compaction.enabled formation.compaction.keep_turns formation.compaction.tool_chars formation.compaction.turn_chars formation.compaction.absolute_dates retention.restore_window_days retention.retrieval_log_days retention.run_log_days learning.profile.enabled learning.profile.mode learning.profile.fields learning.memory.enabled learning.memory.mode learning.entity.enabled learning.entity.mode learning.knowledge.enabled learning.knowledge.mode learning.session_context.enabled learning.session_context.mode learning.decision_log.enabled learning.decision_log.mode learning.global_access learning.tools.in_always learning.tools.calls learning.tools.window_s learning.tools.limits learning.tools.max_tokens learning.tools.search_first_s governance.actor governance.roles.owner governance.roles.app governance.roles.reader governance.roles.auditor governance.pii.policy governance.pii.kinds.id_card governance.pii.kinds.credit_card governance.pii.kinds.iban governance.pii.kinds.passport governance.pii.kinds.ssn governance.pii.kinds.email governance.pii.kinds.phone governance.pii.kinds.ip_address governance.pii.kinds.address governance.pii.kinds.person governance.pii.kinds.location governance.pii.kinds.date_time governance.pii.kinds.url governance.pii.shown governance.pii.raw_for governance.pii.engine governance.pii.languages governance.pii.score_threshold doctor.accept doctor.check_timeout_ms" ;;
        "config validate 0") values="@files" ;;
        "sync --take") values="yaml stored" ;;
        "sync --plan-out") values="@files" ;;
        "sync --plan") values="@files" ;;
        "diff --format") values="text json github junit" ;;
        "automation enable 0") values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "automation disable 0") values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "automation reconcile 0") values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "automation run 0") values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "automation logs --limit" | "automation logs -n") values="@word" ;;
        "automation logs 0") values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "automation purge --older-than") values="@word" ;;
        "automation export --format") values="crontab systemd kubernetes" ;;
        "automation export "[0-9]*) values="cleanup_memories trigger_consolidation reweight_relevance" ;;
        "scheduler run --log-format") values="text json" ;;
        "scheduler run --grace") values="@word" ;;
        "ingest --format") values="auto jsonl openai adk locomo longmemeval markdown" ;;
        "ingest --user" | "ingest -u") values="@word" ;;
        "ingest --thread") values="@word" ;;
        "ingest --me") values="@word" ;;
        "ingest --timezone") values="@word" ;;
        "ingest --rejects") values="@files" ;;
        "ingest 0") values="@files" ;;
        "consolidate --job") values="fast_replay deep_reflection full_consolidation" ;;
        "consolidate --user" | "consolidate -u") values="@word" ;;
        "consolidate --thread") values="@word" ;;
        "consolidate --workers") values="@word" ;;
        "consolidate --extractor") values="auto llm pattern" ;;
        "consolidate --max-calls") values="@word" ;;
        "consolidate --max-tokens") values="@word" ;;
        "consolidate --max-cost") values="@word" ;;
        "consolidate --state") values="@word" ;;
        "consolidate --limit" | "consolidate -n") values="@word" ;;
        "memory add --user" | "memory add -u") values="@word" ;;
        "memory add --type") values="core semantic preference procedural fact episodic" ;;
        "memory add --thread") values="@word" ;;
        "memory add --metadata") values="@word" ;;
        "memory add --occurred-at") values="@word" ;;
        "memory list --user" | "memory list -u") values="@word" ;;
        "memory list --type") values="core semantic preference procedural fact episodic" ;;
        "memory list --thread") values="@word" ;;
        "memory list --since") values="@word" ;;
        "memory list --until") values="@word" ;;
        "memory list --limit" | "memory list -n") values="@word" ;;
        "memory list --offset") values="@word" ;;
        "memory show --user" | "memory show -u") values="@word" ;;
        "memory edit --user" | "memory edit -u") values="@word" ;;
        "memory edit --content") values="@word" ;;
        "memory edit --type") values="core semantic preference procedural fact episodic" ;;
        "memory edit --metadata") values="@word" ;;
        "memory edit --expected-version") values="@word" ;;
        "memory rm --user" | "memory rm -u") values="@word" ;;
        "memory restore --user" | "memory restore -u") values="@word" ;;
        "memory pin --user" | "memory pin -u") values="@word" ;;
        "memory unpin --user" | "memory unpin -u") values="@word" ;;
        "memory link --user" | "memory link -u") values="@word" ;;
        "memory link --type") values="semantic temporal thread_shared entity related_to causes follows" ;;
        "memory link --weight") values="@word" ;;
        "memory unlink --user" | "memory unlink -u") values="@word" ;;
        "memory unlink --type") values="@word" ;;
        "memory links --user" | "memory links -u") values="@word" ;;
        "memory links --depth") values="@word" ;;
        "memory links --max-tokens") values="@word" ;;
        "memory links --min-weight") values="@word" ;;
        "memory links --type") values="@word" ;;
        "memory topics --user" | "memory topics -u") values="@word" ;;
        "memory topics --limit" | "memory topics -n") values="@word" ;;
        "memory topics --offset") values="@word" ;;
        "memory history --user" | "memory history -u") values="@word" ;;
        "fact set --user" | "fact set -u") values="@word" ;;
        "fact set --confidence") values="@word" ;;
        "fact set --valid-from") values="@word" ;;
        "fact set --valid-until") values="@word" ;;
        "fact list --user" | "fact list -u") values="@word" ;;
        "fact list --type") values="@word" ;;
        "fact list --key") values="@word" ;;
        "fact list --thread") values="@word" ;;
        "fact list --as-of") values="@word" ;;
        "fact list --believed-at") values="@word" ;;
        "fact list --limit" | "fact list -n") values="@word" ;;
        "fact list --offset") values="@word" ;;
        "fact show --user" | "fact show -u") values="@word" ;;
        "fact history --user" | "fact history -u") values="@word" ;;
        "fact history --type") values="@word" ;;
        "fact search --user" | "fact search -u") values="@word" ;;
        "fact search --type") values="@word" ;;
        "fact search --as-of") values="@word" ;;
        "fact search --believed-at") values="@word" ;;
        "fact search --limit" | "fact search -n") values="@word" ;;
        "fact rm --user" | "fact rm -u") values="@word" ;;
        "fact restore --user" | "fact restore -u") values="@word" ;;
        "conflict list --user" | "conflict list -u") values="@word" ;;
        "conflict list --status") values="open resolved" ;;
        "conflict list --detected-by") values="key_collision embedding model" ;;
        "conflict list --limit" | "conflict list -n") values="@word" ;;
        "conflict list --offset") values="@word" ;;
        "conflict show --user" | "conflict show -u") values="@word" ;;
        "conflict resolve --user" | "conflict resolve -u") values="@word" ;;
        "conflict resolve 1") values="supersede keep_old keep_new keep_both merge" ;;
        "summary show --user" | "summary show -u") values="@word" ;;
        "summary show --thread") values="@word" ;;
        "summary show --type") values="@word" ;;
        "summary show --limit" | "summary show -n") values="@word" ;;
        "summary show --offset") values="@word" ;;
        "summary refresh --user" | "summary refresh -u") values="@word" ;;
        "summary refresh --thread") values="@word" ;;
        "summary refresh --type") values="@word" ;;
        "summary refresh --extractor") values="@word" ;;
        "summary refresh --max-calls") values="@word" ;;
        "summary refresh --max-cost") values="@word" ;;
        "core show --user" | "core show -u") values="@word" ;;
        "core show --scope") values="user app thread" ;;
        "core show --thread") values="@word" ;;
        "core set --user" | "core set -u") values="@word" ;;
        "core set --scope") values="@word" ;;
        "core set --thread") values="@word" ;;
        "core set --metadata") values="@word" ;;
        "core set --expected-version") values="@word" ;;
        "core rm --user" | "core rm -u") values="@word" ;;
        "core rm --scope") values="@word" ;;
        "core rm --thread") values="@word" ;;
        "instruction set --metadata") values="@word" ;;
        "instruction set --expected-version") values="@word" ;;
        "profile show --user" | "profile show -u") values="@word" ;;
        "profile set --user" | "profile set -u") values="@word" ;;
        "profile unset --user" | "profile unset -u") values="@word" ;;
        "entity add --type") values="@word" ;;
        "entity add --name") values="@word" ;;
        "entity add --description") values="@word" ;;
        "entity add --alias") values="@word" ;;
        "entity add --property") values="@word" ;;
        "entity add --namespace") values="@word" ;;
        "entity add --user" | "entity add -u") values="@word" ;;
        "entity fact --type") values="@word" ;;
        "entity fact --confidence") values="@word" ;;
        "entity fact --namespace") values="@word" ;;
        "entity fact --user" | "entity fact -u") values="@word" ;;
        "entity event --date") values="@word" ;;
        "entity event --type") values="@word" ;;
        "entity event --namespace") values="@word" ;;
        "entity event --user" | "entity event -u") values="@word" ;;
        "entity relate --direction") values="@word" ;;
        "entity relate --type") values="@word" ;;
        "entity relate --other-type") values="@word" ;;
        "entity relate --namespace") values="@word" ;;
        "entity relate --user" | "entity relate -u") values="@word" ;;
        "entity list --type") values="@word" ;;
        "entity list --namespace") values="@word" ;;
        "entity list --user" | "entity list -u") values="@word" ;;
        "entity list --limit" | "entity list -n") values="@word" ;;
        "entity list --offset") values="@word" ;;
        "entity show --type") values="@word" ;;
        "entity show --namespace") values="@word" ;;
        "entity show --user" | "entity show -u") values="@word" ;;
        "entity search --namespace") values="@word" ;;
        "entity search --user" | "entity search -u") values="@word" ;;
        "entity search --limit" | "entity search -n") values="@word" ;;
        "entity search --offset") values="@word" ;;
        "learn save --title") values="@word" ;;
        "learn save --learning") values="@word" ;;
        "learn save --context") values="@word" ;;
        "learn save --tag") values="@word" ;;
        "learn save --namespace") values="@word" ;;
        "learn save --user" | "learn save -u") values="@word" ;;
        "learn search --namespace") values="@word" ;;
        "learn search --user" | "learn search -u") values="@word" ;;
        "learn search --limit" | "learn search -n") values="@word" ;;
        "learn search --offset") values="@word" ;;
        "learn list --namespace") values="@word" ;;
        "learn list --user" | "learn list -u") values="@word" ;;
        "learn list --tag") values="@word" ;;
        "learn list --limit" | "learn list -n") values="@word" ;;
        "learn list --offset") values="@word" ;;
        "learn show --user" | "learn show -u") values="@word" ;;
        "learn edit --user" | "learn edit -u") values="@word" ;;
        "learn edit --title") values="@word" ;;
        "learn edit --learning") values="@word" ;;
        "learn edit --context") values="@word" ;;
        "learn edit --tag") values="@word" ;;
        "learn edit --expected-version") values="@word" ;;
        "learn rm --user" | "learn rm -u") values="@word" ;;
        "learn rm --reason") values="@word" ;;
        "learn rm --expected-version") values="@word" ;;
        "learn versions --user" | "learn versions -u") values="@word" ;;
        "learn undo --user" | "learn undo -u") values="@word" ;;
        "proposals list --user" | "proposals list -u") values="@word" ;;
        "proposals list --namespace") values="@word" ;;
        "proposals list --store") values="profile memory entity knowledge" ;;
        "proposals list --status") values="pending stale failed applied rejected expired" ;;
        "proposals list --limit") values="@word" ;;
        "proposals list --offset") values="@word" ;;
        "proposals show --user" | "proposals show -u") values="@word" ;;
        "proposals approve --user" | "proposals approve -u") values="@word" ;;
        "proposals approve --actor") values="@word" ;;
        "proposals approve --reason") values="@word" ;;
        "proposals reject --user" | "proposals reject -u") values="@word" ;;
        "proposals reject --actor") values="@word" ;;
        "proposals reject --reason") values="@word" ;;
        "namespace create --admin") values="@word" ;;
        "namespace list --user" | "namespace list -u") values="@word" ;;
        "namespace grant --role") values="reader writer admin" ;;
        "tools call --user" | "tools call -u") values="@word" ;;
        "tools call --arguments") values="@word" ;;
        "tools call --namespace") values="@word" ;;
        "tools call --thread") values="@word" ;;
        "tools call --agent") values="@word" ;;
        "search --user" | "search -u") values="@word" ;;
        "search --level") values="auto hybrid vector keyword ilike" ;;
        "search --limit" | "search -n") values="@word" ;;
        "search --offset") values="@word" ;;
        "search --kind") values="@word" ;;
        "search --type") values="@word" ;;
        "search --thread") values="@word" ;;
        "search --since") values="@word" ;;
        "search --until") values="@word" ;;
        "search --as-of") values="@word" ;;
        "search --where") values="@word" ;;
        "search --semantic-weight") values="@word" ;;
        "search --keyword-weight") values="@word" ;;
        "search --why-not") values="@word" ;;
        "context --user" | "context -u") values="@word" ;;
        "context --max-tokens") values="@word" ;;
        "context --thread") values="@word" ;;
        "context --blocks") values="@word" ;;
        "context --level") values="auto hybrid vector keyword ilike" ;;
        "recall --user" | "recall -u") values="@word" ;;
        "recall --max-tokens") values="@word" ;;
        "feedback --memory") values="@word" ;;
        "feedback --used") values="@word" ;;
        "feedback --rating") values="@word" ;;
        "feedback --user" | "feedback -u") values="@word" ;;
        "feedback 1") values="helpful irrelevant harmful" ;;
        "metrics --user" | "metrics -u") values="@word" ;;
        "audit retain --user" | "audit retain -u") values="@word" ;;
        "audit retain --expected-version") values="@word" ;;
        "audit retain --idempotency-key") values="@word" ;;
        "audit retain --note") values="@word" ;;
        "audit retain --actor") values="@word" ;;
        "audit delete --user" | "audit delete -u") values="@word" ;;
        "audit delete --expected-version") values="@word" ;;
        "audit delete --idempotency-key") values="@word" ;;
        "audit delete --note") values="@word" ;;
        "audit delete --actor") values="@word" ;;
        "audit anonymize --user" | "audit anonymize -u") values="@word" ;;
        "audit anonymize --expected-version") values="@word" ;;
        "audit anonymize --idempotency-key") values="@word" ;;
        "audit anonymize --note") values="@word" ;;
        "audit anonymize --actor") values="@word" ;;
        "audit apply --user" | "audit apply -u") values="@word" ;;
        "audit apply --idempotency-key") values="@word" ;;
        "audit apply --note") values="@word" ;;
        "audit apply --actor") values="@word" ;;
        "audit history --user" | "audit history -u") values="@word" ;;
        "audit history --memory") values="@word" ;;
        "audit history --before") values="@word" ;;
        "audit history --limit" | "audit history -n") values="@word" ;;
        "audit head --erasures") values="@files" ;;
        "audit verify --head") values="@word" ;;
        "audit verify --certificate") values="@files" ;;
        "audit erase --user" | "audit erase -u") values="@word" ;;
        "audit erase --output" | "audit erase -o") values="@files" ;;
        "audit erase --actor") values="@word" ;;
        "audit replay 0") values="@files" ;;
        "audit export --user" | "audit export -u") values="@word" ;;
        "audit export --output" | "audit export -o") values="@word" ;;
        "user show --user" | "user show -u") values="@word" ;;
        "user pause --user" | "user pause -u") values="@word" ;;
        "user pause --reason") values="@word" ;;
        "user pause --actor") values="@word" ;;
        "user resume --user" | "user resume -u") values="@word" ;;
        "user resume --reason") values="@word" ;;
        "user resume --actor") values="@word" ;;
        "user hold --user" | "user hold -u") values="@word" ;;
        "user hold --reason") values="@word" ;;
        "user hold --actor") values="@word" ;;
        "user release --user" | "user release -u") values="@word" ;;
        "user release --reason") values="@word" ;;
        "user release --actor") values="@word" ;;
        "import 0") values="@files" ;;
        "pii scan --user" | "pii scan -u") values="@word" ;;
        "pii scan --kind") values="@word" ;;
        "pii scan --table") values="@word" ;;
        "pii scan --max-rows") values="@word" ;;
        "pii scan --after") values="@word" ;;
        "pii fix --policy") values="mark mask anonymize" ;;
        "pii fix --user" | "pii fix -u") values="@word" ;;
        "pii fix --kind") values="@word" ;;
        "pii fix --table") values="@word" ;;
        "pii fix --max-rows") values="@word" ;;
        "pii fix --after") values="@word" ;;
        "retention run --user" | "retention run -u") values="@word" ;;
        "retention preview --user" | "retention preview -u") values="@word" ;;
        "retention preview --days") values="@word" ;;
        "retention preview --set") values="@word" ;;
        "retention preview --limit" | "retention preview -n") values="@word" ;;
        "retention curve --user" | "retention curve -u") values="@word" ;;
        "retention curve --points") values="@word" ;;
        "retention explain --user" | "retention explain -u") values="@word" ;;
        "retention purge --user" | "retention purge -u") values="@word" ;;
        "curator prune --user" | "curator prune -u") values="@word" ;;
        "curator prune --max-age-days") values="@word" ;;
        "curator prune --max-count") values="@word" ;;
        "curator prune --store") values="@word" ;;
        "curator prune --namespace") values="@word" ;;
        "curator prune --undo") values="@word" ;;
        "curator dedup --user" | "curator dedup -u") values="@word" ;;
        "curator dedup --threshold") values="@word" ;;
        "curator dedup --store") values="@word" ;;
        "curator dedup --namespace") values="@word" ;;
        "curator dedup --max-comparisons") values="@word" ;;
        "curator dedup --after") values="@word" ;;
        "curator dedup --undo") values="@word" ;;
        "embed migrate --max-cost") values="@word" ;;
        "bench retrieval --dataset") values="locomo longmemeval memdaily memorybank own" ;;
        "bench retrieval --data") values="@folders" ;;
        "bench retrieval --level") values="auto hybrid vector keyword ilike" ;;
        "bench retrieval --variant") values="plain noise100" ;;
        "bench retrieval --compare") values="@word" ;;
        "bench retrieval --fail-under") values="@word" ;;
        "bench retrieval --format") values="text json github junit" ;;
        "bench load --rows") values="@word" ;;
        "bench load --users") values="@word" ;;
        "bench load --clients") values="@word" ;;
        "bench load --seconds") values="@word" ;;
        "bench load --reads") values="@word" ;;
        "bench load --fail-under") values="@word" ;;
        "bench judge --dataset") values="locomo longmemeval memdaily memorybank own" ;;
        "bench judge --data") values="@folders" ;;
        "bench judge --level") values="auto hybrid vector keyword ilike" ;;
        "bench judge --variant") values="plain noise100" ;;
        "bench judge --questions") values="@word" ;;
        "bench judge --context-tokens") values="@word" ;;
        "bench judge --max-calls") values="@word" ;;
        "bench judge --max-cost") values="@word" ;;
        "bench history --kind") values="retrieval load judge" ;;
        "bench history --dataset") values="@word" ;;
        "bench history --limit" | "bench history -n") values="@word" ;;
        "report --out") values="@files" ;;
        "report --days") values="@word" ;;
        "completions show 0") values="bash zsh fish" ;;
        "completions install 0") values="bash zsh fish" ;;
    esac
}
_negmem()
{
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="" path="" word commands options values arguments
    local at=1 given=0
    [ "$COMP_CWORD" -gt 0 ] && prev="${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=()
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[at]}"
        _negmem_command "$path"
        case " $commands " in
            *" $word "*) path="${path:+$path }$word" ;;
            *) break ;;
        esac
        at=$((at + 1))
    done
    _negmem_command "$path"
    _negmem_values "$path" "$prev"
    if [ -n "$values" ]; then
        case "$values" in
            @files) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
            @folders) compopt -o dirnames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
            @word) ;;
            *) COMPREPLY=($(compgen -W "$values" -- "$cur")) ;;
        esac
        return 0
    fi
    case "$cur" in
        -*) COMPREPLY=($(compgen -W "$options" -- "$cur")); return 0 ;;
    esac
    prev=""
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word="${COMP_WORDS[at]}"
        _negmem_values "$path" "$prev"
        case "$word" in
            -*) ;;
            *) [ -z "$values" ] && given=$((given + 1)) ;;
        esac
        prev="$word"
        at=$((at + 1))
    done
    _negmem_values "$path" "$given"
    case "$values" in
        @files) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
        @folders) compopt -o dirnames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
        @word | "") COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
        *) COMPREPLY=($(compgen -W "$commands $values" -- "$cur")) ;;
    esac
    return 0
}

complete -F _negmem negmem
