"""Embeddings on disk: found again, kept apart, shared between processes."""

import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from negmem.errors import NegmemError
from negmem.providers.cache import CachedEmbedder, EmbeddingCache
from negmem.providers.embedding import Embedder, space_of
from tests.support.embedder import FakeEmbedder

TEXTS = ["I like coriander", "我不喜欢香菜", "I like coriander", ""]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "cache" / "embeddings.sqlite3") as opened:
        yield opened


def test_a_second_run_embeds_nothing(cache: EmbeddingCache) -> None:
    model = FakeEmbedder()
    embedder = CachedEmbedder(model, cache)
    first = embedder.embed_batch(TEXTS)
    assert model.calls == [("documents", 3)]
    second = embedder.embed_batch(TEXTS)
    assert model.calls == [("documents", 3)]
    assert (first.usage.cache_hits, second.usage.cache_hits) == (0, 4)
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(first.vectors, FakeEmbedder().embed_documents(TEXTS))


def test_only_what_is_new_is_embedded(cache: EmbeddingCache) -> None:
    model = FakeEmbedder()
    embedder = CachedEmbedder(model, cache)
    embedder.embed_documents(TEXTS)
    embedder.embed_documents([*TEXTS, "a new one"])
    assert model.calls == [("documents", 3), ("documents", 1)]


@pytest.mark.parametrize("change", [{"name": "b"}, {"model": "b"}, {"version": "2"}, {"dims": 16}])
def test_spaces_never_mix(cache: EmbeddingCache, change: dict[str, str]) -> None:
    CachedEmbedder(FakeEmbedder(), cache).embed_documents(TEXTS)
    other = FakeEmbedder(**change)  # type: ignore[arg-type]
    CachedEmbedder(other, cache).embed_documents(TEXTS)
    assert other.calls == [("documents", 3)]


def test_a_cached_embedder_is_an_embedder_of_the_same_space(cache: EmbeddingCache) -> None:
    embedder: Embedder = CachedEmbedder(FakeEmbedder(), cache)
    assert space_of(embedder) == space_of(FakeEmbedder())


def test_refused_texts_are_not_kept(cache: EmbeddingCache) -> None:
    refusing = CachedEmbedder(FakeEmbedder(park=["我不喜欢香菜"]), cache)
    batch = refusing.embed_batch(TEXTS)
    assert [parked.index for parked in batch.parked] == [1]
    model = FakeEmbedder()
    assert CachedEmbedder(model, cache).embed_batch(TEXTS).parked == ()
    assert model.calls == [("documents", 1)]


def test_an_error_keeps_what_was_embedded_before(cache: EmbeddingCache) -> None:
    failure = NegmemError("embedder_unreachable", "gone")

    class FailsLater(FakeEmbedder):
        def embed_batch(self, texts):  # type: ignore[no-untyped-def]
            if len(self.calls) == 1:
                raise failure
            return super().embed_batch(texts)

    texts = [f"text {n}" for n in range(300)]
    with pytest.raises(NegmemError):
        CachedEmbedder(FailsLater(), cache).embed_documents(texts)
    model = FakeEmbedder()
    CachedEmbedder(model, cache).embed_documents(texts)
    assert model.calls == [("documents", 300 - 256)]


def test_forgotten_texts_are_embedded_again(cache: EmbeddingCache) -> None:
    embedder = CachedEmbedder(FakeEmbedder(), cache)
    embedder.embed_documents(TEXTS)
    assert cache.forget(["I like coriander", "never seen"]) == 1
    assert embedder.embed_batch(TEXTS).usage.cache_hits == 2


def test_only_its_owner_may_read_it(cache: EmbeddingCache) -> None:
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) == 0o700


def test_the_file_holds_no_text(cache: EmbeddingCache) -> None:
    CachedEmbedder(FakeEmbedder(), cache).embed_documents(TEXTS)
    cache.close()
    assert b"coriander" not in cache.path.read_bytes()


@pytest.mark.parametrize("content", [b"this is no database at all " * 100, None])
def test_a_file_that_can_not_be_used_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "embeddings.sqlite3"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(NegmemError) as caught:
        EmbeddingCache(path)
    assert caught.value.code == "embedding_cache_unusable"
    assert str(path) in caught.value.why
