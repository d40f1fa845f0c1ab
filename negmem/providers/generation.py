"""Text models behind litellm: an answer read as JSON, or a refusal that says why.

Nothing of a provider is imported before the first call. What a model returns is untrusted: here it is
only read; its shape and what it claims are the caller's to check.
"""

from __future__ import annotations

import enum
import importlib.util
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from negmem.core.text.json_reading import JsonValue, UnreadableError, read_json
from negmem.errors import NegmemError
from negmem.providers.budget import Budget, CeilingError, GenerationUsage, Hold, Prices
from negmem.providers.litellm_client import (
    NoRetries,
    call_bounded,
    load_litellm,
    stdout_to_stderr,
)
from negmem.providers.refusals import Failure, Remedy
from negmem.providers.tokens import TokenCounter

if TYPE_CHECKING:
    from negmem.config.model import Llm

__all__ = [
    "Answer",
    "Budget",
    "GenerationUsage",
    "Generator",
    "GeneratorSettings",
    "Refusal",
    "RefusalKind",
    "make_generator",
]

_FIRST_BACKOFF_S = 1.0
_LONGEST_WAIT_S = 60.0
_TICK_S = 5.0
_TOKENS_A_MESSAGE = 4
# After so many requests in a row without an answer the service is left alone for a while.
_FAILURES_BEFORE_PAUSE = 2
_PAUSE_S = 30.0
# So many requests refused as malformed and none accepted: it is not what they ask.
_REJECTIONS_WITHOUT_SUCCESS = 3

_OVERFLOW = re.compile(
    r"context[_ ](?:length|window)|maximum context|max(?:imum)? (?:input )?tokens|too many (?:input )?tokens"
    r"|prompt is too long|input is too long|reduce the length|request too large|exceeds the (?:model|limit)"
    r"|string too long|payload too large|range of input length",
    re.I,
)
_POLICY = re.compile(r"content[_ ](?:policy|filter|management)|safety system|moderation", re.I)
# What a model may not know, and what is sent instead; None: it is left out.
_OPTIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("response_format", re.compile(r"response_format|json_schema|json_object|structured output|guided", re.I)),
    ("temperature", re.compile(r"temperature", re.I)),
    ("max_tokens", re.compile(r"max_tokens|max_completion_tokens", re.I)),
)  # fmt: skip
_REMINDER = "Answer with the JSON object alone: no other words, no code fence."


class RefusalKind(enum.Enum):
    """Why there is no answer, and so what may help."""

    UNREADABLE = "the answer is not the JSON that was asked for"
    DECLINED = "the model or its service declined this very request"
    TOO_LONG = "the request or the answer does not fit: a smaller request may"
    UNAVAILABLE = "the service did not answer: later it may"
    CEILING = "a ceiling on calls, tokens or money is reached"
    STOPPED = "nothing that a program can do: key, account, model"


@dataclass(frozen=True)
class Refusal:
    """No answer. `code` is a code of docs/errors; `retry_after_s` what the server asked for."""

    kind: RefusalKind
    code: str
    reason: str
    retry_after_s: float | None = None

    @property
    def ends_run(self) -> bool:
        """Whether every further call of this run would end the same."""
        return self.kind in (RefusalKind.CEILING, RefusalKind.STOPPED)


@dataclass(frozen=True)
class Answer:
    """What the model said, read as JSON. Its shape is not yet checked: that is the caller's part."""

    value: JsonValue


@dataclass(frozen=True)
class GeneratorSettings:
    """What a hosted text model needs; `timeout_s` is for one request, in seconds.

    `prices` in US dollars a token, None: what the price list of the client says.
    """

    model: str
    api_base: str | None = None
    api_key_env: str | None = None
    timeout_s: float = 60.0
    max_retries: int = 3
    max_output_tokens: int = 4_096
    prices: Prices | None = None


@dataclass
class _Mood:
    """What was learned of the service; guarded by the generator's lock."""

    left_out: set[str] = field(default_factory=set)
    format: str = "json_schema"
    failures: int = 0
    rejections: int = 0
    has_succeeded: bool = False
    paused_until: float = 0.0
    paused_for: Refusal | None = None
    stopped: Refusal | None = None


