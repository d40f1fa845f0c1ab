"""What can be set, with its type, range, default and meaning: the one definition of the YAML.

`configs/default.yaml`, the JSON schema, the checks of values and the texts of their errors all come from here.
Numbers carry their unit in the name; where the name can't, the description begins with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from negmem.core.models.schedule import parse_cron, parse_interval

YEAR_DAYS, HUNDRED_YEARS_DAYS = 365, 36_500


class Section(BaseModel):
    """A group of keys: unknown keys are errors, values must have their type, nothing changes after reading."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


def _parsed(parse: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text.strip()

    return AfterValidator(check)


def _positive_interval(text: str) -> None:
    if not 0 < parse_interval(text).total_seconds <= HUNDRED_YEARS_DAYS * 86_400:
        raise ValueError(f"an interval must be over zero and at most 100 years, got {text!r}")


def _identifier(text: str) -> str:
    if len(text.encode()) > 63:
        raise ValueError(f"PostgreSQL names have at most 63 bytes, got {len(text.encode())}")
    if any(ord(character) < 32 for character in text) or text != text.strip():
        raise ValueError("a name has no control characters and no blanks around it")
    if text.startswith("pg_") or text == "information_schema":
        raise ValueError(f"{text!r} is reserved by PostgreSQL")
    return text


def _scope_name(text: str) -> str:
    if any(ord(character) < 32 for character in text) or text != text.strip():
        raise ValueError("a name has no control characters and no blanks around it")
    return text


Cron = Annotated[str, _parsed(parse_cron), Field(json_schema_extra={"format": "cron"})]
PgInterval = Annotated[
    str, _parsed(_positive_interval), Field(json_schema_extra={"format": "postgresql-interval"})
]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class Connection(Section):
    """Which database, and how long to wait for it."""

    dsn: Annotated[SecretStr, Field(min_length=1)] | None = None
    """libpq string or URL, never with a password in clear; null: the PG* variables, else the embedded server"""
    schema_name: Annotated[str, Field(min_length=1), AfterValidator(_identifier)] = Field(
        default="negentropy", alias="schema"
    )
    """the schema that holds negmem's tables and functions"""
    app: Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_scope_name)] = "negmem"
    """the application whose memories are meant; it scopes every row"""
    connect_timeout_s: Annotated[int, Field(ge=1, le=600)] = 5
    """how long one attempt to reach the server may take"""
    statement_timeout_ms: Annotated[int, Field(ge=100, le=86_400_000)] = 60_000
    """when the server cancels a statement"""
    lock_timeout_ms: Annotated[int, Field(ge=10, le=3_600_000)] = 5_000
    """when a statement gives up waiting for a lock"""


class Embedding(Section):
    """What turns text into vectors. Without it search works by keyword."""

    provider: Literal["auto", "local", "onnx", "litellm", "none"] = "auto"
    """auto: local where it is installed, else none; doctor says which it is"""
    model: Annotated[str, Field(min_length=1)] | None = None
    """the model's name; required by litellm, a label for onnx, fixed for local"""
    path: Annotated[str, Field(min_length=1)] | None = None
    """onnx: the folder that holds model.onnx and tokenizer.json"""
    dims: Annotated[int, Field(ge=1, le=4_000)] | None = None
    """numbers in a vector; null: what the provider gives"""
    query_prefix: str = ""
    """onnx and litellm: text put before a query, such as 'query: ' for e5 models"""
    document_prefix: str = ""
    """onnx and litellm: text put before what is stored, such as 'passage: '"""
    api_base: Annotated[str, Field(min_length=1)] | None = None
    """litellm: the endpoint; null: the one of the model's vendor"""
    api_key_env: VariableName | None = None
    """litellm: the name of the environment variable that holds the key, never the key"""
    timeout_ms: Annotated[int, Field(ge=50, le=600_000)] = 20_000
    """when a call to the provider is given up"""
    max_retries: Annotated[int, Field(ge=0, le=20)] = 3
    """times: how often a call that may succeed later is repeated"""
    max_batch_texts: Annotated[int, Field(ge=1, le=10_000)] = 64
    """texts in one call"""

    @model_validator(mode="after")
    def _complete(self) -> Embedding:
        if self.provider == "litellm" and self.model is None:
            raise ValueError("provider litellm needs embedding.model")
        if self.provider == "onnx" and self.path is None:
            raise ValueError("provider onnx needs embedding.path")
        return self


class Llm(Section):
    """The language model, optional everywhere."""

    model: Annotated[str, Field(min_length=1)] | None = None
    """a litellm model name; its tokenizer counts the tokens of contexts; null: no model"""


class RetentionPolicy(Section):
    """The forgetting sweep."""

    decay_lambda: Annotated[float, Field(gt=0, le=10)] = 0.1
    """1/day: base rate of the forgetting curve; the rates of all types scale with it"""
    low_retention_threshold: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """score 0..1: a memory under it may be forgotten"""
    min_age_days: Annotated[int, Field(ge=1, le=HUNDRED_YEARS_DAYS)] = 7
    """a younger memory is never forgotten"""
    max_share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """share 0..1 of one user's memories that may go in a day (20 rows may always go)"""
    max_rows: Annotated[int, Field(ge=1, le=10_000_000)] = 10_000
    """rows that one call of the sweep takes; the rest waits for the next"""
    auto_cleanup_enabled: bool = False
    """whether the job cleanup_memories runs by itself"""
    cleanup_schedule: Cron = "0 2 * * *"
    """cron: when the job cleanup_memories runs (five fields, or 'N seconds')"""


