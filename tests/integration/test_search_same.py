"""A change for speed changes no result: a fixed conversation is ranked as it was written down."""

from __future__ import annotations

from pathlib import Path

from negmem.core.session import Session
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import ingest_file, session_on, write_lines
from tests.support.searching import ask

PLACES = ("the river", "a station", "the old market", "home", "杭州", "西湖边")
THINGS = ("a green bicycle", "two tickets", "the violin", "coffee", "绿茶", "一把雨伞")
DEEDS = ("left", "found", "bought", "repaired", "forgot", "喜欢")

QUESTIONS = (
    "where did I leave the green bicycle?",
    "绿茶是在杭州买的吗",
    "who repaired the violin",
)

# As the weights of docs/adr/0037 gave it first.
HYBRID = [
    [
        ("left a green bicycle the river 36", 0.578057),
        ("bought a green bicycle 杭州 38", 0.56922),
        ("bought a green bicycle 杭州 2", 0.566021),
        ("forgot a green bicycle the old market 4", 0.551419),
        ("left a green bicycle the river 0", 0.54447),
    ],
    [
        ("bought 绿茶 杭州 26", 0.371409),
        ("found 绿茶 西湖边 25", 0.300929),
        ("repaired 绿茶 home 27", 0.266099),
        ("bought 一把雨伞 杭州 32", 0.230799),
        ("left 绿茶 the river 24", 0.223538),
    ],
    [
        ("repaired the violin home 15", 0.501421),
        ("repaired the violin home 51", 0.452662),
        ("bought the violin 杭州 14", 0.447004),
        ("bought the violin 杭州 50", 0.433657),
        ("forgot the violin the old market 16", 0.38009),
    ],
]
KEYWORD = [
    [
        ("bought a green bicycle 杭州 38", 0.652081),
        ("bought a green bicycle 杭州 2", 0.652081),
        ("forgot a green bicycle the old market 4", 0.648329),
        ("left a green bicycle the river 36", 0.647269),
        ("left a green bicycle the river 0", 0.647269),
    ],
    [
        ("bought 绿茶 杭州 26", 0.379572),
        ("found 绿茶 西湖边 25", 0.335121),
        ("repaired 绿茶 home 27", 0.294332),
        ("forgot 绿茶 the old market 28", 0.287416),
        ("left 绿茶 the river 24", 0.286993),
    ],
    [
        ("repaired the violin home 51", 0.416203),
        ("repaired the violin home 15", 0.416203),
        ("bought the violin 杭州 50", 0.366931),
        ("bought the violin 杭州 14", 0.366931),
        ("forgot the violin the old market 52", 0.284074),
    ],
]
VECTOR = [
    [
        ("bought a green bicycle 杭州 2", 0.445217),
        ("left a green bicycle the river 36", 0.437629),
        ("bought a green bicycle 杭州 38", 0.436958),
        ("forgot a green bicycle the old market 40", 0.383171),
        ("left the violin the river 12", 0.368193),
    ],
    [
        ("bought 绿茶 杭州 26", 0.387751),
        ("bought two tickets 杭州 8", 0.338718),
        ("bought 一把雨伞 杭州 32", 0.308895),
        ("bought the violin 杭州 14", 0.299731),
        ("repaired 绿茶 home 27", 0.295388),
    ],
    [
        ("repaired the violin home 15", 0.724477),
        ("repaired the violin home 51", 0.593156),
        ("喜欢 the violin a station 17", 0.550471),
        ("喜欢 the violin a station 53", 0.501776),
        ("bought the violin 杭州 50", 0.468391),
    ],
]


def talk() -> list[dict[str, object]]:
    """Three threads of twenty turns, no two alike, English and Chinese."""
    lines: list[dict[str, object]] = []
    for thread in range(3):
        turns = []
        for turn in range(20):
            number = 20 * thread + turn
            said = (
                f"{DEEDS[number % 6]} {THINGS[number // 6 % 6]} {PLACES[number * 5 % 6]} {number}"
            )
            role = ("user", "assistant")[turn % 2]
            # Of equals the later stands first: without times their order would be chance.
            turns.append(
                {"role": role, "text": said, "datetime": f"2026-03-02T09:{number % 60:02}:00Z"}
            )
        lines.append({"thread": f"t{thread}", "user": "ada", "turns": turns})
    return lines


def ranked(session: Session, level: str) -> list[list[tuple[str, float]]]:
    """The best five of each question, with their scores."""
    answers = [ask(session, question, level=level, limit=5) for question in QUESTIONS]
    return [[(r.content, r.score) for r in answer.results] for answer in answers]


def test_the_ranking_is_as_it_was(database: TestDatabase, tmp_path: Path) -> None:
    with session_on(database, FakeEmbedder()) as session:
        ingest_file(session, write_lines(tmp_path / "talk.jsonl", talk()))
        assert ranked(session, "hybrid") == HYBRID
        assert ranked(session, "keyword") == KEYWORD
        assert ranked(session, "vector") == VECTOR
