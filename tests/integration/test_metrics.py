"""Metrics from real logs: rates, layers, trends, and advice that is applied only when asked."""

from __future__ import annotations

from negmem.core.automation.stored import read_stored, setter
from negmem.core.models.metrics import Metrics
from negmem.core.retrieval.context import assemble
from negmem.core.retrieval.feedback import give
from negmem.core.retrieval.metrics import measure
from negmem.core.retrieval.recall import recall
from negmem.core.session import Session
from negmem.providers.embedding import EmbedderAbsent
from tests.support.contexts import add_fact
from tests.support.databases import TestDatabase
from tests.support.searching import ask, remember


def layer(found: Metrics, name: str) -> tuple[float | None, str]:
    (one,) = [figure for figure in found.layers if figure.name == name]
    return one.value, one.state


def test_an_empty_memory_is_unknown_everywhere(session: Session) -> None:
    found = measure(session)
    assert {figure.state for figure in found.layers} == {"unknown"}
    assert {trend.change for trend in found.trends if trend.name != "searches"} == {None}
    assert found.advice == []
    assert [figure.layer for figure in found.layers] == ["L0"] * 3 + ["L1"] * 3 + ["L2"] * 3 + [
        "L3"
    ] * 3
    assert session.warnings == []
    assert measure(session, user="nobody").layers == found.layers
    assert [warning["code"] for warning in session.warnings] == ["user_unknown"]


def test_rates_and_layers(session: Session, database: TestDatabase) -> None:
    tea, coffee = remember(session, "tea 茶", "coffee 咖啡")
    add_fact(database, "drink", "tea")
    remember(session, "bob likes tea", user="bob")
    answer = ask(session, "tea")
    assert answer.retrieval_id is not None
    give(session, answer.retrieval_id, "helpful", memories=[tea], used=[tea], rating=5)
    give(session, answer.retrieval_id, "irrelevant", memories=[coffee], rating=2)
    ask(session, "tea")  # a repeat within the minute is no question of its own
    ask(session, "xyzzy", level="ilike")
    ask(session, "coff", level="keyword")
    assemble(session, "ada", "咖啡", max_tokens=1_000)
    recall(session, "ada")
    no_room = assemble(session, "ada", "coffee 咖啡 again", max_tokens=1)
    assert no_room.retrieval_id is not None
    assert not any(section.items for section in no_room.sections)
    database.rows("SELECT negentropy.cleanup_low_value_memories()")
    found = measure(session)
    week, month = found.windows
    assert (week.days, month.days) == (7, 30)
    assert (month.searches, month.contexts, month.feedback) == (5, 2, 2)
    assert (month.hit_rate, month.zero_hit_rate) == (0.8, 0.2)  # "xyzzy" alone found nothing
    assert month.fallbacks == {"no_match": 1}
    assert month.fallback_rate == 0.2
    assert month.precision_at_k == round(1 / len(answer.results), 4)
    assert (month.utilization_rate, month.noise_rate, month.harmful_rate) == (0.5, 0.5, 0.0)
    assert month.mean_rating == 3.5
    assert layer(found, "embedding_success") == (1.0, "met")
    assert layer(found, "mean_retention")[1] == "met"
    assert layer(found, "coverage") == (1.0, "met")
    assert layer(found, "fact_activity") == (1.0, "met")
    assert layer(found, "automation_health") == (1.0, "met")
    assert layer(found, "hit_rate") == (0.8, "missed")
    assert layer(found, "fallback_rate") == (0.2, "missed")
    assert layer(found, "context_utilization")[1] == "missed"
    assert layer(found, "satisfaction_gain") == (1.5, "met")
    assert layer(found, "personalised_accuracy") == (0.5, "missed")
    assert layer(found, "repeat_question_reduction") == (None, "unknown")
    assert measure(session, user="bob").windows[1].searches == 0


def test_embedding_switched_off_is_no_fall(session: Session) -> None:
    session.use_embedder(EmbedderAbsent("embedder_disabled", "embedding is switched off"))
    remember(session, "tea 茶")
    ask(session, "tea")
    month = measure(session).windows[1]
    assert (month.fallback_rate, month.fallbacks) == (0.0, {"embedder_disabled": 1})


def test_trends_compare_with_the_days_before(session: Session, database: TestDatabase) -> None:
    remember(session, "tea 茶")
    for n in range(4):
        ask(session, f"tea {n}")
    database.rows(
        "UPDATE negentropy.memory_retrieval_logs SET created_at = now() - interval '10 days',"
        " retrieved_memory_ids = '{}', items = '[]' WHERE query = 'tea 3'"
    )
    trends = {(t.name, t.days): t for t in measure(session).trends}
    week = trends["hit_rate", 7]
    assert (week.now, week.before, week.change) == (1.0, 0.0, 1.0)
    month = trends["hit_rate", 30]
    assert (month.now, month.before, month.change) == (0.75, None, None)


def test_advice_is_applied_only_when_asked(session: Session, database: TestDatabase) -> None:
    remember(session, "tea 茶")
    for n in range(24):
        ask(session, f"xyzzy {n}", level="ilike")
    (advice,) = measure(session).advice
    assert (advice.code, advice.current, advice.proposed) == ("forget_less", 0.0001, 0.000067)
    assert (
        not measure(session, set_key=setter(session, "x", dry_run=True), dry_run=True)
        .advice[0]
        .applied
    )
    revision = read_stored(session).revision
    (done,) = measure(session, set_key=setter(session, "metrics --apply")).advice
    assert done.applied
    stored = read_stored(session)
    assert stored.revision == revision + 1
    assert stored.automation["retention"]["low_retention_threshold"] == 0.000067
    reason = "SELECT reason FROM negentropy.memory_automation_config_history ORDER BY revision DESC"
    assert database.value(reason) == "metrics --apply"
