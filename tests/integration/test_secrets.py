"""Passwords and keys stand nowhere: not in answers, logs, errors, files, the database, nor in any list of processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from negmem.db import embedded
from tests.support.chat_server import ChatReply, chat_server
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedding_server import embedding_server, failure
from tests.support.ingesting import conversation, write_lines
from tests.support.roles import login_role
from tests.support.waiting import eventually

PASSWORD = "hunter2-Zq&密"
KEY = "sk-zqx-9f8e7d6c5b4a"
# As it stands, and as it stands in a URL, in JSON, in a repr.
SECRETS = (PASSWORD, "hunter2-Zq", KEY, KEY[:14])
YAML = """
connection: {dsn: "postgresql://%(login)s:${DB_WORD}@%(host)s:%(port)s/%(database)s"}
embedding:
  {provider: litellm, model: openai/test-embedder, api_base: %(embed)s, api_key_env: EMBED_KEY, max_retries: 0}
llm: {model: openai/test, api_base: %(chat)s, api_key_env: CHAT_KEY, max_retries: 0}
governance: {pii: {policy: mark}}
"""
COMMANDS = (
    "init --roles", "init", "doctor", "config show", "config export", "config validate", "config path", "db status",
    "db url", "db migrate", "automation show", "diff", "sync", "automation export --format crontab",
    "automation export --format kubernetes", "automation enable cleanup_memories", "automation run cleanup_memories",
    "automation logs", "scheduler run --once", "scheduler status", "ingest talk.jsonl --user ann",
    "memory add 我住在杭州 --user ann", "search 杭州 --user ann", "search 杭州 --user ann --level vector --strict",
    "context 杭州 --user ann", "consolidate --user ann --extractor llm", "summary refresh --user ann --extractor llm",
    "embed status", "metrics", "report --out report.html --user ann", "audit export --user ann --output out.jsonl",
    "audit disclose --user ann --output page.html", "audit history --user ann", "audit head --erasures erased.jsonl",
    "audit verify", "pii scan", "import out.jsonl", "config set retention.job_days 91", "nonsense", "search",
    "audit erase --user ann --yes --output certificate.json", "bench load --rows 20 --users 1 --clients 1 --seconds 0.2",
    "uninstall --dry-run",
)  # fmt: skip


def leaks(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def below(pid: int) -> Iterator[int]:
    for task in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            yield int(task.parent.name)
            yield from below(int(task.parent.name))


@contextmanager
def watched(seen: Callable[[], str]) -> Iterator[list[str]]:
    """What `seen` gives, over and over while the block runs; the list holds what leaked."""
    found: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            text = seen()
            found.extend(f"{one}: {text[:300]}" for one in leaks(text))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of its own: `db` starts its server there, which ends with the test."""
    place = tmp_path / "home"
    yield place
    embedded.stop(place)


@pytest.mark.servers("full")
def test_no_secret_is_told_stored_or_listed(
    run_cli: CliRunner, database: TestDatabase, tmp_path: Path, home: Path
) -> None:
    place = urlsplit(database.server.password_dsn or "")
    escaped = PASSWORD.replace("'", "''")
    with (
        login_role(
            database.server, database.name, attributes=f"SUPERUSER PASSWORD '{escaped}'"
        ) as login,
        embedding_server() as embedder,
        chat_server() as chat,
    ):
        database.rows("DROP SCHEMA negentropy CASCADE")
        said = f"Incorrect API key provided: {KEY}. You can find yours at /account"
        embedder.mood = lambda texts: (
            failure(401, said, "invalid_api_key") if "杭州" in texts[0] else None
        )
        chat.mood = lambda body: ChatReply(
            401, {}, document={"error": {"message": said, "code": "invalid_api_key"}}
        )
        yaml = YAML % {
            "login": login, "host": place.hostname, "port": place.port, "database": database.name,
            "embed": embedder.base_url, "chat": chat.base_url,
        }  # fmt: skip
        (tmp_path / "negmem.yaml").write_text(yaml, encoding="utf-8")
        write_lines(
            tmp_path / "talk.jsonl", [conversation("谈话", "我住在杭州", "好", "I like tea")]
        )
        env = {
            **{k: v for k, v in run_cli.env.items() if not k.startswith(("NEGMEM", "PG"))},
            "NEGMEM_HOME": str(home),
            "DB_WORD": PASSWORD.replace("&", "%26"), "EMBED_KEY": KEY, "CHAT_KEY": KEY,
        }  # fmt: skip
        cli = CliRunner(env=env, cwd=tmp_path)

        def activity() -> str:
            rows = database.rows(
                "SELECT concat_ws(' ', application_name, query) FROM pg_stat_activity"
            )
            return "\n".join(row[0] for row in rows)

        def processes() -> str:
            shown = []
            for pid in below(os.getpid()):
                try:
                    shown.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
                except OSError:
                    continue
            return "\n".join(shown)

        with watched(activity) as told, watched(processes) as listed:
            outputs = []
            for number, line in enumerate(COMMANDS):
                flags = ["-vv", "--json"] if number % 2 else ["-vv"]
                done = cli(*line.split(), *flags)
                assert leaks(done.stdout + done.stderr) == [], (line, done.stdout, done.stderr)
                outputs.append(done.code)
            for bad in (
                f"postgresql:/u:{PASSWORD}@h/db", f"postgresql+psycopg://u:{PASSWORD}@h/db", f"{PASSWORD}%zz",
                f"postgresql://u:{PASSWORD}@127.0.0.1:9/db", f"host=127.0.0.1 port={PASSWORD}", f"password={PASSWORD} x",
            ):  # fmt: skip
                for flag in ("--json", "-vv"):
                    done = cli("doctor", "--dsn", bad, flag)
                    assert leaks(done.stdout + done.stderr) == [], (bad, flag, done)
            crashed = subprocess.run(
                [sys.executable, "-c", CRASH, "memory", "list", "--user", "ann", "-vv"],
                env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert crashed.returncode == 1 and "Traceback" in crashed.stderr, crashed
            assert leaks(crashed.stdout + crashed.stderr) == []
            psql = subprocess.Popen(
                [sys.executable, "-m", "negmem.cli", "db", "psql", "--", "-c", "SELECT pg_sleep(60)"],
                env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            eventually(lambda: "pg_sleep" in activity())
            assert "SELECT pg_sleep" in processes()
            psql.send_signal(signal.SIGTERM)
            psql.wait()
        assert (told, listed) == ([], [])
        assert outputs.count(0) > 25, outputs
        for file in tmp_path.rglob("*"):
            if file.is_file():
                content = file.read_bytes().decode(errors="replace")
                assert leaks(content) == [], file
        assert "${DB_WORD}" in (tmp_path / "negmem.yaml").read_text(encoding="utf-8")
        dumped = subprocess.run(
            [embedded.client_program("pg_dump"), "-d", database.dsn],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        assert "CREATE TABLE negentropy.memories" in dumped and leaks(dumped) == []


# A bug in the midst of a command, with the connection string and the key at hand.
CRASH = """
import sys
from negmem.db import connect
def broken(self, noun, name, params=None):
    raise RuntimeError("a bug")
connect.Database.rows = broken
from negmem.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
