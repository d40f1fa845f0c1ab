"""What can be set, with its type, range, default and meaning: the one definition of the YAML.

`configs/default.yaml`, the JSON schema, the checks and their texts all come from here.
Numbers carry their unit in the name; where the name can't, the description begins with it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from negmem.config.governance import Governance
from negmem.config.learning import Learning as Learning
from negmem.config.sections import (
    HUNDRED_YEARS_DAYS,
    Code,
    Cron,
    PgInterval,
    Section,
    VariableName,
    identifier,
    key,
    scope_name,
)


class Connection(Section):
    """Which database, and how long to wait for it."""

    dsn: SecretStr | None = key(
        None,
        "libpq string or URL, no password in clear; null: the PG* variables, else embedded",
        min_length=1,
    )
    schema_name: Annotated[str, AfterValidator(identifier)] = key(
        "negentropy",
        "the schema that holds negmem's tables and functions",
        min_length=1,
        alias="schema",
    )
    app: Annotated[str, AfterValidator(scope_name)] = key(
        "negmem",
        "the application whose memories are meant; it scopes every row",
        min_length=1,
        max_length=255,
    )
    connect_timeout_s: int = key(
        5, "how long one attempt to reach the server may take", ge=1, le=600
    )
    statement_timeout_ms: int = key(
        60_000, "when the server cancels a statement", ge=100, le=86_400_000
    )
    lock_timeout_ms: int = key(
        5_000, "when a statement gives up waiting for a lock", ge=10, le=3_600_000
    )


class Embedding(Section):
    """What turns text into vectors. Without it search works by keyword."""

    provider: Literal["auto", "local", "onnx", "litellm", "none"] = key(
        "auto", "auto is local where installed, else none"
    )
    model: str | None = key(
        None,
        "the model's name; required by litellm, a label for onnx, fixed for local",
        min_length=1,
    )
    path: str | None = key(
        None, "onnx: the folder that holds model.onnx and tokenizer.json", min_length=1
    )
    dims: int | None = key(
        None, "numbers in a vector; null: what the provider gives", ge=1, le=4_000
    )
    max_tokens: int | None = key(
        None,
        "litellm: tokens of one text that the model takes; null: what its price list says, or 8191",
        ge=16,
        le=1_000_000,
    )
    query_prefix: str = key(
        "", "onnx and litellm: text put before a query, such as 'query: ' for e5 models"
    )
    document_prefix: str = key(
        "", "onnx and litellm: text put before what is stored, such as 'passage: '"
    )
    api_base: str | None = key(
        None,
        "litellm: the endpoint; null: the one of the model's vendor",
        min_length=1,
        json_schema_extra={"may_hold_secret": True},
    )
    api_key_env: VariableName | None = key(
        None, "litellm: the name of the environment variable that holds the key, never the key"
    )
    timeout_ms: int = key(20_000, "when a call to the provider is given up", ge=50, le=600_000)
    max_retries: int = key(
        3, "times: how often a call that may succeed later is repeated", ge=0, le=20
    )
    max_batch_texts: int = key(64, "texts in one call", ge=1, le=10_000)

    @model_validator(mode="after")
    def _complete(self) -> Embedding:
        if self.provider == "litellm" and self.model is None:
            raise ValueError("provider litellm needs embedding.model")
        if self.provider == "onnx" and self.path is None:
            raise ValueError("provider onnx needs embedding.path")
        return self


class Llm(Section):
    """The language model, optional everywhere."""

    model: str | None = key(
        None,
        "a litellm model name; its tokenizer counts the tokens of contexts; null: no model",
        min_length=1,
    )
    api_base: str | None = key(
        None,
        "the endpoint; null: the one of the model's vendor",
        min_length=1,
        json_schema_extra={"may_hold_secret": True},
    )
    api_key_env: VariableName | None = key(
        None,
        "the name of the environment variable that holds the key; null: the vendor's own variable",
    )
    timeout_ms: int = key(60_000, "when a request is given up", ge=50, le=600_000)
    max_retries: int = key(
        3, "times: how often a request that may succeed later is repeated", ge=0, le=20
    )
    max_output_tokens: int = key(4_096, "tokens that one answer may have", ge=64, le=1_000_000)
    batch_turns: int = key(10, "turns of the user in one request of extraction", ge=1, le=200)
    batch_chars: int = key(
        6_000, "characters of turns in one request of extraction", ge=200, le=1_000_000
    )
    input_usd_per_million: float | None = key(
        None, "US dollars for a million tokens in; null: what litellm's price list says", ge=0
    )
    output_usd_per_million: float | None = key(
        None, "US dollars for a million tokens out; null: what litellm's price list says", ge=0
    )


class RetentionPolicy(Section):
    """The forgetting sweep."""

    decay_lambda: float = key(
        0.1,
        "1/day: base rate of the forgetting curve; the rates of all types scale with it",
        gt=0,
        le=10,
    )
    low_retention_threshold: float = key(
        0.0001, "score 0..1: a memory under it may be forgotten", ge=0.000001, lt=1
    )
    min_age_days: int = key(640, "a younger memory is never forgotten", ge=1, le=HUNDRED_YEARS_DAYS)
    keep_importance: float = key(
        0.9, "importance 0..1: a memory at it or above is never forgotten", gt=0, le=1
    )
    max_share: float = key(
        0.2,
        "share 0..1 of one user's memories that may go in a day (20 rows may always go)",
        gt=0,
        le=1,
    )
    max_rows: int = key(
        10_000,
        "rows that one call of the sweep takes; the rest waits for the next",
        ge=1,
        le=10_000_000,
    )
    auto_cleanup_enabled: bool = key(False, "whether the job cleanup_memories runs by itself")
    cleanup_schedule: Cron = key(
        "0 2 * * *", "cron: when the job cleanup_memories runs (five fields, or 'N seconds')"
    )


class ConsolidationPolicy(Section):
    """Queueing of threads that changed."""

    enabled: bool = key(False, "whether the job trigger_consolidation runs by itself")
    schedule: Cron = key("0 * * * *", "cron: when the job trigger_consolidation runs")
    lookback_interval: PgInterval = key(
        "1 hour", "PostgreSQL interval: threads that changed within it are queued"
    )


class ContextAssembler(Section):
    """How a context's budget is split."""

    max_tokens: int = key(4_000, "tokens that a context may have in all", ge=256, le=2_000_000)
    memory_ratio: float = key(0.3, "share 0..1 of the tokens for memories", gt=0, le=1)
    history_ratio: float = key(
        0.5,
        "share 0..1 of the tokens for history; what both leave is for the system prompt",
        gt=0,
        le=1,
    )

    @model_validator(mode="after")
    def _within_budget(self) -> ContextAssembler:
        total = self.memory_ratio + self.history_ratio
        if total > 1 + 1e-9:
            raise ValueError(
                f"memory_ratio {self.memory_ratio:g} and history_ratio {self.history_ratio:g} "
                f"are {total:g} together, at most 1"
            )
        return self


