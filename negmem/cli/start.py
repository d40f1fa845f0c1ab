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
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # A supervisor's way to say Ctrl-C: what stands half done is taken back all the same.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    main.run()
