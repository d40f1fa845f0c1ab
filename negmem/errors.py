"""The errors that a person may meet: each with a stable code, evidence and a remedy."""

from __future__ import annotations


class NegmemError(Exception):
    """Something failed (exit code 1).

    Args: code, stable snake_case, has a page in docs/errors; message, what failed; why, the evidence
    (what was looked at, as whom); hint, what to do, a command to paste where there is one.
    """

    exit_code = 1

    def __init__(self, code: str, message: str, *, why: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.why = why
        self.hint = hint


class UsageError(NegmemError):
    """The command line or the YAML is wrong; nothing was tried (exit code 2)."""

    exit_code = 2


class Interrupted(NegmemError):
    """Somebody pressed Ctrl-C, or a supervisor sent SIGTERM (exit code 130)."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__(
            "interrupted",
            "interrupted",
            why="what was not committed was rolled back",
            hint="run the same command again: it goes on where it stopped",
        )
