"""The report: what stands in it, what must not, and that each part fails alone."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from negmem.core import top
from negmem.core.evolution.retention import preview
from negmem.core.models.report import SECTIONS
from negmem.core.report import sections
from negmem.core.report.making import make_report
from negmem.core.report.page import render_page
from negmem.core.retrieval import metrics
from negmem.core.session import Session, open_session
from negmem.db.sqlfiles import blocks
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.deployment import HOSTILE, SHARED, TURNED, fill
from tests.support.ingesting import session_on
from tests.support.roles import as_role, login_role
from tests.support.round_trips import round_trips


@pytest.fixture
def session(database: TestDatabase) -> Iterator[Session]:
    with session_on(database) as opened:
        yield opened


class Page(HTMLParser):
    """The tags, the addresses and the visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.ids: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "action", "data", "srcset", "xlink:href"):
                self.addresses.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.said += data


def checked(text: str) -> Page:
    """The page, after a look at what none may hold."""
    page = Page(text)
    assert not {"script", "img", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    assert not page.handlers
    assert all(one.startswith("#") or one == "data:," for one in page.addresses), page.addresses
    assert "url(" not in text and "@import" not in text
    return page


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_an_empty_deployment(negmem: CliRunner, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = negmem("report", "--out", str(out), "--json").ok().json
    assert done["schema"] == "negmem.report/1" and done["page"] == str(out)
    assert (done["unread"], done["topics"]["topics"], done["benchmarks"]["series"]) == ([], 0, [])
    assert done["growth"]["live"] == done["retention"]["in_90_days"] == 0
    page = checked(out.read_text(encoding="utf-8"))
    assert set(SECTIONS) <= set(page.ids)
    assert "Nothing is stored yet" in page.said and "Nobody has searched in 90 days" in page.said
    assert stat.S_IMODE(out.stat().st_mode) & 0o044
    assert checked(negmem("report").ok().stdout).said  # into a pipe goes the page
    assert list(tmp_path.glob(".report*")) == []


def test_what_is_refused(negmem: CliRunner, empty_database: TestDatabase, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    elsewhere = {"NEGMEM_DSN": empty_database.dsn}
    refused = negmem("report", "--out", str(out), "--json", env=elsewhere)
    assert (refused.code, refused.json["error"]["code"]) == (1, "schema_missing")
    assert list(tmp_path.glob("*report*")) == []
    assert negmem("report", "--out", str(tmp_path / "no" / "r.html")).code == 1
    assert negmem("report", "--out", str(tmp_path)).code == 2
    assert negmem("report", "--days", "3").code == 2
    assert negmem("report", "--out", "-", "--json").code == 2


def test_stored_text_stays_text(database: TestDatabase, negmem: CliRunner, tmp_path: Path) -> None:
    fill(database)
    plain = checked(negmem("report", "--out", "-").ok().stdout)
    words = SHARED.split("_")
    assert all(word in plain.said for word in words)  # five users share them
    assert not any(one in plain.said for one in ("离婚", "divorce", "李雷", "记住"))
    assert HOSTILE in plain.said  # the name of a benchmark
    out = tmp_path / "personal.html"
    told = negmem("report", "--out", str(out), "--personal", "--json").ok().json
    named = checked(out.read_text(encoding="utf-8"))
    assert all(one in named.said for one in ("离婚", "李雷", HOSTILE))
    assert TURNED not in named.said and TURNED.replace("\u202e", "") in named.said
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert told["topics"]["named"][0]["memories"] == 99
    assert "记住" not in named.said  # what a memory says stands in no report
    weights = [one["weight"] for one in told["notices"]]
    assert weights == sorted(weights, key=["fail", "warn", "info"].index)
    texts = " ".join(one["text"] for one in told["notices"])
    assert "fell from 0.7 to 0.6" in texts and texts.count("last run") == 1
    assert told["cost"]["calls"] == 40 and told["cost"]["unpriced_calls"] == 10
    assert told["cost"]["cost_usd"] == pytest.approx(0.15)
    assert told["cost"]["context_tokens"] == 60_000


def test_the_forecast_is_the_preview(session: Session, database: TestDatabase) -> None:
    fill(database, memories=400)
    database.rows(
        "UPDATE negentropy.memory_automation_configs SET config = jsonb_set(config, '{retention}',"
        ' \'{"low_retention_threshold": 0.1, "min_age_days": 20, "decay_lambda": 0.1}\')'
    )
    found = make_report(session).retention
    assert found is not None
    quarter = preview(session, days=90)
    assert found.in_30_days == preview(session, days=30).total > 0
    assert found.in_90_days == quarter.total > found.in_30_days
    assert found.tokens_in_90_days == quarter.tokens
    assert sum(one.memories for one in found.bins) == found.live == sum(t.live for t in found.types)
    assert sum(one.memories for one in found.days) == found.in_90_days


def test_reads_are_bounded(
    session: Session, database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = round_trips(session, tmp_path / "few", make_report)
    fill(database)
    many = round_trips(session, tmp_path / "many", make_report)
    assert (
        many <= few + 5
    )  # the plans that doctor looks at where there is a user to look at them for
    whole = make_report(session)
    database.rows("ANALYZE negentropy.memories")
    monkeypatch.setattr(sections, "SAMPLE_PAGES", 4)
    monkeypatch.setattr(metrics, "_SAMPLE_ROWS", 400)
    sampled = make_report(session)
    assert whole.growth and sampled.growth and whole.retention and sampled.retention
    assert not whole.growth.is_sampled and sampled.growth.is_sampled
    assert sampled.retention.is_sampled and sampled.retrieval
    (mean,) = [one for one in sampled.retrieval.metrics.layers if one.name == "mean_retention"]
    assert "of a sample" in mean.basis
    assert 0.2 < sampled.growth.live / whole.growth.live < 5  # an estimate of the whole
    assert "Large tables were read through a sample" in render_page(sampled)
    text = session.database.queries
    values: dict[str, Any] = {
        "app_name": "negmem", "since": "2020-01-01", "percent": 1.0, "memories_percent": 1.0,
        "events_percent": 1.0, "facts_percent": 1.0, "threshold": 0.1, "min_age_days": 1,
        "decay_lambda": 0.1, "keep_importance": 0.9, "days": 90, "bins": 20, "min_users": 5,
        "row_limit": 5,
    }  # fmt: skip
    for name in set(blocks("report")) - {"about", "tables"}:
        plan = "\n".join(
            row[0] for row in database.rows("EXPLAIN " + str(text("report", name)), values)
        )
        assert "Sample Scan" in plan, name
        large = ("memories", "events", "memory_retrieval_logs", "consolidation_jobs")
        for table in large:
            assert f"Seq Scan on {table}" not in plan, name


def test_what_a_role_may_not_read_fails_alone(
    negmem: CliRunner, database: TestDatabase, tmp_path: Path
) -> None:
    fill(database, memories=60)
    with login_role(database.server, database.name) as name:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{name}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO "{name}"')
        for table in ("memory_retrieval_logs", "benchmark_runs"):
            database.rows(f'REVOKE SELECT ON negentropy.{table} FROM "{name}"')
        env = {"NEGMEM_DSN": as_role(database.dsn, name)}
        out = tmp_path / "r.html"
        told = negmem("report", "--json", "--out", str(out), env=env)
        assert told.code == 3
        unread = {one["section"]: one for one in told.json["unread"]}
        assert set(unread) == {"retrieval", "cost", "benchmarks"}
        assert "memory_retrieval_logs" in unread["retrieval"]["why"]
        assert told.json["growth"]["live"] > 0 and told.json["retrieval"] is None
        page = checked(out.read_text(encoding="utf-8"))
        assert page.said.count("This part could not be read") == 3
        assert {one["code"] for one in told.json["warnings"]} >= {"section_unread"}
        assert negmem("report", "--exit-zero", "--json", env=env).code == 0


def test_a_table_that_is_locked_hides_no_more_than_it_must(
    session: Session, database: TestDatabase
) -> None:
    session.database.lock_timeout_ms = 200
    holder = database.connect(autocommit=False)
    holder.execute("LOCK TABLE negentropy.memory_topics IN ACCESS EXCLUSIVE MODE")
    found = make_report(session)
    holder.close()
    assert found.health and found.benchmarks and found.topics is None
    assert {one.code for one in found.unread if one.section != "drift"} == {"lock_timeout"}


def test_a_server_that_takes_no_writes_will_do(negmem: CliRunner, database: TestDatabase) -> None:
    """A hot standby, or a role that may only read: all of it is shown, and that nothing is recorded."""
    fill(database, memories=60)
    before = negmem("report", "--json").ok().json
    database.rows(f'ALTER DATABASE "{database.name}" SET default_transaction_read_only = on')
    told = negmem("report", "--json").ok().json
    found = told["health"]["diagnosis"]
    assert told["unread"] == [] and "server_read_only" in found["degraded_reasons"]
    assert told["growth"]["live"] == before["growth"]["live"] and told["topics"] == before["topics"]
    for days in ("in_30_days", "in_90_days"):
        assert told["retention"][days] == before["retention"][days]
    assert told["retrieval"] and told["cost"] and told["drift"]
    looked = negmem("top", "--once", "--json").ok().json
    assert looked["rows"]["live"] == told["growth"]["live"] > 0
    refused = negmem("retention", "run", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "read_only_server")


def test_one_user_at_a_time_is_no_count(database: TestDatabase) -> None:
    """A role that row-level security binds sees nobody's rows: zeros would be a lie."""
    fill(database, memories=60)
    database.rows("ALTER TABLE negentropy.memories ENABLE ROW LEVEL SECURITY")
    with login_role(database.server, database.name) as name:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{name}"')
        database.rows(f'GRANT SELECT ON ALL TABLES IN SCHEMA negentropy TO "{name}"')
        database.rows(
            "CREATE POLICY one ON negentropy.memories"
            " USING (user_id = current_setting('negmem.user_id', true))"
        )
        with open_session(dsn=as_role(database.dsn, name), env={}) as session:
            found = make_report(session)
            assert {one.section for one in found.unread if one.code == "one_user_seen"} == {
                *("growth", "retention", "retrieval", "cost", "topics"),
            }
            assert found.health and found.drift and found.benchmarks
            seen = top.Watch(session).look()
            assert (seen.rows, seen.searches, seen.queue) == (None, None, None) and seen.connections
        database.rows(
            f'CREATE POLICY everyone ON negentropy.memories FOR SELECT TO "{name}" USING (true)'
        )
        with open_session(dsn=as_role(database.dsn, name), env={}) as session:
            again = make_report(session)
            assert again.growth and again.growth.live > 0
            assert "one_user_seen" not in {w["code"] for w in session.warnings}
            database.rows("DROP POLICY everyone ON negentropy.memories")
