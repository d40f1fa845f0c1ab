"""Text models behind litellm: an answer read as JSON, or a refusal that says why.

Nothing of a provider is imported before the first call. What a model returns is untrusted: here it is
only read; its shape and what it claims are the caller's to check.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from negmem.core.text.json_reading import JsonValue, UnreadableError, read_json
from negmem.errors import NegmemError
from negmem.providers.answers import (
    Answer,
    Refusal,
    RefusalKind,
    refusal_of,
    text_of,
    unknown_options,
    usage_of,
)
from negmem.providers.budget import Budget, CeilingError, GenerationUsage, Hold, Prices
from negmem.providers.litellm_client import (
    NoRetries,
    call_bounded,
    load_litellm,
    stdout_to_stderr,
)
from negmem.providers.refusals import Failure
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
_FOREIGN_MARGIN = 1.15
# After so many requests in a row without an answer the service is left alone for a while.
_FAILURES_BEFORE_PAUSE = 2
_PAUSE_S = 30.0
# So many requests refused as malformed and none accepted: it is not what they ask.
_REJECTIONS_WITHOUT_SUCCESS = 3

_REMINDER = "Answer with the JSON object alone: no other words, no code fence."


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

    def booked_on(self, budget: Budget) -> Generator:
        """The same service, with what was learned of it, whose calls another budget bears."""
        other = copy.copy(self)
        other.budget = budget
        return other

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
        prompt_tokens = self._prompt_tokens(messages, schema)
        attempt = 0
        while True:
            tick()
            standing = self._standing()
            if standing is not None:
                return standing
            key_name = self.settings.api_key_env
            if key_name is not None and not self._env.get(key_name):
                reason = f"the variable {key_name} is not set"
                return self._remembered(Refusal(RefusalKind.STOPPED, "llm_key_refused", reason))
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
            refusal = refusal_of(failure)
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

    def _prompt_tokens(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, JsonValue]
    ) -> int:
        """Tokens of a request, on the safe side where the model's vocabulary is not known."""
        texts = [json.dumps(schema), *(message["content"] for message in messages)]
        total = sum(self._counter.count(text) + _TOKENS_A_MESSAGE for text in texts)
        return total if self._counter.is_exact else int(total * _FOREIGN_MARGIN)

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
            usage += usage_of(response, hold, self._known_prices())
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
        key = self._env.get(settings.api_key_env) if settings.api_key_env else None
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
        with self._lock:
            self._mood.failures = 0
            self._mood.has_succeeded = True
        return text_of(response)

    def _adapted(self, failure: Failure) -> bool:
        """Whether the failure was an option that the model doesn't know, now sent otherwise."""
        with self._lock:
            mood = self._mood
            for option in unknown_options(failure):
                if option == "response_format" and mood.format != "text":
                    mood.format = "json_object" if mood.format == "json_schema" else "text"
                    return True
                if option != "response_format" and option not in mood.left_out:
                    mood.left_out.add(option)
                    return True
        return False

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


def _names(schema: Mapping[str, JsonValue]) -> list[str]:
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


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
