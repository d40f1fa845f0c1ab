"""The report as one HTML page: no script, no request, every stored text escaped."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from negmem.core.models.report import Report
from negmem.core.report.charts import sparkline
from negmem.core.report.drawings import drawings_of

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
# What a remedy begins with where it can be pasted; a statement of SQL begins in capitals.
_PROGRAMS = frozenset(("negmem", "pip", "apt-get", "export", "timedatectl", "pg_restore", "psql"))
_LINKING = re.compile(r"(or|then):? (?=negmem |[A-Z]{4,} )")
# Marks that turn the direction of the text around them, and what no page may hold.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def render_page(report: Report) -> str:
    """The whole page. It asks for nothing outside itself and runs nothing, whatever was stored."""
    from markupsafe import Markup

    template = _environment().get_template("page.html.jinja")
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    return template.render(r=report, draw=drawings_of(report), style=Markup(style), spark=_spark)


@contextlib.contextmanager
def page_file(path: Path, *, personal: bool = False) -> Iterator[Callable[[str], None]]:
    """A function that puts the page's text at `path`, whole or not at all; an older one is replaced.

    Opened before the report is read, so that a folder that takes no file is known at once. A page that
    names persons is for its owner's eyes alone.
    """
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if personal else 0o666)
    with os.fdopen(handle, "w", encoding="utf-8") as file:

        def put(text: str) -> None:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            draft.replace(path)

        try:
            yield put
        finally:
            draft.unlink(missing_ok=True)


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )
    made.filters.update(
        count=count,
        short=short,
        size=size,
        share=share,
        ms=ms,
        money=money,
        day=day,
        moment=moment,
        about=about,
        remedy=remedy,
    )
    return made


def _cleaned(value: Any) -> Any:
    """A text without control characters and without marks that turn the direction of what follows."""
    if type(value) is not str:
        return value
    return "".join(
        c for c in value if c in "\n\t" or (c not in _TURNING and unicodedata.category(c) != "Cc")
    )


def _spark(values: list[float], label: str) -> Any:
    from markupsafe import Markup

    return Markup(sparkline(values, label=label))


def remedy(text: str) -> list[tuple[bool, str]]:
    """What to do in pieces, in their order: whether a piece can be pasted, and its text.

    Wide gaps part a command from the remark beside it, as the terminal shows them.
    """
    found: list[tuple[bool, str]] = []
    for piece in re.split(r"\s{2,}", text.strip()):
        linked = _LINKING.match(piece)
        if linked:
            found.append((False, linked[1]))
            piece = piece[linked.end() :]
        first = piece.partition(" ")[0]
        is_sql = len(first) > 3 and first.isalpha() and first.isupper()
        if piece:
            found.append((is_sql or first in _PROGRAMS, piece))
    return found


def about(value: float | None, is_sampled: bool) -> str:
    """A number; of an estimate three digits, and that it is one."""
    if value is None or not is_sampled or value == 0:
        return count(value)
    return f"about {float(f'{value:.3g}'):,.0f}"


def count(value: float | None) -> str:
    """A whole number with its thousands apart; – for none."""
    return "–" if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """A number in three digits: 950, 1.25k, 12.5M."""
    if value is None:
        return "–"
    for limit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{name}"
    return f"{value:.3g}"


def size(value: float | None) -> str:
    """Bytes in the unit that fits."""
    if value is None:
        return "–"
    amount = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:,.3g} TB"


def share(value: float | None) -> str:
    """A share in percent."""
    if value is None:
        return "–"
    return f"{value:.1%}" if 0 < abs(value) < 0.1 else f"{value:.0%}"


def ms(value: float | None) -> str:
    """Milliseconds; seconds from a thousand on."""
    if value is None:
        return "–"
    return f"{value / 1000:,.3g} s" if value >= 999.5 else f"{value:,.3g} ms"


def money(value: float | None) -> str:
    """US dollars, with cents, and with more digits below ten cents."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def day(value: date) -> str:
    """A date such as 3 Nov."""
    return f"{value.day} {value:%b}"


def moment(value: datetime | None) -> str:
    """A moment in UTC, to the minute."""
    if value is None:
        return "–"
    return f"{value.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"