class ConsolidationPolicy(Section):
    """Queueing of threads that changed."""

    enabled: bool = False
    """whether the job trigger_consolidation runs by itself"""
    schedule: Cron = "0 * * * *"
    """cron: when the job trigger_consolidation runs"""
    lookback_interval: PgInterval = "1 hour"
    """PostgreSQL interval: threads that changed within it are queued"""


class ContextAssembler(Section):
    """How a context's budget is split."""

    max_tokens: Annotated[int, Field(ge=256, le=2_000_000)] = 4_000
    """tokens that a context may have in all"""
    memory_ratio: Annotated[float, Field(gt=0, le=1)] = 0.3
    """share 0..1 of the tokens for memories"""
    history_ratio: Annotated[float, Field(gt=0, le=1)] = 0.5
    """share 0..1 of the tokens for history; what both leave is for the system prompt"""

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

    enabled: bool = False
    """whether the job reweight_relevance runs by itself"""
    schedule: Cron = "0 */6 * * *"
    """cron: when the job reweight_relevance runs"""


class Automation(Section):
    """The document that the database stores for an app: what runs there, by which numbers, when."""

    retention: RetentionPolicy = RetentionPolicy()
    consolidation: ConsolidationPolicy = ConsolidationPolicy()
    context_assembler: ContextAssembler = ContextAssembler()
    reweight_relevance: RelevanceReweighting = RelevanceReweighting()


class Retrieval(Section):
    """Search."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 10
    """results, where --limit does not say otherwise"""
    semantic_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """weight 0..1 of the vectors in a hybrid search"""
    keyword_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    """weight 0..1 of the words in a hybrid search"""
    repeat_window_s: Annotated[int, Field(ge=0, le=86_400)] = 60
    """within it a repeat or a further page of a query counts as one access"""

    @model_validator(mode="after")
    def _some_weight(self) -> Retrieval:
        if self.semantic_weight + self.keyword_weight == 0:
            raise ValueError("semantic_weight and keyword_weight are both 0: nothing could rank")
        return self


class Formation(Section):
    """Ingest."""

    batch_turns: Annotated[int, Field(ge=1, le=10_000)] = 256
    """turns that are embedded and committed together"""
    max_turn_chars: Annotated[int, Field(ge=1_000, le=50_000_000)] = 4_000_000
    """a longer turn is rejected, with its line number"""


class LogRetention(Section):
    """The way back after forgetting, and the lifetimes of logs. What is forgotten: automation.retention."""

    restore_window_days: Annotated[int, Field(ge=0, le=HUNDRED_YEARS_DAYS)] = 30
    """a deleted memory can be restored for so long"""
    retrieval_log_days: Annotated[int, Field(ge=1, le=HUNDRED_YEARS_DAYS)] = 90
    """how long searches and their feedback are kept"""
    run_log_days: Annotated[int, Field(ge=1, le=HUNDRED_YEARS_DAYS)] = 90
    """how long runs of jobs are kept"""


class _Store(Section):
    enabled: bool = False
    """whether this store is on"""


class ReviewableStore(_Store):
    """A store whose writes may wait for a person."""

    mode: Literal["always", "agentic", "propose", "hitl"] = "always"
    """who decides what is stored: always the extractor, agentic the agent, propose and hitl a person"""


class KnowledgeStore(_Store):
    """Lessons learned."""

    mode: Literal["always", "agentic", "propose", "hitl"] = "agentic"
    """who decides what is stored: always the extractor, agentic the agent, propose and hitl a person"""


class SessionContextStore(_Store):
    """The running summary of a session."""

    mode: Literal["always"] = "always"
    """always: it is kept by the extractor"""


class DecisionLogStore(_Store):
    """Decisions and their reasons."""

    mode: Literal["agentic"] = "agentic"
    """agentic: the agent logs its decisions"""


class Learning(Section):
    """What is learned about users and their world. The defaults are the preset standard."""

    profile: ReviewableStore = ReviewableStore(enabled=True)
    memory: ReviewableStore = ReviewableStore(enabled=True)
    entity: ReviewableStore = ReviewableStore(enabled=True)
    knowledge: KnowledgeStore = KnowledgeStore()
    session_context: SessionContextStore = SessionContextStore()
    decision_log: DecisionLogStore = DecisionLogStore()


class Governance(Section):
    """Who answers for changes."""

    actor: Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_scope_name)] | None = None
    """the name written beside a change of the stored config; null: database role and system user"""


class Doctor(Section):
    """Health checks."""

    accept: tuple[Code, ...] = ()
    """codes of findings that are known and accepted here"""
    check_timeout_ms: Annotated[int, Field(ge=50, le=600_000)] = 5_000
    """when a single check is given up"""


class Config(Section):
    """The whole YAML. `automation` is None where the YAML does not declare it: the stored one rules."""

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
