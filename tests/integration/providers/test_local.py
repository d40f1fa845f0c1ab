"""The real local model, in English and Chinese."""

import _ctypes
import os
import sys
import threading
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from negmem.errors import NegmemError
from negmem.providers.local import MAX_TOKENS, LocalEmbedder, _Engine, fingerprint

RELATED = [
    ("I moved to Berlin last year", "Last year I relocated to Berlin"),
    ("My dog is called Rex", "The name of my dog is Rex"),
    ("他住在上海", "他的家在上海"),
    ("我每天早上跑步", "我早晨天天去跑步"),
]
UNRELATED = [
    "The tax office wants the missing form before Friday",
    "The sequel was longer than the first film and half as funny",
    "水管工收了我们两个小时的钱",
    "博物馆星期一不开门",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_documents_are_unit_rows_in_their_order(embedder: LocalEmbedder) -> None:
    rows = embedder.embed_documents(UNRELATED)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.allclose(rows[2], embedder.embed_documents(UNRELATED[2:3])[0], atol=1e-5)


def test_no_documents_give_no_rows(embedder: LocalEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)


@pytest.mark.parametrize(("first", "second"), RELATED)
def test_a_paraphrase_is_nearer_than_anything_unrelated(
    embedder: LocalEmbedder, first: str, second: str
) -> None:
    rows = embedder.embed_documents([first, second, *UNRELATED])
    scale = embedder.calibration.documents
    same, *others = (scale.similarity(float(rows[0] @ row)) for row in rows[1:])
    assert same > 0.7
    assert max(others) < 0.45


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did she move last year?", "Last year I relocated to Berlin"),
        ("他家在哪个城市？", "他的家在上海"),
    ],
)
def test_a_question_finds_its_answer(embedder: LocalEmbedder, question: str, answer: str) -> None:
    rows = embedder.embed_documents([answer, *UNRELATED])
    query = np.asarray(embedder.embed_query(question))
    assert query.shape == (384,)
    assert int(np.argmax(rows @ query)) == 0


def test_the_shipped_mean_lets_sign_bits_rank_nearly_as_the_vectors_do(
    embedder: LocalEmbedder,
) -> None:
    texts = [text for pair in RELATED for text in pair] + UNRELATED
    bits = [embedder.calibration.sign_bits(row.tolist()) for row in embedder.embed_documents(texts)]

    def distance(a: str, b: str) -> int:
        return sum(x != y for x, y in zip(a, b, strict=True))

    for first in range(0, len(RELATED) * 2, 2):
        partner = distance(bits[first], bits[first + 1])
        rest = [distance(bits[first], bits[n]) for n in range(len(bits)) if n // 2 != first // 2]
        assert partner < min(rest)


def test_a_long_text_keeps_the_meaning_of_its_end(embedder: LocalEmbedder) -> None:
    filler = "The weather was mild and nothing of note happened that day. " * 40
    ending = "At last she named the sailing boat after her teacher. " * 12
    batch = embedder.embed_batch([filler, filler + ending])
    query = np.asarray(embedder.embed_query("a boat named after a teacher"))
    assert batch.truncated == ()
    assert batch.vectors[1] @ query > batch.vectors[0] @ query


def test_what_is_too_long_is_cut_and_reported(embedder: LocalEmbedder) -> None:
    batch = embedder.embed_batch(["短", "a" * 1_000_000])
    assert batch.truncated == (1,)
    assert MAX_TOKENS < batch.usage.tokens <= MAX_TOKENS + embedder.count_tokens("短")
    assert np.linalg.norm(batch.vectors[1]) == pytest.approx(1.0, abs=1e-5)


def test_text_after_a_nul_is_not_lost(embedder: LocalEmbedder) -> None:
    with_nul, without, cut = embedder.embed_documents(
        ["the boat\x00is red", "the boat is red", "the boat"]
    )
    assert with_nul @ without == pytest.approx(1.0, abs=1e-5)
    assert with_nul @ cut < 0.999


@pytest.mark.parametrize("text", ["", " ", "\ud800", "👍" * 50, "\x00"])
def test_any_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_documents([text])[0]) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(np.asarray(embedder.embed_query(text))) == pytest.approx(1.0, abs=1e-5)


def test_threads_share_one_embedder(embedder: LocalEmbedder) -> None:
    expected = embedder.embed_documents(UNRELATED)
    found: list[bool] = []

    def work() -> None:
        for _ in range(3):
            found.append(np.allclose(embedder.embed_documents(UNRELATED), expected, atol=1e-5))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * 9


def test_the_environment_is_left_as_it_was(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    LocalEmbedder().embed_query("x")
    assert "OMP_WAIT_POLICY" not in os.environ


def test_a_changed_file_of_weights_is_another_version(
    embedder: LocalEmbedder, tmp_path: Path
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"\x00" * 300_000)
    second.write_bytes(b"\x00" * 150_000 + b"\x01" + b"\x00" * 149_999)
    assert fingerprint(first) != fingerprint(second)
    assert embedder.version == LocalEmbedder().version


def test_an_engine_that_can_not_be_loaded_is_told(tmp_path: Path) -> None:
    text = tmp_path / "_engine.so"
    text.write_text("no library")
    for library in (text, Path(_ctypes.__file__)):
        with pytest.raises(NegmemError) as caught:
            _Engine(library, tmp_path / "weights.bin")
        assert caught.value.code == "embedder_failed"


def test_weights_that_are_missing_or_broken_are_told(tmp_path: Path) -> None:
    library = LocalEmbedder()._library
    for name, content in (("missing.bin", None), ("broken.bin", b"not a model" * 1000)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(NegmemError) as caught:
            _Engine(library, tmp_path / name)
        assert caught.value.code == "embedder_failed"


def test_no_character_overruns_the_engine(embedder: LocalEmbedder) -> None:
    room_a_byte = 4
    overrunning = {
        character
        for character in map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)])
        if len(unicodedata.normalize("NFKC", character)) > room_a_byte * len(character.encode())
    }
    assert overrunning == {"\ufdfa"}
    written_out = unicodedata.normalize("NFKC", "\ufdfa")
    for count in (1, 20, 500):
        assert embedder.count_tokens("\ufdfa" * count) == embedder.count_tokens(written_out * count)
        embedder.embed_query("\ufdfa" * count)
    rows = embedder.embed_documents(["\ufdfa", written_out])
    assert np.allclose(rows[0], rows[1], atol=1e-6)