class RelevanceReweighting(Section):
    """Learning from feedback."""

    enabled: bool = key(False, "whether the job reweight_relevance runs by itself")
    schedule: Cron = key("0 */6 * * *", "cron: when the job reweight_relevance runs")
    beta: float = key(
        0.75, "factor 0..10: what a share of helpful votes adds to the weight", ge=0, le=10
    )
    gamma: float = key(
        0.15, "factor 0..10: what a share of irrelevant votes takes from the weight", ge=0, le=10
    )
    harmful_gamma: float = key(
        0.5, "factor 0..10: what a share of harmful votes takes from the weight", ge=0, le=10
    )
    min_count: float = key(
        3, "votes: with fewer, old ones counted in part, the weight stays 1", ge=0, le=1_000_000
    )
    half_life_days: float = key(
        90, "after it a vote counts half, after twice that a quarter", gt=0, le=HUNDRED_YEARS_DAYS
    )


class JobNames(Section):
    """How the jobs are called in pg_cron."""

    prefix: str = key(
        "",
        "put before each job's name, where several installations share one pg_cron",
        pattern=r"^[A-Za-z0-9_.-]*$",
        max_length=32,
    )


class Automation(Section):
    """The document that the database stores for an app: what runs there, by which numbers, when."""

    retention: RetentionPolicy = RetentionPolicy()
    consolidation: ConsolidationPolicy = ConsolidationPolicy()
    context_assembler: ContextAssembler = ContextAssembler()
    reweight_relevance: RelevanceReweighting = RelevanceReweighting()
    jobs: JobNames = JobNames()


class Retrieval(Section):
    """Search."""

    limit: int = key(10, "results, where --limit does not say otherwise", ge=1, le=1_000)
    semantic_weight: float = key(0.4, "weight 0..1 of the vectors in a hybrid search", ge=0, le=1)
    keyword_weight: float = key(0.6, "weight 0..1 of the words in a hybrid search", ge=0, le=1)
    neighbours_weight: float = key(
        0.65,
        "weight 0..2 of the turns beside a turn, its own words 1; 0 switches it off",
        ge=0,
        le=2,
    )
    session_weight: float = key(
        0.45, "weight 0..2 of the best turn of its session; 0 switches it off", ge=0, le=2
    )
    speaker_boost: float = key(
        0.08,
        "share 0..1 added where the question names who speaks, five times where the user; 0: off",
        ge=0,
        le=1,
    )
    intent_boost: float = key(
        0.15, "share 0..1 added for the type that the question asks for; 0: off", ge=0, le=1
    )
    learned_relevance: bool = key(True, "whether what feedback taught changes the ranking")
    repeat_window_s: int = key(
        60, "within it a repeat or a further page of a query counts as one access", ge=0, le=86_400
    )
    recall_tokens: int = key(
        2_000, "tokens of a recall, where --max-tokens does not say otherwise", ge=1, le=2_000_000
    )
    recall_ttl_s: int = key(
        3_600,
        "how long a cached recall holds if nothing changes; 0: nothing is cached",
        ge=0,
        le=86_400,
    )

    @model_validator(mode="after")
    def _some_weight(self) -> Retrieval:
        if self.semantic_weight + self.keyword_weight == 0:
            raise ValueError("semantic_weight and keyword_weight are both 0: nothing could rank")
        return self


