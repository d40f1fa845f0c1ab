"""What a failed call to a hosted model means: try again, ask for less, or stop.

litellm gives one status in several exception classes and hides some behind others, so the status,
the headers and a few words of the message decide, not the class.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from negmem.errors import NegmemError


class Remedy(enum.Enum):
    """What may help."""

    RETRY = "the same request, later"
    SPLIT = "a smaller request"
    STOP = "nothing that a program can do"


_MESSAGES = {
    "embedder_key_refused": "the embedding service refused the key",
    "embedder_billing": "the account at the embedding service has no credit or quota left",
    "embedder_rate_limited": "the embedding service asks to slow down",
    "embedder_timeout": "the embedding service did not answer in time",
    "embedder_unreachable": "the embedding service could not be reached or failed",
    "embedder_refused": "the embedding service refused the request",
    "embedding_response_invalid": "the embedding service answered with something unusable",
}
_HINTS = {
    "embedder_key_refused": "negmem config set embedding.api_key_env NAME     and export NAME",
    "embedder_billing": "negmem search --level keyword …     until the account is in order",
    "embedder_rate_limited": "negmem config set embedding.max_batch_texts 8     or wait",
    "embedder_timeout": "negmem config set embedding.timeout_ms 60000",
    "embedder_unreachable": "negmem doctor",
    "embedder_refused": "negmem config show",
    "embedding_response_invalid": "negmem config show",
}
_BILLING = re.compile(
    r"insufficient[_ ](quota|credit|balance|fund)|exceeded your (current )?quota|billing"
    r"|payment required",
    re.I,
)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided", re.I)
_NO_KEY = re.compile(r"api_key client option must be set|missing credentials", re.I)
_TIMEOUT_CLASSES = frozenset({"Timeout", "APITimeoutError", "TimeoutException", "ReadTimeout"})
_MAX_REASON_CHARS = 300


class Failure(Exception):
    """One failed call. `retry_after_s` is what the server asked for, None where it said nothing."""

    def __init__(
        self, remedy: Remedy, code: str, reason: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(reason)
        self.remedy = remedy
        self.code = code
        self.reason = reason
        self.retry_after_s = retry_after_s

    def error(self, model: str) -> NegmemError:
        """The failure as it is told to a person."""
        why = f"{model}: {self.reason}"
        if self.retry_after_s is not None:
            why += f" (try again in {self.retry_after_s:.0f} s)"
        return NegmemError(self.code, _MESSAGES[self.code], why=why, hint=_HINTS[self.code])


def _reason(error: BaseException, secret: str | None) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if secret:
        text = text.replace(secret, "***")
    # Services echo keys in part ("sk-abc***xyz") or with a few characters left out.
    text = re.sub(r"\b(sk|key|Bearer)[-_ ][\w*.-]{6,}", r"\1-***", text)
    return text if len(text) <= _MAX_REASON_CHARS else text[: _MAX_REASON_CHARS - 1] + "…"


def _headers(error: BaseException) -> Mapping[str, str]:
    for holder in (getattr(error, "response", None), error):
        for name in ("headers", "litellm_response_headers"):
            headers = getattr(holder, name, None)
            if headers:
                return {str(key).lower(): str(value) for key, value in dict(headers).items()}
    return {}


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after` (seconds or a date); never negative."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - now).total_seconds())


def classify(error: BaseException, *, secret: str | None = None) -> Failure:
    """The failure behind an exception of the client; the secret is blotted out of its text."""
    reason = _reason(error, secret)
    status = getattr(error, "status_code", None)
    names = {kind.__name__ for kind in type(error).__mro__}
    code = getattr(error, "code", None)
    wait = retry_after_s(_headers(error), datetime.now(timezone.utc))
    if names & _TIMEOUT_CLASSES:
        return Failure(Remedy.RETRY, "embedder_timeout", reason, wait)
    if status == 402 or (status in (400, 403, 429) and _BILLING.search(f"{code} {error}")):
        return Failure(Remedy.STOP, "embedder_billing", reason)
    if status in (401, 403) or _NO_KEY.search(str(error)):
        return Failure(Remedy.STOP, "embedder_key_refused", reason)
    if status == 429:
        return Failure(Remedy.RETRY, "embedder_rate_limited", reason, wait)
    if status == 404 or _NO_PROVIDER.search(str(error)) or "UnsupportedParamsError" in names:
        return Failure(Remedy.STOP, "embedder_refused", reason)
    if status in (400, 413, 422):
        return Failure(Remedy.SPLIT, "embedder_refused", reason)
    if isinstance(status, int):
        # 408, 409, 425, 5xx; litellm also says 500 for an answer that is no JSON.
        return Failure(Remedy.RETRY, "embedder_unreachable", reason, wait)
    return Failure(Remedy.RETRY, "embedding_response_invalid", reason)
