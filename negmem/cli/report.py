"""`negmem report`: the state of a deployment on one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from negmem.cli.exits import ExitCode
from negmem.cli.options import Common, command, new_app
from negmem.errors import UsageError

app = new_app("The state of a deployment on one HTML page.")


@command(app, "report")
def report(
    common: Common,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write the page there; - is standard output."),
    ] = None,
    days: Annotated[
        int, typer.Option("--days", metavar="N", help="How far back the daily figures go: 7..366.")
    ] = 90,
    personal: Annotated[
        bool,
        typer.Option("--personal", help="Also name the largest users and topics."),
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit 0 where it would be 3.")
    ] = False,
) -> int:
    """Health, drift, growth, forgetting, retrieval, cost, topics and benchmarks. Reads only.

    The page is complete in itself and runs nothing. It goes to FILE, else into the pipe; a terminal
    gets a summary. Exit 3 where a part could not be read, which is then told with the reason.
    """
    from negmem.cli.render.deployment import draw_report
    from negmem.core.report.making import make_report
    from negmem.core.report.page import page_file, render_page

    if out == "" or (out is not None and Path(out).is_dir()):
        raise UsageError(
            "usage",
            "--out names a file",
            why=f"got {'nothing' if out == '' else f'the folder {out}'}",
            hint="negmem report --out report.html",
        )
    if out == "-" and common.json:
        raise UsageError(
            "usage",
            "--json and --out - exclude each other",
            why="standard output holds one document",
            hint="negmem report --json --out report.html",
        )
    console = common.console
    with common.session() as session:
        if out is None or out == "-":
            found = make_report(session, days=days, personal=personal)
            if out == "-" or not (common.json or console.is_terminal):
                console.page(render_page(found))
            else:
                console.answer("report/1", found, draw_report)
        else:
            path = Path(out).absolute()
            with page_file(path, personal=personal) as put:
                found = make_report(session, days=days, personal=personal)
                put(render_page(found))
            found = found.model_copy(update={"page": str(path)})
            console.answer("report/1", found, draw_report)
    return ExitCode.ATTENTION if found.unread and not exit_zero else ExitCode.DONE
