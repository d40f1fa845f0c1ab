"""Scales of cosine, and the mean that centres sign bits."""

import json
import math

import numpy as np
import pytest

from negmem.errors import NegmemError
from negmem.providers.calibration import (
    IDENTITY,
    UNRELATED_P99,
    Calibration,
    calibration_for,
    measure_calibration,
)
from tests.support.embedder import FakeEmbedder

E5 = calibration_for("intfloat/multilingual-e5-small", 384)
TEXTS = [f"sentence number {n} 关于第{n}件事" for n in range(30)]


def test_the_identity_leaves_a_cosine_as_it_is() -> None:
    assert IDENTITY.is_identity
    assert [IDENTITY.documents.similarity(c) for c in (0.0, 0.42, 1.0)] == [0.0, 0.42, 1.0]
    assert IDENTITY.queries.similarity(0.85) == 0.85


def test_a_similarity_stays_between_zero_and_one() -> None:
    assert IDENTITY.documents.similarity(-0.3) == 0.0
    assert E5.documents.similarity(0.2) == 0.0
    assert E5.queries.similarity(1.0) == 1.0


def test_the_99th_percentile_of_unrelated_pairs_lies_where_an_isotropic_model_has_it() -> None:
    assert E5.documents.similarity(E5.unrelated[99.0]) == pytest.approx(UNRELATED_P99)
    assert E5.queries.similarity(E5.unrelated_queries[99.0]) == pytest.approx(UNRELATED_P99)
    assert E5.documents.similarity(1.0) == 1.0
    assert E5.queries.similarity(E5.same_query) == 1.0


def test_a_scale_and_its_inverse_agree() -> None:
    for scale in (E5.documents, E5.queries, IDENTITY.documents):
        for similarity in (0.0, 0.3, 0.85, 1.0):
            assert scale.similarity(scale.cosine(similarity)) == pytest.approx(similarity)


def test_an_unknown_model_gets_the_identity() -> None:
    assert calibration_for("some/unheard-of-model") is IDENTITY
    assert calibration_for("../../etc/passwd") is IDENTITY


def test_a_shortened_vector_does_not_get_the_calibration_of_the_long_one() -> None:
    assert calibration_for("multilingual-e5-small", 256) is IDENTITY
    assert not calibration_for("sentence-transformers/all-MiniLM-L6-v2", 384).is_identity


def test_what_ships_was_measured_on_thousands_of_pairs() -> None:
    assert E5.pairs > 40_000
    assert E5.mean is not None
    assert len(E5.mean) == 384
    assert 0.7 < math.hypot(*E5.mean) < 1.0
    assert list(E5.unrelated.values()) == sorted(E5.unrelated.values())


def test_measuring_finds_the_scale_of_a_model() -> None:
    embedder = FakeEmbedder()
    measured = measure_calibration(embedder, TEXTS, "a test")
    vectors = embedder.embed_documents(TEXTS)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(TEXTS), 1)]
    assert measured.pairs == len(cosines)
    assert measured.unrelated[50.0] == pytest.approx(float(np.median(cosines)), abs=1e-6)
    assert measured.same_query == pytest.approx(1.0)
    assert measured.mean == pytest.approx(vectors.mean(axis=0).tolist(), abs=1e-6)


def test_pairs_of_one_meaning_are_left_out() -> None:
    doubled = TEXTS + TEXTS
    meanings = list(range(len(TEXTS))) * 2
    measured = measure_calibration(FakeEmbedder(), doubled, "a test", meanings)
    assert measured.pairs == len(doubled) * (len(doubled) - 1) // 2 - len(TEXTS)
    assert measured.unrelated[99.9] < 0.999


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 20 texts, got 3"):
        measure_calibration(FakeEmbedder(), TEXTS[:3], "a test")


def test_a_calibration_survives_its_file() -> None:
    measured = measure_calibration(FakeEmbedder(), TEXTS, "a test")
    again = Calibration.from_json(json.loads(json.dumps(measured.to_json())))
    assert again.documents.floor == pytest.approx(measured.documents.floor, abs=1e-3)
    assert again.source == "a test"


@pytest.mark.parametrize("document", [{}, {"unrelated": 3}, {"unrelated": {"x": "y"}}])
def test_a_file_that_is_no_calibration_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a calibration"):
        Calibration.from_json(document)


def test_sign_bits_are_taken_about_the_mean() -> None:
    calibration = Calibration(unrelated={}, unrelated_queries={}, mean=(0.5, 0.5, -0.5))
    assert calibration.sign_bits([0.6, 0.4, 0.0]) == "101"
    assert IDENTITY.sign_bits([0.6, 0.4, 0.0]) == "110"


def test_a_vector_of_another_size_than_the_mean_is_refused() -> None:
    with pytest.raises(NegmemError) as caught:
        E5.sign_bits([0.1, 0.2])
    assert caught.value.code == "embedding_dims_mismatch"
