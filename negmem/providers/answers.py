"""What a request to a text model ends in: an answer, or a refusal that says what may help. Pure."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from negmem.core.text.json_reading import JsonValue
from negmem.providers.budget import GenerationUsage, Hold, Prices
from negmem.providers.refusals import Failure, Remedy

_OVERFLOW = re.compile(
    r"context[_ ](?:length|window)|maximum context|max(?:imum)? (?:input )?tokens|too many (?:input )?tokens"
    r"|prompt is too long|input is too long|reduce the length|request too large|exceeds the (?:model|limit)"
    r"|string too long|payload too large|range of input length",
    re.I,
)
_POLICY = re.compile(r"content[_ ](?:policy|filter|management)|safety system|moderation", re.I)
# What a model may not know of; for `max_tokens` the newer name is sent instead.
_OPTIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "response_format",
        re.compile(r"response_format|json_schema|json_object|structured output|guided", re.I),
    ),
    ("temperature", re.compile(r"temperature", re.I)),
    ("max_tokens", re.compile(r"max_tokens|max_completion_tokens", re.I)),
)
_CODES = {
    "embedder_key_refused": "llm_key_refused",
    "embedder_billing": "llm_billing",
    "embedder_rate_limited": "llm_rate_limited",
    "embedder_timeout": "llm_timeout",
    "embedder_unreachable": "llm_unreachable",
    "embedder_refused": "llm_refused",
    "embedding_response_invalid": "llm_unreachable",
}


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


def refusal_of(failure: Failure) -> Refusal:
    """What a failed call means for a text model."""
    code = _CODES.get(failure.code, "llm_unreachable")
    if is_overflow(failure):
        return Refusal(RefusalKind.TOO_LONG, "llm_request_too_long", failure.reason)
    if failure.remedy is Remedy.RETRY:
        return Refusal(RefusalKind.UNAVAILABLE, code, failure.reason, failure.retry_after_s)
    if _POLICY.search(failure.reason):
        return Refusal(RefusalKind.DECLINED, "llm_declined", failure.reason)
    if failure.remedy is Remedy.SPLIT:
        return Refusal(RefusalKind.DECLINED, code, failure.reason)
    return Refusal(RefusalKind.STOPPED, code, failure.reason)


def is_overflow(failure: Failure) -> bool:
    """Whether a request was refused for its length."""
    cause = failure.__cause__
    names = {kind.__name__ for kind in type(cause).__mro__}
    status = getattr(cause, "status_code", None)
    if "ContextWindowExceededError" in names or status == 413:
        return True
    return status in (400, 422) and bool(_OVERFLOW.search(failure.reason))


def unknown_options(failure: Failure) -> list[str]:
    """The options that a service complains of: response_format, temperature, max_tokens."""
    if failure.remedy is Remedy.RETRY or failure.code in (
        "embedder_key_refused",
        "embedder_billing",
    ):
        return []
    status = getattr(failure.__cause__, "status_code", None)
    if status not in (400, 404, 422, 501) or is_overflow(failure):
        return []
    return [option for option, words in _OPTIONS if words.search(failure.reason)]


def text_of(response: Any) -> str | Refusal:
    """The text of an answer that came, or why it has none worth reading."""
    choices = getattr(response, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    reason = getattr(choice, "finish_reason", None)
    refused = getattr(message, "refusal", None)
    if reason == "content_filter" or (isinstance(refused, str) and refused.strip()):
        told = (
            refused if isinstance(refused, str) and refused else "the service's filter stopped it"
        )
        return Refusal(RefusalKind.DECLINED, "llm_declined", told[:300])
    if reason == "length":
        cut = "the answer was cut at its limit of tokens"
        return Refusal(RefusalKind.TOO_LONG, "llm_answer_cut", cut)
    return _words(message)


def _words(message: Any) -> str:
    """What a message says: its text, its parts, or the arguments of the tool that it calls."""
    content = getattr(message, "content", None)
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str) and content.strip():
        return content
    for call in getattr(message, "tool_calls", None) or []:
        arguments = getattr(getattr(call, "function", None), "arguments", None)
        if isinstance(arguments, str) and arguments.strip():
            return arguments
    return ""


def usage_of(response: Any, hold: Hold, prices: Prices | None) -> GenerationUsage:
    """Tokens and money of an answer, as the server says; what was set aside where it says nothing."""
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
