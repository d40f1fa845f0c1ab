"""The console script: an interrupt while the program loads ends it without a trace of half an import."""

from __future__ import annotations

import signal


def run() -> None:
    """Load the command line, then run it; Ctrl-C is told once there is somebody to tell it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where the caller ignores it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from negmem.cli import main

    signal.signal(signal.SIGINT, handler)
    main.run()
