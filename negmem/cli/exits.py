"""The exit codes, in one place."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script learns from `$?`."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    ATTENTION = 3
    INTERRUPTED = 130
