"""`negmem top`: what goes on, on a screen that stays."""

from __future__ import annotations

import contextlib
import json
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import NegmemError

if TYPE_CHECKING:
    from rich.text import Text

    from negmem.core.models.top import Top
    from negmem.core.top import Watch

app = new_app("What goes on, on a screen that stays.")

_INTERVAL_S = 2.0
_LONGEST_WAIT_S = 30.0
_HISTORY = 20
_TOLD_FOR_S = 15.0


@command(app, "top")
def top(
    common: Common,
    interval: Annotated[
        float | None,
        typer.Option("--interval", metavar="SECONDS", min=0.2, help="Between looks. Default: 2."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One look, then end.")] = False,
    count: Annotated[
        int | None, typer.Option("--count", metavar="N", min=1, help="End after N looks.")
    ] = None,
) -> int:
    """The queue, running jobs, last runs, searches a minute, rows, drift, locks and connections.

    Keys: q ends, space holds, d looks for drift now, + and - change the interval. One look where
    standard output is no terminal. --json is one document, with --interval JSON Lines. A connection
    that breaks is told and made again. Reads only.
    """
    from negmem.cli.render.top import draw_top
    from negmem.core.top import Watch

    console = common.console
    is_stream = common.json and interval is not None and not once
    with common.session() as session:
        watch = Watch(session)
        if is_stream:
            _stream(watch, interval or _INTERVAL_S, count)
            return ExitCode.DONE
        if common.json or once or not console.is_terminal:
            found = watch.look()
            console.answer("top/1", found, draw_top)
            return ExitCode.ATTENTION if found.unread else ExitCode.DONE
        found = watch.look()  # what is wrong from the start is an error like any other
        try:
            _Screen(common, watch, interval or _INTERVAL_S, found).run(count)
        except KeyboardInterrupt:  # a way to leave the screen like q: nothing was cut off
            return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _stream(watch: Watch, interval_s: float, count: int | None) -> None:
    """A line of JSON a look; where the server is away, a line that says so."""
    from negmem.core.top import AWAY

    failed = looks = 0
    while count is None or looks < count:
        if looks:
            time.sleep(interval_s if not failed else min(interval_s * 2**failed, _LONGEST_WAIT_S))
        try:
            document = {"schema": "negmem.top/1", **watch.look().model_dump(mode="json")}
            failed = 0
        except NegmemError as error:
            if error.code not in AWAY or not looks:
                raise
            failed += 1
            told = {name: getattr(error, name) for name in ("code", "message", "why", "hint")}
            document = {"schema": "negmem.error/1", "error": told}
        looks += 1
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        sys.stdout.flush()


class _Screen:
    """The screen, the keys, and what is known while the server is away."""

    def __init__(self, common: Common, watch: Watch, interval_s: float, first: Top) -> None:
        self._console = common.console
        self._watch = watch
        self._interval_s = interval_s
        self._top = first
        self._rates: deque[int] = deque(maxlen=_HISTORY)
        self._is_held = False
        self._failed = 0
        self._lost_at = self._back_at = self._next_at = 0.0
        self._told = ""

    def run(self, count: int | None) -> None:
        """Look and draw until q, or `count` looks are made."""
        from rich.console import Console as RichConsole
        from rich.live import Live

        looks = 1
        self._note_rate()
        self._next_at = time.monotonic() + self._wait_s()
        screen = RichConsole(
            file=sys.stdout,
            highlight=False,
            no_color=not self._console.colored,
            markup=False,
            emoji=False,
        )
        with (
            _keys() as read_key,
            Live(console=screen, screen=True, auto_refresh=False, redirect_stderr=False) as live,
        ):
            while True:
                live.update(self._frame(screen.size.width, screen.size.height), refresh=True)
                if count is not None and looks >= count:
                    return
                left_s = max(0.0, self._next_at - time.monotonic())
                key = read_key(min(left_s, 1.0) if self._failed else left_s)
                if key in ("q", "Q", "\x1b"):
                    return
                if key in ("+", "-"):
                    factor = 0.5 if key == "+" else 2.0
                    self._interval_s = min(60.0, max(0.2, self._interval_s * factor))
                elif key == " ":
                    self._is_held = not self._is_held
                if self._is_held:
                    self._next_at = time.monotonic() + self._wait_s()
                    continue
                if not key and time.monotonic() < self._next_at:
                    continue  # away: only the seconds are drawn anew
                self._look(afresh=key == "d")
                self._next_at = time.monotonic() + self._wait_s()
                looks += 1

    def _wait_s(self) -> float:
        if self._failed:
            return min(self._interval_s * 2.0 ** (self._failed - 1), _LONGEST_WAIT_S)
        return 3_600.0 if self._is_held else self._interval_s

    def _look(self, *, afresh: bool) -> None:
        from negmem.core.top import AWAY

        try:
            self._top = self._watch.look(afresh=afresh or self._failed > 0)
        except NegmemError as error:
            if error.code not in AWAY:
                raise
            if not self._failed:
                self._lost_at = time.monotonic()
            self._failed += 1
            self._told = error.message
            return
        self._note_rate()
        if self._failed:
            self._back_at = time.monotonic()
            self._told = f"connected again after {self._back_at - self._lost_at:,.0f} s"
        elif time.monotonic() - self._back_at > _TOLD_FOR_S:
            self._told = ""
        self._failed = 0

    def _note_rate(self) -> None:
        if self._top.searches is not None:
            self._rates.append(self._top.searches.in_1_minute)

    def _frame(self, width: int, height: int) -> Text:
        from rich.text import Text

        from negmem.cli.render.text import columns, one_line
        from negmem.cli.render.top import top_lines

        style = self._console.style
        top = self._top
        head = f"negmem top · {one_line(top.target)} · app {one_line(top.app)}"
        at = f"{top.at.astimezone():%H:%M:%S %Z}"
        room = max(0, width - len(at) - 2)
        head = one_line(head, room)
        lines = [f"{style(head + ' ' * (room - columns(head)), 'bold')}  {at}"]
        lines.append(style(one_line(self._state(), width), self._tone()))
        lines += ["", *top_lines(top, style, width, list(self._rates))]
        if len(lines) > height:
            left = len(lines) - height + 1
            lines = [*lines[: height - 1], style(f"  … {left} more lines", "dim")]
        text = Text.from_ansi("\n".join(lines))
        text.no_wrap = True
        return text

    def _tone(self) -> str:
        return "fail" if self._failed else "ok" if self._told else "dim"

    def _state(self) -> str:
        if self._failed:
            now = time.monotonic()
            return (
                f"NOT CONNECTED {now - self._lost_at:,.0f} s: {self._told} · old figures,"
                f" again in {max(0.0, self._next_at - now):.0f} s"
            )
        held = "held · " if self._is_held else ""
        told = f"{self._told} · " if self._told else ""
        return f"{told}{held}every {self._interval_s:.3g} s · q ends · space holds · d drift · + - faster, slower"


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """A function that waits so many seconds for a key and returns it, "" for none."""
    if not sys.stdin.isatty():

        def sleep(seconds: float) -> str:
            time.sleep(seconds)
            return ""

        yield sleep
        return
    import os
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def read_key(seconds: float) -> str:
        ready, _, _ = select.select([handle], [], [], seconds)
        if not ready:
            return ""
        pressed = os.read(handle, 32).decode("utf-8", "replace")
        return "" if len(pressed) > 1 and pressed.startswith("\x1b") else pressed[:1]

    try:
        tty.setcbreak(handle)
        yield read_key
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
