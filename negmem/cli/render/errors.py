"""An error as three short lines on stderr, or as one JSON document on stdout."""

from __future__ import annotations

import json
import sys
import traceback

from negmem.cli.render.text import safe_text
from negmem.errors import NegmemError


def write_error(error: NegmemError, *, as_json: bool, cause: BaseException | None = None) -> None:
    """Write `error`; with `cause`, its trace follows on stderr (a debug run asked for it)."""
    if cause is not None:
        traceback.print_exception(type(cause), cause, cause.__traceback__, file=sys.stderr)
    if as_json:
        document = {
            "schema": "negmem.error/1",
            "error": {
                "code": error.code,
                "message": error.message,
                "why": error.why,
                "hint": error.hint,
            },
            "warnings": [],
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    lines = [f"error[{error.code}]: {error.message}"]
    if error.why:
        lines.append("  why: " + error.why.replace("\n", "\n       "))
    if error.hint:
        lines.append(f"  fix: {error.hint}")
    sys.stderr.write("\n".join(safe_text(line) for line in lines) + "\n")
