"""Data sets as files: what is read, what counts, what is refused; labels stay outside of texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from negmem.core.bench.datasets import load
from negmem.errors import UsageError


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text, encoding="utf-8")


def session(**changed: Any) -> dict[str, Any]:
    turn = {"turn_id": "t1", "speaker": "小明", "text": "我养了一只猫", "datetime": "2026-03-02"}
    base = {"conversation_id": "c", "session_id": "s1", "datetime": "2026-03-02", "turns": [turn]}
    return {**base, **changed}


def asked(**changed: Any) -> dict[str, Any]:
    base = {
        "question_id": "q1",
        "conversation_id": "c",
        "question": "养了什么？",
        "evidence": ["t1"],
        "evidence_sessions": ["s1"],
        "category": "recall",
        "answer": "LABEL 猫",
    }
    return {**base, **changed}


def test_a_set_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path, "sessions.jsonl", [session()])
    write(tmp_path, "qa.jsonl.gz", [asked(), asked(question_id="q2", answerable=False)])
    found = load("own", tmp_path)
    (conversation,) = found.conversations
    assert (conversation.store, conversation.name) == ("c", "s1")
    assert [(t.evidence_id, t.speaker, t.text) for t in conversation.turns] == [
        ("t1", "小明", "我养了一只猫")
    ]
    assert [q.is_headline for q in found.questions] == [True, False]
    assert found.questions[0].evidence == {"t1"} and found.questions[0].sessions == {"s1"}


def test_labels_reach_no_text(tmp_path: Path) -> None:
    labelled = {"turn_id": "t1", "text": "hi", "speaker": "A", "noise": True, "place": "LABEL"}
    write(tmp_path, "sessions.jsonl", [session(turns=[labelled], speakers=["LABEL"])])
    write(tmp_path, "qa.jsonl", [asked()])
    assert "LABEL" not in repr(load("own", tmp_path).conversations)


def test_an_exchange_is_two_turns_of_one_id(tmp_path: Path) -> None:
    exchange = {"turn_id": "x1", "user": "推荐一本书", "assistant": "《小王子》"}
    write(tmp_path, "sessions.jsonl", [session(turns=[exchange])])
    write(tmp_path, "qa.jsonl", [asked(evidence=["x1"])])
    turns = load("memorybank", tmp_path).conversations[0].turns
    assert [(t.evidence_id, t.role, t.text) for t in turns] == [
        ("x1", "user", "推荐一本书"),
        ("x1", "assistant", "《小王子》"),
    ]


def test_locomo_counts_the_first_four_categories(tmp_path: Path) -> None:
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": "look", "image_caption": "a cat"}
    write(tmp_path, "sessions.jsonl", [session(turns=[turn])])
    rows = [
        asked(category=1, evidence=["D1:1"]),
        asked(question_id="q2", category=5, evidence=["D1:1"]),
        asked(question_id="q3", category=4, evidence=[], scorable=False),
    ]
    write(tmp_path, "qa.jsonl", rows)
    found = load("locomo", tmp_path)
    assert "a cat" in found.conversations[0].turns[0].text
    assert [(q.category, q.is_headline) for q in found.questions] == [
        ("1", True),
        ("5", False),
        ("4", False),
    ]
    assert 50 in found.ks


def test_memdaily_has_variants(tmp_path: Path) -> None:
    for variant in ("plain", "noise100"):
        write(tmp_path, f"{variant}.sessions.jsonl.gz", [session()])
        write(tmp_path, f"{variant}.qa.jsonl.gz", [asked(category=variant)])
    assert load("memdaily", tmp_path).questions[0].category == "noise100"
    assert load("memdaily", tmp_path, variant="plain").questions[0].category == "plain"


def longmemeval(folder: Path) -> None:
    turns = [{"turn_id": "s#1", "role": "user", "text": "hello"}]
    rows = [{"session_id": name, "turns": turns} for name in ("s1", "s2", "s3", "unused")]
    write(folder, "sessions.jsonl.gz", rows)
    days = [{"session_id": n, "datetime": f"2026-01-0{i}"} for i, n in enumerate(("s1", "s2"), 1)]
    again = {"session_id": "s1", "datetime": "2026-01-09"}
    other = [{"session_id": n, "datetime": "2026-02-01"} for n in ("s2", "s3")]
    common = {"evidence": ["s#1"]}
    write(
        folder,
        "qa.jsonl.gz",
        [
            asked(haystack=[*days, again], evidence_sessions=["s1"], mini=True, **common),
            asked(
                question_id="q2",
                conversation_id="d",
                haystack=other,
                evidence_sessions=["s3"],
                **common,
            ),
        ],
    )


def test_longmemeval_gives_each_question_its_haystack(tmp_path: Path) -> None:
    longmemeval(tmp_path)
    found = load("longmemeval", tmp_path)
    assert [(c.store, c.session_id, c.name, c.moment) for c in found.conversations] == [
        ("c", "s1", "s1", "2026-01-01"),
        ("c", "s2", "s2", "2026-01-02"),
        ("c", "s1", "s1@2", "2026-01-09"),
        ("d", "s2", "s2", "2026-02-01"),
        ("d", "s3", "s3", "2026-02-01"),
    ]
    mini = load("longmemeval", tmp_path, mini=True)
    assert [q.id for q in mini.questions] == ["q1"] and len(mini.conversations) == 3


def test_pooled_leaves_out_the_evidence_of_other_questions(tmp_path: Path) -> None:
    longmemeval(tmp_path)
    found = load("longmemeval", tmp_path, pooled=True)
    assert [(c.store, c.session_id, c.moment) for c in found.conversations] == [
        ("pooled", "s1", "2026-01-01"),
        ("pooled", "s2", "2026-01-02"),
        ("pooled", "s3", "2026-02-01"),
    ]
    assert [q.excluded for q in found.questions] == [{"s3"}, {"s1"}]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({}, "dataset_not_found"),
        ({"sessions.jsonl": "{]\n", "qa.jsonl": "{}\n"}, "dataset_malformed"),
        ({"sessions.jsonl": "[1]\n", "qa.jsonl": "{}\n"}, "dataset_malformed"),
        ({"sessions.jsonl": '{"session_id": "s"}\n', "qa.jsonl": ""}, "dataset_malformed"),
        ({"sessions.jsonl": "", "qa.jsonl": ""}, "dataset_malformed"),
    ],
)
def test_what_is_no_set_is_refused(tmp_path: Path, files: dict[str, str], code: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load("own", tmp_path)
    assert caught.value.code == code


def test_a_question_to_nobody_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "sessions.jsonl", [session()])
    write(tmp_path, "qa.jsonl", [asked(conversation_id="other")])
    with pytest.raises(UsageError, match="data set"):
        load("own", tmp_path)


@pytest.mark.parametrize("options", [{"variant": "plain"}, {"mini": True}, {"pooled": True}])
def test_forms_belong_to_their_set(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        load("locomo", tmp_path, **options)
    assert caught.value.code == "dataset_option_unknown"