Step = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]*(:(fail_tolerant|serial|parallel))?(:[1-9][0-9]{2,7})?$",
        max_length=100,
    ),
]


class Compaction(Section):
    """Long threads shortened for what reads them; the transcript itself stays whole."""

    enabled: bool = key(False, "whether steps read a thread shortened")
    keep_turns: int = key(20, "the last turns, which are kept whole", ge=0, le=100_000)
    tool_chars: int = key(
        400, "characters that are kept of an older answer of a tool", ge=0, le=1_000_000
    )
    turn_chars: int = key(
        2_000, "characters that are kept of any other older turn", ge=100, le=10_000_000
    )
    absolute_dates: bool = key(
        True,
        "whether a language model reads older turns with the date behind words such as 'yesterday' "
        "or '明天'",
    )


class Formation(Section):
    """Ingest and consolidation."""

    batch_turns: int = key(256, "turns that are embedded and committed together", ge=1, le=10_000)
    max_turn_chars: int = key(
        4_000_000, "a longer turn is rejected, with its line number", ge=1_000, le=50_000_000
    )
    steps: tuple[Step, ...] = key(
        (
            "fact_extract",
            "learn",
            "entity_normalization",
            "topic_cluster",
            "dedup_merge",
            "summarize",
            "auto_link",
            "reflect",
            "statistics",
        ),
        "what consolidation does, in this order: NAME, NAME:POLICY or NAME:POLICY:LIMIT_MS; the policy is "
        "fail_tolerant, serial or parallel",
    )
    step_timeout_ms: int = key(
        300_000, "when a step that names no limit of its own is given up", ge=100, le=86_400_000
    )
    extractor: Literal["auto", "llm", "pattern"] = key(
        "auto", "what finds facts; auto is llm where llm.model is set, else pattern"
    )
    workers: int = key(1, "jobs that are worked on at once by one process", ge=1, le=64)
    lease_s: int = key(
        30,
        "how long a worker may be silent before another takes its job over",
        ge=2,
        le=3_600,
    )
    retry_base_s: int = key(
        30, "the wait after a first failure; it doubles with each further one", ge=0, le=86_400
    )
    retry_max_s: int = key(21_600, "the longest wait after a failure", ge=0, le=604_800)
    max_calls: int | None = key(
        None, "calls of the language model that one run may make; null: no ceiling", ge=0
    )
    max_tokens: int | None = key(
        None, "tokens that one run may take of the language model; null: no ceiling", ge=0
    )
    max_cost_usd: float | None = key(
        None, "US dollars that one run may cost; null: no ceiling", ge=0
    )
    link_threshold: float = key(
        0.75,
        "similarity 0..1, calibrated: memories above it are linked as neighbours in meaning",
        ge=0,
        le=1,
    )
    merge_threshold: float = key(
        0.2,
        "similarity 0..1, calibrated: from it on the rules are asked whether two memories say the same",
        ge=0,
        le=1,
    )
    conflict_threshold: float = key(
        0.85,
        "similarity 0..1, calibrated: facts of different keys above it are looked at for conflicts",
        ge=0,
        le=1,
    )
    topic_threshold: float = key(
        0.55,
        "similarity 0..1, calibrated: a memory so near to the centre of a topic belongs to it",
        gt=0,
        le=1,
    )
    compaction: Compaction = Compaction()


class LogRetention(Section):
    """The way back after forgetting, lifetimes of logs: what `retention purge` keeps to."""

    purge_daily: bool = key(
        False, "whether the scheduler purges once a day what is over its lifetime, for good"
    )
    restore_window_days: int = key(
        90,
        "what was removed can be restored for so long: memories, facts, learnings, entities",
        ge=0,
        le=HUNDRED_YEARS_DAYS,
    )
    retrieval_log_days: int = key(
        90, "how long searches and their feedback are kept", ge=1, le=HUNDRED_YEARS_DAYS
    )
    run_log_days: int = key(90, "how long runs of jobs are kept", ge=1, le=HUNDRED_YEARS_DAYS)
    job_days: int = key(
        90,
        "how long completed jobs of consolidation are kept; the last of each thread stays",
        ge=1,
        le=HUNDRED_YEARS_DAYS,
    )


class Doctor(Section):
    """Health checks."""

    accept: tuple[Code, ...] = key((), "codes of findings that are known and accepted here")
    check_timeout_ms: int = key(5_000, "when a single check is given up", ge=50, le=600_000)


class Config(Section):
    """The whole YAML. `automation` is None where it is not declared: then the stored one rules."""

    connection: Connection = Connection()
    embedding: Embedding = Embedding()
    llm: Llm = Llm()
    automation: Automation | None = None
    retrieval: Retrieval = Retrieval()
    formation: Formation = Formation()
    retention: LogRetention = LogRetention()
    learning: Learning = Learning()
    governance: Governance = Governance()
    doctor: Doctor = Doctor()
