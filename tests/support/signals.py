"""Signals as a terminal would send them."""

from __future__ import annotations

import signal


def hear_interrupts() -> None:
    """For `preexec_fn`: a shell's background job has Ctrl-C ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