class Generator:
    """A hosted text model. Several threads may call one; usage and budget are the run's.

    Tried again is only what may pass with time: 429 (honouring Retry-After), 5xx, timeouts. A key
    refused, an account without credit or an unknown model end the run at once: no later call is made.
    A model that knows no JSON schemas is asked for a JSON object, then for plain text.
    """

    def __init__(
        self,
        settings: GeneratorSettings,
        budget: Budget | None = None,
        *,
        env: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if importlib.util.find_spec("litellm") is None:
            raise NegmemError(
                "llm_not_installed",
                "the package that calls language models is not installed",
                why=f"no module litellm in {sys.prefix}",
                hint="pip install litellm     or --extractor pattern",
            )
        self.settings = settings
        self.model = settings.model
        self.budget = budget or Budget()
        self._env = os.environ if env is None else env
        self._sleep = sleep
        self._clock = clock
        self._counter = TokenCounter(settings.model)
        self._mood = _Mood()
        self._lock = threading.Lock()
        self._prices: Prices | None = settings.prices
        self._prices_known = settings.prices is not None

    @property
    def usage(self) -> GenerationUsage:
        """What the run took so far, over all generators that share the budget."""
        return self.budget.spent

    def book_fallback(self) -> None:
        """Count a request for which something else than the model had to answer."""
        self.budget.book_fallback()

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, in the model's vocabulary where it can be had."""
        return self._counter.count(text)

    def generate(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, JsonValue],
        *,
        check: Callable[[JsonValue], None] | None = None,
        on_wait: Callable[[], None] | None = None,
    ) -> Answer | Refusal:
        """The model's answer to `messages` (role, content), asked for under a JSON schema.

        Hold no transaction open while calling. An answer that can't be read, or that `check` refuses
        by raising UnreadableError, is asked for once more. `on_wait` is called before each attempt
        and every few seconds of a wait: a worker renews its lease there; what it raises goes through.
        """
        tick = on_wait or (lambda: None)
        asked = list(messages)
        for attempt in range(2):
            outcome = self._asked(asked, schema, tick)
            if not isinstance(outcome, str):
                return outcome
            try:
                value = read_json(outcome, _names(schema))
                if check is not None:
                    check(value)
                return Answer(value)
            except UnreadableError as error:
                refusal = Refusal(RefusalKind.UNREADABLE, "llm_answer_invalid", str(error))
                if attempt == 1:
                    return refusal
            asked = [*messages, {"role": "user", "content": _REMINDER}]
        return refusal

    def _asked(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, JsonValue],
        tick: Callable[[], None],
    ) -> str | Refusal:
        """The text of one answer, the request repeated while that may help."""
        prompt_tokens = sum(
            self._counter.count(message["content"]) + _TOKENS_A_MESSAGE for message in messages
        )
        attempt = 0
        while True:
            tick()
            standing = self._standing()
            if standing is not None:
                return standing
            try:
                hold = self.budget.hold(
                    prompt_tokens, self.settings.max_output_tokens, self._known_prices()
                )
            except CeilingError as error:
                return Refusal(RefusalKind.CEILING, "llm_ceiling", str(error))
            failure, response = self._called(messages, schema, hold, attempt)
            if failure is None:
                return self._read(response)
            if self._adapted(failure):
                continue
            refusal = self._refusal(failure)
            wait_s = failure.retry_after_s
            if wait_s is None:
                wait_s = _FIRST_BACKOFF_S * 2**attempt * random.uniform(0.5, 1.0)
            if (
                refusal.kind is not RefusalKind.UNAVAILABLE
                or attempt >= self.settings.max_retries
                or wait_s > _LONGEST_WAIT_S
            ):
                return self._remembered(refusal)
            self._wait(wait_s, tick)
            attempt += 1

    def _called(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, JsonValue],
        hold: Hold,
        attempt: int,
    ) -> tuple[Failure | None, Any]:
        """One request, settled in the budget whatever becomes of it."""
        usage = GenerationUsage(calls=1, retries=int(attempt > 0))
        try:
            response = self._request(messages, schema, hold)
            usage += _usage_of(response, hold, self._known_prices())
            return None, response
        except Failure as failure:
            if failure.code == "embedder_timeout":
                # It may have been answered and billed after we stopped listening.
                usage += GenerationUsage(
                    prompt_tokens=hold.prompt_tokens,
                    completion_tokens=hold.completion_tokens,
                    cost_usd=hold.cost_usd if self._known_prices() else None,
                )
            return failure, None
        finally:
            self.budget.settle(hold, usage)

    def _request(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, JsonValue], hold: Hold
    ) -> Any:
        settings = self.settings
        litellm = load_litellm()
        key = None
        if settings.api_key_env is not None:
            key = self._env.get(settings.api_key_env)
            if not key:
                reason = f"the variable {settings.api_key_env} is not set"
                raise Failure(Remedy.STOP, "embedder_key_refused", reason)
        with self._lock:
            left_out, form = set(self._mood.left_out), self._mood.format
        options: dict[str, Any] = {}
        if "temperature" not in left_out:
            options["temperature"] = 0
        name = "max_completion_tokens" if "max_tokens" in left_out else "max_tokens"
        options[name] = hold.completion_tokens
        if form == "json_schema":
            described = {"name": "answer", "strict": True, "schema": dict(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif form == "json_object":
            options["response_format"] = {"type": "json_object"}
        return call_bounded(
            lambda: litellm.completion(
                model=settings.model,
                messages=[dict(message) for message in messages],
                api_base=settings.api_base,
                api_key=key,
                timeout=settings.timeout_s,
                max_retries=NoRetries(),
                num_retries=0,
                **options,
            ),
            settings.timeout_s,
            key,
        )

    def _read(self, response: Any) -> str | Refusal:
        """The text of an answer that came."""
        with self._lock:
            self._mood.failures = 0
            self._mood.has_succeeded = True
        choices = getattr(response, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(choice, "message", None)
        reason = getattr(choice, "finish_reason", None)
        refused = getattr(message, "refusal", None)
        if reason == "content_filter" or (isinstance(refused, str) and refused.strip()):
            told = (
                refused
                if isinstance(refused, str) and refused
                else "the service's filter stopped it"
            )
            return Refusal(RefusalKind.DECLINED, "llm_declined", told[:300])
        text = _text_of(message)
        if reason == "length":
            return Refusal(
                RefusalKind.TOO_LONG, "llm_answer_cut", "the answer was cut at its token limit"
            )
        return text

    def _adapted(self, failure: Failure) -> bool:
        """Whether the failure was an option that the model doesn't know, now left out."""
        if failure.remedy is Remedy.RETRY or failure.code in (
            "embedder_key_refused",
            "embedder_billing",
        ):
            return False
        status = getattr(failure.__cause__, "status_code", None)
        if status not in (400, 404, 422, 501) or _is_overflow(failure):
            return False
        with self._lock:
            mood = self._mood
            for option, words in _OPTIONS:
                if not words.search(failure.reason):
                    continue
                if option == "response_format" and mood.format != "text":
                    mood.format = "json_object" if mood.format == "json_schema" else "text"
                    return True
                if option != "response_format" and option not in mood.left_out:
                    mood.left_out.add(option)
                    return True
        return False

    def _refusal(self, failure: Failure) -> Refusal:
        code = _CODES.get(failure.code, "llm_unreachable")
        if _is_overflow(failure):
            return Refusal(RefusalKind.TOO_LONG, "llm_request_too_long", failure.reason)
        if _POLICY.search(failure.reason) and failure.remedy is not Remedy.RETRY:
            return Refusal(RefusalKind.DECLINED, "llm_declined", failure.reason)
        if failure.remedy is Remedy.RETRY:
            return Refusal(RefusalKind.UNAVAILABLE, code, failure.reason, failure.retry_after_s)
        if failure.remedy is Remedy.SPLIT:
            return Refusal(RefusalKind.DECLINED, code, failure.reason)
        return Refusal(RefusalKind.STOPPED, code, failure.reason)

    def _remembered(self, refusal: Refusal) -> Refusal:
        """The refusal, with what it says of the calls to come."""
        with self._lock:
            mood = self._mood
            if refusal.kind is RefusalKind.DECLINED and refusal.code == "llm_refused":
                mood.rejections += 1
                if not mood.has_succeeded and mood.rejections >= _REJECTIONS_WITHOUT_SUCCESS:
                    refusal = Refusal(RefusalKind.STOPPED, refusal.code, refusal.reason)
            if refusal.kind is RefusalKind.STOPPED:
                mood.stopped = refusal
            if refusal.kind is RefusalKind.UNAVAILABLE:
                mood.failures += 1
                wait_s = refusal.retry_after_s or 0.0
                if mood.failures >= _FAILURES_BEFORE_PAUSE or wait_s > 0:
                    mood.paused_until = self._clock() + max(wait_s, _PAUSE_S)
                    mood.paused_for = refusal
        return refusal

    def _standing(self) -> Refusal | None:
        """Why no call is made at all, if so."""
        with self._lock:
            if self._mood.stopped is not None:
                return self._mood.stopped
            if self._mood.paused_for is not None and self._clock() < self._mood.paused_until:
                return self._mood.paused_for
            return None

    def _wait(self, seconds: float, tick: Callable[[], None]) -> None:
        left = seconds
        while left > 0:
            piece = min(left, _TICK_S)
            self._sleep(piece)
            left -= piece
            tick()

    def _known_prices(self) -> Prices | None:
        """As configured, else as the client's price list says, else None."""
        if not self._prices_known:
            litellm = load_litellm()
            try:
                with stdout_to_stderr():
                    info = dict(litellm.get_model_info(self.model))
            # litellm raises a bare Exception for a model that its price list lacks.
            except Exception:
                info = {}
            prompt, completion = info.get("input_cost_per_token"), info.get("output_cost_per_token")
            if prompt is not None and completion is not None:
                self._prices = Prices(float(prompt), float(completion))
            self._prices_known = True
        return self._prices


_CODES = {
    "embedder_key_refused": "llm_key_refused",
    "embedder_billing": "llm_billing",
    "embedder_rate_limited": "llm_rate_limited",
    "embedder_timeout": "llm_timeout",
    "embedder_unreachable": "llm_unreachable",
    "embedder_refused": "llm_refused",
    "embedding_response_invalid": "llm_unreachable",
}


def _is_overflow(failure: Failure) -> bool:
    cause = failure.__cause__
    names = {kind.__name__ for kind in type(cause).__mro__}
    status = getattr(cause, "status_code", None)
    if "ContextWindowExceededError" in names or status == 413:
        return True
    return status in (400, 422) and bool(_OVERFLOW.search(failure.reason))


def _names(schema: Mapping[str, JsonValue]) -> list[str]:
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _text_of(message: Any) -> str:
    """What a message says: its text, its parts, or the arguments of the tool that it calls."""
    content = getattr(message, "content", None)
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str) and content.strip():
        return content
    for call in getattr(message, "tool_calls", None) or []:
        arguments = getattr(getattr(call, "function", None), "arguments", None)
        if isinstance(arguments, str) and arguments.strip():
            return arguments
    return ""


def _usage_of(response: Any, hold: Hold, prices: Prices | None) -> GenerationUsage:
    """Tokens and money of an answer, as the server says; estimated where it says nothing usable."""
    usage = getattr(response, "usage", None)
    prompt = _count(getattr(usage, "prompt_tokens", None))
    completion = _count(getattr(usage, "completion_tokens", None))
    if prompt is None or completion is None or prompt + completion == 0:
        prompt, completion = hold.prompt_tokens, hold.completion_tokens
    cost = prices.cost(prompt, completion) if prices else None
    if cost is None:
        said = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        cost = float(said) if isinstance(said, (int, float)) and said >= 0 else None
    return GenerationUsage(prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**40:
        return None
    return int(value)


def make_generator(
    config: Llm, budget: Budget | None = None, *, env: Mapping[str, str] | None = None
) -> Generator | None:
    """The configured text model, None where none is named.

    Raises: NegmemError `llm_not_installed`.
    """
    if config.model is None:
        return None
    prices = None
    if config.input_usd_per_million is not None and config.output_usd_per_million is not None:
        prices = Prices(config.input_usd_per_million / 1e6, config.output_usd_per_million / 1e6)
    settings = GeneratorSettings(
        model=config.model,
        api_base=config.api_base,
        api_key_env=config.api_key_env,
        timeout_s=config.timeout_ms / 1_000,
        max_retries=config.max_retries,
        max_output_tokens=config.max_output_tokens,
        prices=prices,
    )
    return Generator(settings, budget, env=env)
