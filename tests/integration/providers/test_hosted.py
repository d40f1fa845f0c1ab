"""Hosted models: the real litellm client against an endpoint in its bad moods."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from negmem.errors import NegmemError
from negmem.providers.hosted import HostedEmbedder, HostedSettings
from tests.support.embedder import hash_vector
from tests.support.embedding_server import (
    DIMS,
    EmbeddingServer,
    Reply,
    embedding_server,
    failure,
    good,
)

KEY = "sk-test-abcdefghijklmnop"
TEXTS = ["I like coriander", "我不喜欢香菜", "the boat is red", "船是红色的"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


class Made:
    """An embedder on the test server, and the waits that it asked for."""

    def __init__(self, server: EmbeddingServer, **changes: object) -> None:
        self.waits: list[float] = []
        settings = {
            "model": "openai/test-embedder",
            "api_base": server.base_url,
            "api_key_env": "TEST_KEY",
            "max_tokens": 8192,
            "timeout_s": 5.0,
            **changes,
        }
        self.embedder = HostedEmbedder(
            HostedSettings(**settings),  # type: ignore[arg-type]
            env={"TEST_KEY": KEY},
            sleep=self.waits.append,
        )


def refused(made: Made, texts: list[str] | None = None) -> NegmemError:
    with pytest.raises(NegmemError) as caught:
        made.embedder.embed_batch(TEXTS if texts is None else texts)
    assert KEY not in f"{caught.value.message} {caught.value.why} {caught.value.hint}"
    assert "test-embedder" in caught.value.why
    return caught.value


def test_vectors_are_unit_rows_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    def backwards(texts: list[str]) -> Reply:
        document = good(texts)
        document["data"].reverse()
        for entry in document["data"]:
            entry["embedding"] = [3 * value for value in entry["embedding"]]
        return Reply(document=document)

    server.mood = backwards
    made = Made(server)
    batch = made.embedder.embed_batch(TEXTS)
    assert batch.vectors.dtype == np.float32
    assert np.allclose(batch.vectors, [hash_vector(text, DIMS) for text in TEXTS], atol=1e-6)
    assert (batch.usage.requests, batch.usage.retries, batch.usage.tokens) == (1, 0, 12)
    assert made.embedder.dims == DIMS
    query = made.embedder.embed_query(TEXTS[1])
    assert np.allclose(np.asarray(query), batch.vectors[1], atol=1e-6)
    assert made.embedder.spent.requests == 2


def test_retry_after_is_honoured(server: EmbeddingServer) -> None:
    server.script = [failure(429, "slow down", Retry_After="7"), None]
    made = Made(server)
    batch = made.embedder.embed_batch(TEXTS)
    assert made.waits == [7.0]
    assert len(server.requests) == 2
    assert (batch.usage.requests, batch.usage.retries) == (2, 1)


def test_tries_are_bounded_and_waits_grow(server: EmbeddingServer) -> None:
    server.mood = lambda texts: failure(500, "boom")
    made = Made(server, max_retries=3)
    error = refused(made)
    assert error.code == "embedder_unreachable"
    assert len(server.requests) == 4
    assert len(made.waits) == 3
    assert made.waits == sorted(made.waits)


def test_a_wait_that_is_too_long_is_told_instead(server: EmbeddingServer) -> None:
    server.mood = lambda texts: failure(429, "come back tomorrow", Retry_After="86400")
    made = Made(server)
    error = refused(made)
    assert error.code == "embedder_rate_limited"
    assert "86400 s" in error.why
    assert made.waits == []


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), "embedder_key_refused"),
        (failure(403, "not allowed"), "embedder_key_refused"),
        (failure(402, "Insufficient credits"), "embedder_billing"),
        (failure(429, "You exceeded your quota", "insufficient_quota"), "embedder_billing"),
        (failure(404, "no such model"), "embedder_refused"),
    ],
)
def test_what_waiting_can_not_mend_stops_at_once(
    server: EmbeddingServer, reply: Reply, code: str
) -> None:
    server.mood = lambda texts: reply
    made = Made(server)
    assert refused(made).code == code
    assert len(server.requests) == 1
    assert made.waits == []


def test_a_missing_key_is_told_before_anything_is_sent(server: EmbeddingServer) -> None:
    made = Made(server, api_key_env="OTHER_KEY")
    error = refused(made)
    assert error.code == "embedder_key_refused"
    assert "OTHER_KEY" in error.why
    assert server.requests == []


def test_batches_keep_the_limit_of_texts(server: EmbeddingServer) -> None:
    made = Made(server, max_batch_texts=3)
    texts = [f"text {n}" for n in range(8)]
    rows = made.embedder.embed_documents(texts)
    assert [len(request) for request in server.requests] == [3, 3, 2]
    assert np.allclose(rows, [hash_vector(text, DIMS) for text in texts], atol=1e-6)


def test_a_batch_that_is_too_large_is_halved_and_the_size_remembered(
    server: EmbeddingServer,
) -> None:
    server.mood = lambda texts: failure(400, "too many inputs") if len(texts) > 10 else None
    made = Made(server)
    texts = [f"text {n}" for n in range(40)]
    rows = made.embedder.embed_documents(texts)
    assert np.allclose(rows, [hash_vector(text, DIMS) for text in texts], atol=1e-6)
    server.requests.clear()
    made.embedder.embed_documents(texts)
    assert max(len(request) for request in server.requests) == 10
    assert made.waits == []


def test_one_bad_text_is_parked_and_the_others_go_through(server: EmbeddingServer) -> None:
    bad = "这一条不行"
    server.mood = lambda texts: failure(400, "content rejected") if bad in texts else None
    made = Made(server)
    texts = [f"text {n}" for n in range(20)]
    batch = made.embedder.embed_batch([*texts[:7], bad, *texts[7:]])
    assert [(parked.index, parked.code) for parked in batch.parked] == [(7, "text_refused")]
    assert "content rejected" in batch.parked[0].reason
    assert not batch.vectors[7].any()
    assert np.allclose(
        np.delete(batch.vectors, 7, axis=0), [hash_vector(text, DIMS) for text in texts], atol=1e-6
    )
    with pytest.raises(NegmemError) as caught:
        made.embedder.embed_documents([bad])
    assert caught.value.code == "embedding_text_refused"


def test_when_every_text_is_refused_it_is_not_the_texts(server: EmbeddingServer) -> None:
    server.mood = lambda texts: failure(400, "unknown parameter encoding_format")
    made = Made(server)
    error = refused(made, [f"text {n}" for n in range(64)])
    assert error.code == "embedder_refused"
    assert "encoding_format" in error.why
    assert len(server.requests) < 12


def test_one_text_of_nine_thousand_tokens_is_cut_under_the_limit(server: EmbeddingServer) -> None:
    from negmem.providers.tokens import TokenCounter

    counter = TokenCounter()

    def limits(texts: list[str]) -> Reply | None:
        if len(texts) > 10 or sum(counter.count(text) for text in texts) > 8192:
            return failure(400, "maximum context length is 8192 tokens", "context_length_exceeded")
        return None

    server.mood = limits
    made = Made(server)
    texts = [f"short text {n}" for n in range(39)]
    batch = made.embedder.embed_batch([*texts[:20], "word " * 9000, *texts[20:]])
    assert batch.parked == ()
    assert batch.truncated == (20,)
    assert np.allclose(np.linalg.norm(batch.vectors, axis=1), 1.0, atol=1e-5)


def test_a_blank_text_is_parked_unasked(server: EmbeddingServer) -> None:
    batch = Made(server).embedder.embed_batch(["fine", "  \n", "也好"])
    assert [(parked.index, parked.code) for parked in batch.parked] == [(1, "text_empty")]
    assert server.requests == [["fine", "也好"]]


def test_a_server_that_hangs_is_given_up(server: EmbeddingServer) -> None:
    server.mood = lambda texts: Reply(hang=True)
    error = refused(Made(server, timeout_s=0.3, max_retries=1))
    assert error.code == "embedder_timeout"
    assert len(server.requests) == 2


def test_a_query_takes_no_more_than_one_timeout(server: EmbeddingServer) -> None:
    server.mood = lambda texts: failure(503, "overloaded", Retry_After="6")
    made = Made(server, timeout_s=5.0)
    with pytest.raises(NegmemError) as caught:
        made.embedder.embed_query("coriander")
    assert caught.value.code == "embedder_unreachable"
    assert made.waits == []
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_told(server: EmbeddingServer) -> None:
    made = Made(server, api_base="http://127.0.0.1:9/v1", max_retries=0)
    assert refused(made).code == "embedder_unreachable"


def test_missing_vectors_are_asked_for_in_smaller_requests(server: EmbeddingServer) -> None:
    server.mood = lambda texts: Reply(document=good(texts[:2]))
    rows = Made(server).embedder.embed_documents(TEXTS)
    assert np.allclose(rows, [hash_vector(text, DIMS) for text in TEXTS], atol=1e-6)


def test_two_vectors_of_one_number_are_not_taken(server: EmbeddingServer) -> None:
    document = good(TEXTS)
    document["data"][3]["index"] = 2
    server.script = [Reply(document=document)]
    rows = Made(server).embedder.embed_documents(TEXTS)
    assert np.allclose(rows, [hash_vector(text, DIMS) for text in TEXTS], atol=1e-6)
    assert len(server.requests) == 3


def test_other_dimensions_than_expected_stop_at_once(server: EmbeddingServer) -> None:
    error = refused(Made(server, dims=16))
    assert error.code == "embedding_dims_mismatch"
    assert "gives 8 dimensions, 16" in error.message
    assert len(server.requests) == 1


def test_dimensions_that_change_between_requests_are_refused(server: EmbeddingServer) -> None:
    server.script = [None, Reply(document=good(TEXTS[3:], dims=16))]
    error = refused(Made(server, max_batch_texts=3))
    assert error.code == "embedding_dims_mismatch"


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>hello"),
        Reply(body=b""),
        Reply(document=[1, 2]),
        Reply(document={"data": None}),
        Reply(document={"data": [{"embedding": [1.0]}] * 4}),
        Reply(document={"data": [{"index": n, "embedding": ["x"]} for n in range(4)]}),
        Reply(document={"data": [{"index": n} for n in range(4)]}),
    ],
)
def test_garbage_is_tried_again_and_then_told(server: EmbeddingServer, reply: Reply) -> None:
    server.script = [reply]
    made = Made(server)
    rows = made.embedder.embed_documents(TEXTS)
    assert np.allclose(rows, [hash_vector(text, DIMS) for text in TEXTS], atol=1e-6)
    server.mood = lambda texts: reply
    error = refused(made)
    assert error.code in ("embedding_response_invalid", "embedder_unreachable")


@pytest.mark.parametrize("vector", [[0.0] * DIMS, [float("nan")] * DIMS, [1e300] * DIMS])
def test_a_vector_that_says_nothing_is_parked(server: EmbeddingServer, vector: list[float]) -> None:
    def mood(texts: list[str]) -> Reply:
        document = good(texts)
        for entry, text in zip(document["data"], texts, strict=True):
            if text == TEXTS[1]:
                entry["embedding"] = vector
        return Reply(document=document)

    server.mood = mood
    batch = Made(server).embedder.embed_batch(TEXTS)
    assert [parked.index for parked in batch.parked] == [1]
    assert np.isfinite(batch.vectors).all()


def test_prefixes_are_sent_and_belong_to_the_space(server: EmbeddingServer) -> None:
    made = Made(server, query_prefix="query: ", document_prefix="passage: ")
    made.embedder.embed_documents(["咖啡"])
    made.embedder.embed_query("咖啡")
    assert server.requests == [["passage: 咖啡"], ["query: 咖啡"]]
    assert made.embedder.version != Made(server).embedder.version


def test_the_key_goes_to_the_server_and_the_price_list_is_not_fetched(
    server: EmbeddingServer,
) -> None:
    """Offline and from the shell: nothing but the answer on stdout, with no key in it."""
    server.mood = lambda texts: failure(401, f"bad key {KEY}") if "bad" in texts else None
    code = (
        "import json, os, sys\n"
        "from negmem.errors import NegmemError\n"
        "from negmem.providers.hosted import HostedEmbedder, HostedSettings\n"
        "def made(model):\n"
        "    return HostedEmbedder(HostedSettings(model=model, api_base=sys.argv[1],\n"
        "        api_key_env='TEST_KEY', max_retries=0))\n"
        "answers = [len(made('openai/test-embedder').embed_query('good'))]\n"
        "for model, text in (('openai/test-embedder', 'bad'), ('unheard-of', 'x')):\n"
        "    try:\n"
        "        made(model).embed_query(text)\n"
        "    except NegmemError as error:\n"
        "        answers.append([error.code, error.why])\n"
        "answers.append(os.environ['LITELLM_LOCAL_MODEL_COST_MAP'])\n"
        "print(json.dumps(answers))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, server.base_url],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env={"TEST_KEY": KEY, "PATH": "", "HTTPS_PROXY": "http://127.0.0.1:9"},
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers[0] == DIMS
    assert [answer[0] for answer in answers[1:3]] == ["embedder_key_refused", "embedder_refused"]
    assert answers[3] == "True"
    assert KEY not in done.stdout + done.stderr
