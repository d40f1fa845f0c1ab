"""What `negmem demo` shows: the commands, in order, and where they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from negmem.core import installation
from negmem.core.models.base import Model
from negmem.core.session import open_session
from negmem.db import embedded
from negmem.shipped import data_dir

SCHEMA = "negmem_demo"
APP = "demo"


@dataclass(frozen=True)
class Step:
    """One command of the demo; `arguments` are what follows `negmem`."""

    title: str
    arguments: tuple[str, ...]


class DemoStep(Model):
    """How one command of the demo ended; `answer` is its JSON document."""

    command: str
    exit_code: int
    took_ms: float
    answer: dict[str, Any] | None


class Demo(Model):
    """The whole demo. `environment` lets a person go on with the same database."""

    environment: dict[str, str]
    steps: list[DemoStep]
    took_ms: float


def environment() -> dict[str, str]:
    """The variables under which the demo's commands run; starts the embedded cluster."""
    home = embedded.home()
    cluster = embedded.start()
    folder = home / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "NEGMEM_DSN": cluster.dsn,
        "NEGMEM_SCHEMA": SCHEMA,
        "NEGMEM_APP": APP,
        "NEGMEM_CONFIG": str(folder / "negmem.yaml"),
    }


def page() -> Path:
    """Where the report's page goes."""
    return embedded.home() / "demo" / "report.html"


def clear(variables: Mapping[str, str]) -> None:
    """Remove what an earlier demo left, so that each run shows the same."""
    Path(variables["NEGMEM_CONFIG"]).unlink(missing_ok=True)
    with open_session(
        dsn=variables["NEGMEM_DSN"], schema=SCHEMA, app=APP, env={}, command="negmem demo"
    ) as session:
        if session.database.facts.ledger_exists:
            installation.uninstall(session)


def steps() -> list[Step]:
    """The commands of the demo."""
    data = data_dir() / "configs" / "demo"
    english, chinese = str(data / "english.jsonl"), str(data / "chinese.jsonl")
    return [
        Step("set up: configuration, schema, functions", ("init",)),
        Step("read conversations, in English", ("ingest", english)),
        Step("and in Chinese", ("ingest", chinese)),
        Step("prove what the database can carry", ("doctor",)),
        Step("bring functions and config into agreement", ("sync",)),
        Step(
            "search by meaning and by word, and see why",
            (
                "search",
                "when do I have to pay the deposit?",
                "--user",
                "maya",
                "-n",
                "3",
                "--explain",
            ),
        ),
        Step(
            "the same for Chinese",
            ("search", "我对什么食物过敏？", "--user", "linlan", "-n", "3", "--explain"),
        ),
        Step(
            "an identifier, as it stands",
            ("search", "HL-48-2291", "--user", "maya", "-n", "2", "--explain"),
        ),
        Step(
            "a context for the next answer, within its budget",
            ("context", "杭州出差怎么安排的？", "--user", "linlan", "--max-tokens", "400"),
        ),
        Step(
            "what pruning would take, before it takes it",
            ("curator", "prune", "--user", "maya", "--max-count", "10", "--dry-run"),
        ),
        Step("the whole on one page, for a browser", ("report", "--out", str(page()))),
    ]
