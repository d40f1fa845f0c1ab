"""litellm, tamed: imported at the first call, kept off stdout and the price list, bounded in time."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from negmem.errors import NegmemError
from negmem.providers.refusals import Failure, Remedy, classify

# The client's own timeout comes first; this is for a server that sends a byte now and then.
_GRACE_S = 1.0


class NoRetries(int):
    """A zero that is true: litellm reads `max_retries or 2`, and so waits and pays unasked."""

    def __new__(cls) -> NoRetries:
        return super().__new__(cls, 0)

    def __bool__(self) -> bool:
        return True


_quiet_lock = threading.Lock()
_quiet_depth = 0
_real_stdout: Any = None


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """What the library prints must not land in a JSON document; several threads may be inside."""
    global _quiet_depth, _real_stdout
    with _quiet_lock:
        if _quiet_depth == 0:
            _real_stdout, sys.stdout = sys.stdout, sys.stderr
        _quiet_depth += 1
    try:
        yield
    finally:
        with _quiet_lock:
            _quiet_depth -= 1
            if _quiet_depth == 0:
                sys.stdout, _real_stdout = _real_stdout, None


def require_installed() -> None:
    """Refuse where litellm is absent, without importing it.

    Raises: NegmemError `embedder_not_installed`.
    """
    if importlib.util.find_spec("litellm") is None:
        raise NegmemError(
            "embedder_not_installed",
            "the package that calls hosted models is not installed",
            why=f"no module litellm in {sys.prefix}",
            hint="pip install litellm",
        )


def load_litellm() -> Any:
    """The library, quiet; it takes seconds. Raises: NegmemError `embedder_not_installed`."""
    require_installed()
    # Read at import: without it a price list is fetched from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with stdout_to_stderr():
        import litellm
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def call_bounded(call: Callable[[], Any], timeout_s: float, secret: str | None) -> Any:
    """The result of one request, given up after `timeout_s`. Raises: Failure."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            outcome.append(error)

    worker = threading.Thread(target=run, name="negmem-litellm", daemon=True)
    with stdout_to_stderr():
        worker.start()
        worker.join(max(0.0, timeout_s) + _GRACE_S)
    if not outcome:
        raise Failure(Remedy.RETRY, "embedder_timeout", f"no answer within {timeout_s:.1f} s")
    if isinstance(outcome[0], BaseException):
        raise classify(outcome[0], secret=secret) from outcome[0]
    return outcome[0]
