"""Text models behind litellm: an answer that fits a JSON schema, or a refusal that says why."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

JsonValue = Union[None, bool, int, float, str, "list[JsonValue]", "dict[str, JsonValue]"]


class RefusalKind(enum.Enum):
    """Why there is no answer, and so what may help."""

    UNREADABLE = "the answer is not the JSON that was asked for"
    DECLINED = "the model declined to answer"
    TOO_LONG = "the request or the answer does not fit: a smaller request may"
    UNAVAILABLE = "the service did not answer: later it may"
    CEILING = "a ceiling on calls, tokens or money is reached"
    STOPPED = "nothing that a program can do: key, account, model or request"


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
class GenerationUsage:
    """What a run took so far. `cost_usd` is None where no price is known.

    `fallbacks` counts requests for which something else than the model had to answer.
    """

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    fallbacks: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.prompt_tokens + self.completion_tokens


class Budget:
    """Ceilings on calls, tokens and US dollars that all generators of a run share. Thread-safe."""

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost_usd: float | None = None,
    ) -> None:
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.max_cost_usd = max_cost_usd
        self._lock = threading.Lock()


@dataclass(frozen=True)
class GeneratorSettings:
    """What a hosted text model needs; `timeout_s` is for one request, in seconds."""

    model: str
    api_base: str | None = None
    api_key_env: str | None = None
    timeout_s: float = 60.0
    max_retries: int = 3
    max_output_tokens: int = 2_048


class Generator:
    """A hosted text model. Several threads may call one; usage and budget are the run's."""

    def __init__(
        self,
        settings: GeneratorSettings,
        budget: Budget | None = None,
        *,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self.model = settings.model
        self.budget = budget or Budget()
        self.usage = GenerationUsage()
        self._env = env

    def generate(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, JsonValue],
        *,
        on_wait: Callable[[], None] | None = None,
    ) -> Answer | Refusal:
        """The model's answer to `messages` (role, content), asked for under a JSON schema.

        Hold no transaction open while calling. `on_wait` is called before each attempt and every
        few seconds of a wait: a worker renews its lease there; what it raises goes through.
        """
        raise NotImplementedError
