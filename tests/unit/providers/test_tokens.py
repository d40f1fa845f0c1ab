"""Token counts: exact where a vocabulary is at hand, told where they are not."""

import os
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.text.token_estimate import estimate_tokens
from negmem.providers import tokens
from negmem.providers.tokens import TokenCounter

MIXED = "Alice moved to 上海 in 2024，她喜欢 espresso 和 `negmem search --explain` 👍\n" * 40


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


blocks = st.lists(
    st.text(st.sampled_from("ab Z1[]/ \t\r\n\u3000，。你我👍\u2028'.!-—é"), max_size=12), max_size=8
)


@pytest.fixture
def no_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tokens, "_cache_folders", lambda: iter([tmp_path]))


def test_counts_are_those_of_the_models_own_vocabulary() -> None:
    counter = TokenCounter("gpt-4o")
    assert (counter.name, counter.is_exact, counter.notice) == ("o200k_base", True, None)
    assert counter.count("hello world") == 2
    assert counter.count("") == 0
    assert TokenCounter("text-embedding-3-small").name == "cl100k_base"
    assert TokenCounter("openai/gpt-4").name == "cl100k_base"


@given(texts=blocks, model=st.sampled_from(["gpt-4o", "gpt-4"]))
def test_a_whole_of_labelled_texts_is_counted_as_its_tokenizer_counts_it(
    texts: list[str], model: str
) -> None:
    whole, counter = "\n[".join(texts), TokenCounter(model)
    plain = tiktoken.get_encoding(counter.name)
    assert counter.count(whole) == len(plain.encode_ordinary(whole))


def test_a_text_of_a_whole_is_tokenized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counter, tokenized = TokenCounter("gpt-4o"), []

    class Watched:
        def encode_ordinary(self, text: str) -> list[int]:
            tokenized.append(text)
            return [1] * len(text)

    monkeypatch.setattr(counter, "_loaded", Watched)
    texts = [f"[Memory {number}] 我喜欢喝茶" for number in range(3)]
    counted = sum(counter.count(text + "\n") for text in texts)
    assert counter.count("\n".join(texts) + "\n") == counted
    assert tokenized == [text + "\n" for text in texts]


def test_an_unknown_model_is_counted_with_o200k_and_says_so() -> None:
    counter = TokenCounter("anthropic/claude-x")
    assert counter.count("hello world") == 2
    assert not counter.is_exact
    assert counter.notice is not None
    assert "o200k_base" in counter.notice
    assert "claude-x" in counter.notice


def test_no_model_is_no_reason_for_a_notice() -> None:
    counter = TokenCounter()
    assert (counter.name, counter.is_exact, counter.notice) == ("o200k_base", False, None)


def test_marks_of_the_vocabulary_in_a_text_are_text() -> None:
    assert TokenCounter().count("<|endoftext|>") > 1


def test_a_lone_surrogate_is_counted() -> None:
    assert TokenCounter().count("bad \ud800 text") > 1


@pytest.mark.parametrize("character", ["a", "啊", " ", "\n", "=", "😀"])
def test_a_megabyte_of_one_character_is_counted(character: str) -> None:
    text = character * (1_000_000 // len(character.encode()))
    assert 0 < TokenCounter().count(text) <= 1_000_000


def test_pieces_do_not_change_the_count_of_ordinary_text() -> None:
    import tiktoken

    assert TokenCounter().count(MIXED) > 0
    for name in ("o200k_base", "cl100k_base"):
        TokenCounter("gpt-4o" if name == "o200k_base" else "gpt-4").count("")
        encoding = tiktoken.get_encoding(name)
        whole = len(encoding.encode_ordinary(MIXED))
        for size in (64, 200, 1000):
            pieces = list(tokens._pieces(MIXED, size))
            assert "".join(pieces) == MIXED
            assert sum(len(encoding.encode_ordinary(piece)) for piece in pieces) == whole


@given(st.text(), st.integers(0, 40))
def test_what_fits_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    counter = TokenCounter()
    kept, used, was_cut = counter.fit(text, limit)
    assert text.encode("utf-8", "replace").decode().startswith(kept)
    assert used == counter.count(kept) <= limit
    assert was_cut == (kept != text)


def test_what_fits_is_nearly_as_long_as_it_may_be() -> None:
    _, used, was_cut = TokenCounter().fit(MIXED * 20, 5_000)
    assert was_cut
    assert 4_990 <= used <= 5_000


def test_without_a_vocabulary_the_count_is_an_estimate_with_its_reason(no_vocabulary: None) -> None:
    counter = TokenCounter("gpt-4o")
    assert counter.count(MIXED) == estimate_tokens(MIXED)
    assert (counter.name, counter.is_exact) == ("estimate", False)
    assert counter.notice is not None
    assert "No such file" in counter.notice


@pytest.mark.usefixtures("no_vocabulary")
@given(st.text(), st.integers(0, 40))
def test_an_estimated_cut_is_within_the_limit_too(text: str, limit: int) -> None:
    kept, used, was_cut = tokens._fit_estimate(text, limit)
    assert text.startswith(kept)
    assert used == estimate_tokens(kept) <= limit
    assert was_cut == (kept != text)


def test_a_failure_is_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    folders = tokens._cache_folders
    monkeypatch.setattr(tokens, "_cache_folders", lambda: iter(()))
    counter = TokenCounter("gpt-4o", clock=clock)
    assert counter.name == "estimate"
    monkeypatch.setattr(tokens, "_cache_folders", folders)
    assert counter.name == "estimate"
    clock.now += tokens.RETRY_AFTER_S
    assert counter.name == "o200k_base"
    assert counter.notice is None


def test_a_damaged_vocabulary_is_neither_used_nor_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / tokens._O200K.file_name
    damaged.write_bytes(b"half a file")
    monkeypatch.setattr(tokens, "_cache_folders", lambda: iter([tmp_path]))
    counter = TokenCounter()
    assert counter.name == "estimate"
    assert "is damaged" in (counter.notice or "")
    assert damaged.exists()


def test_the_users_own_folder_is_looked_at_first_and_left_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert next(tokens._cache_folders()) == tmp_path
    assert TokenCounter().name == "o200k_base"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


def test_the_estimate_errs_upwards_on_what_people_write() -> None:
    texts = [
        "I booked the train to the coast for the second Friday in May, leaving at half past nine.",
        "我订了五月第二个星期五去海边的火车票，早上九点半出发。",
        "def add(a: int, b: int) -> int:\n    return a + b  # 3.14\n",
        '{"id": "3f2b8c1e-9d4a-4b7e-8a6f-0c1d2e3f4a5b", "score": 0.7312, "tags": ["a", "b"]}',
        "昨日、新しい本を買いました。",
        "어제 새로운 책을 샀어요.",
        "Вчера я купил новую книгу.",
        "👍🎉😀",
    ]
    for model in ("gpt-4", "gpt-4o"):
        counter = TokenCounter(model)
        for text in texts:
            assert counter.count(text) <= estimate_tokens(text), text


def test_only_the_empty_text_is_estimated_at_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
