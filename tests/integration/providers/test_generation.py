"""Text models: the real litellm client against an endpoint in its bad moods."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from negmem.core.text.json_reading import UnreadableError
from negmem.providers.budget import Budget, Prices
from negmem.providers.generation import (
    Answer,
    Generator,
    GeneratorSettings,
    Refusal,
    RefusalKind,
)
from tests.support.chat_server import ChatReply, ChatServer, chat_server, failed, said

KEY = "sk-test-abcdefghijklmnop"
MESSAGES = [{"role": "user", "content": "我喜欢咖啡。 I like coffee."}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
GOOD = '{"facts": ["coffee"]}'


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


class Made:
    """A generator on the test server, and the waits that it asked for."""

    def __init__(self, server: ChatServer, budget: Budget | None = None, **changes: Any) -> None:
        self.waits: list[float] = []
        self.now = 0.0
        settings = {
            "model": "openai/test-model",
            "api_base": server.base_url,
            "api_key_env": "TEST_KEY",
            "timeout_s": 5.0,
            "max_output_tokens": 200,
            **changes,
        }
        self.generator = Generator(
            GeneratorSettings(**settings),
            budget,
            env={"TEST_KEY": KEY},
            sleep=self.waits.append,
            clock=lambda: self.now,
        )

    def ask(self) -> Answer | Refusal:
        return self.generator.generate(MESSAGES, SCHEMA)

    def refused(self) -> Refusal:
        outcome = self.ask()
        assert isinstance(outcome, Refusal), outcome
        assert KEY not in outcome.reason
        return outcome


def test_an_answer_is_asked_for_under_the_schema_and_counted(server: ChatServer) -> None:
    server.mood = lambda body: said(GOOD)
    made = Made(server, prices=Prices(1e-6, 2e-6))
    assert made.ask() == Answer({"facts": ["coffee"]})
    body = server.bodies[0]
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["temperature"], body["max_tokens"]) == (0, 200)
    usage = made.generator.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 100, 20)
    assert usage.cost_usd == pytest.approx(140e-6)


def test_what_a_model_does_not_know_is_asked_for_otherwise_and_remembered(
    server: ChatServer,
) -> None:
    def old(body: dict[str, Any]) -> ChatReply:
        form = (body.get("response_format") or {}).get("type")
        if form == "json_schema":
            return failed(400, "response_format: json_schema is not supported")
        if "temperature" in body:
            return failed(400, "Unsupported value: 'temperature' does not support 0")
        if "max_tokens" in body:
            return failed(400, "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'")
        return said(GOOD)

    server.mood = old
    made = Made(server)
    assert made.ask() == Answer({"facts": ["coffee"]})
    assert len(server.bodies) == 4
    last = server.bodies[-1]
    assert last["response_format"] == {"type": "json_object"}
    assert last["max_completion_tokens"] == 200
    assert made.ask() == Answer({"facts": ["coffee"]})
    assert len(server.bodies) == 5
    assert made.waits == []


def test_only_what_may_pass_is_tried_again(server: ChatServer) -> None:
    server.script = [
        failed(429, "slow down", retry_after="7"),
        failed(503, "overloaded"),
        ChatReply(drop=True),
        said(GOOD),
    ]
    made = Made(server)
    assert made.ask() == Answer({"facts": ["coffee"]})
    # Seven seconds in pieces in which a lease can be renewed, then the client's own backoff.
    assert made.waits[:2] == [5.0, 2.0]
    assert 1.0 <= made.waits[2] <= 2.0
    assert (made.generator.usage.calls, made.generator.usage.retries) == (4, 3)


@pytest.mark.parametrize(
    ("reply", "code", "kind"),
    [
        (failed(401, f"Incorrect API key provided: {KEY}"), "llm_key_refused", RefusalKind.STOPPED),
        (failed(402, "Payment required"), "llm_billing", RefusalKind.STOPPED),
        (failed(429, "You exceeded your current quota", "insufficient_quota"), "llm_billing", RefusalKind.STOPPED),
        (failed(404, "The model does not exist"), "llm_refused", RefusalKind.STOPPED),
    ],
    ids=["key", "billing", "quota", "model"],
)  # fmt: skip
def test_what_no_retry_can_help_ends_the_run_after_one_call(
    server: ChatServer, reply: ChatReply, code: str, kind: RefusalKind
) -> None:
    server.mood = lambda body: reply
    made = Made(server)
    refusal = made.refused()
    assert (refusal.code, refusal.kind, refusal.ends_run) == (code, kind, True)
    assert made.refused() == refusal
    assert len(server.bodies) == 1
    assert made.waits == []


def test_a_missing_key_makes_no_call(server: ChatServer) -> None:
    made = Made(server, api_key_env="UNSET_KEY")
    assert made.refused().code == "llm_key_refused"
    assert server.bodies == []
    assert made.generator.usage.calls == 0


def test_a_bad_request_is_that_request_s_own_until_all_are(server: ChatServer) -> None:
    server.mood = lambda body: failed(400, "Invalid value in messages")
    made = Made(server)
    kinds = [made.refused().kind for _ in range(4)]
    assert kinds == [RefusalKind.DECLINED] * 2 + [RefusalKind.STOPPED] * 2
    assert len(server.bodies) == 3
    assert made.waits == []


def test_what_is_too_long_says_so(server: ChatServer) -> None:
    server.script = [
        failed(
            400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"
        ),
        failed(413, "Payload Too Large"),
        said('{"facts": ["a", "b', finish="length"),
    ]
    made = Made(server)
    assert [made.refused().kind for _ in range(3)] == [RefusalKind.TOO_LONG] * 3
    assert made.waits == []


def test_a_service_that_is_down_is_left_alone_for_a_while(server: ChatServer) -> None:
    server.mood = lambda body: failed(500, "boom")
    made = Made(server, max_retries=1)
    assert made.refused().kind is RefusalKind.UNAVAILABLE
    assert made.refused().kind is RefusalKind.UNAVAILABLE
    assert len(server.bodies) == 4
    assert made.refused().kind is RefusalKind.UNAVAILABLE
    assert len(server.bodies) == 4
    made.now = 60.0
    server.mood = lambda body: said(GOOD)
    assert made.ask() == Answer({"facts": ["coffee"]})


def test_a_long_retry_after_is_the_queue_s_affair(server: ChatServer) -> None:
    server.mood = lambda body: failed(429, "come back later", retry_after="600")
    made = Made(server)
    refusal = made.refused()
    assert (refusal.code, refusal.retry_after_s) == ("llm_rate_limited", 600)
    assert made.waits == []
    assert len(server.bodies) == 1


def test_an_answer_that_never_comes_is_given_up_and_counted_in_full(server: ChatServer) -> None:
    server.mood = lambda body: ChatReply(hang=True)
    made = Made(server, timeout_s=0.2, max_retries=0, prices=Prices(1e-6, 1e-6))
    refusal = made.refused()
    assert (refusal.code, refusal.kind) == ("llm_timeout", RefusalKind.UNAVAILABLE)
    assert made.generator.usage.completion_tokens == 200
    assert made.generator.usage.cost_usd


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (Budget(max_calls=3), 3),
        (Budget(max_tokens=700), 5),
        (Budget(max_cost_usd=0.0007), 5),
        (Budget(max_calls=0), 0),
    ],
    ids=["calls", "tokens", "money", "none"],
)
def test_no_ceiling_is_passed_however_many_ask_at_once(
    server: ChatServer, budget: Budget, calls: int
) -> None:
    server.mood = lambda body: said(GOOD)
    made = Made(server, budget, prices=Prices(1e-6, 1e-6))
    outcomes: list[Answer | Refusal] = []
    threads = [threading.Thread(target=lambda: outcomes.append(made.ask())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    answers = [one for one in outcomes if isinstance(one, Answer)]
    refusals = [one for one in outcomes if isinstance(one, Refusal)]
    assert len(answers) == len(server.bodies) == budget.spent.calls <= calls
    assert len(answers) + len(refusals) == 8
    assert {one.code for one in refusals} == {"llm_ceiling"}
    assert budget.max_tokens is None or budget.spent.tokens <= budget.max_tokens
    assert budget.max_cost_usd is None or (budget.spent.cost_usd or 0) <= budget.max_cost_usd


def test_a_ceiling_on_money_without_a_price_makes_no_call(server: ChatServer) -> None:
    made = Made(server, Budget(max_cost_usd=1.0), model="openai/no-such-price")
    refusal = made.refused()
    assert refusal.code == "llm_ceiling"
    assert "no price" in refusal.reason
    assert server.bodies == []


def test_prose_is_asked_for_json_once_more(server: ChatServer) -> None:
    server.script = [said("Sure, here it comes!"), said(f"```json\n{GOOD}\n```")]
    made = Made(server)
    assert made.ask() == Answer({"facts": ["coffee"]})
    assert "JSON object alone" in server.bodies[1]["messages"][-1]["content"]
    server.mood = lambda body: said("I'd rather talk.")
    refusal = made.refused()
    assert (refusal.kind, refusal.code) == (RefusalKind.UNREADABLE, "llm_answer_invalid")
    assert len(server.bodies) == 4


def test_a_shape_that_the_caller_refuses_is_asked_for_once_more(server: ChatServer) -> None:
    def check(value: object) -> None:
        if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
            raise UnreadableError("no list")

    server.script = [said('{"facts": "one"}'), said(GOOD)]
    made = Made(server)
    assert made.generator.generate(MESSAGES, SCHEMA, check=check) == Answer({"facts": ["coffee"]})


def test_a_lost_lease_goes_through_a_wait(server: ChatServer) -> None:
    class LostError(Exception):
        pass

    server.mood = lambda body: failed(429, "slow", retry_after="30")
    made = Made(server)
    calls = 0

    def tick() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise LostError

    with pytest.raises(LostError):
        made.generator.generate(MESSAGES, SCHEMA, on_wait=tick)
    assert sum(made.waits) == 10.0


def test_stdout_stays_clean_and_the_client_is_imported_late(
    server: ChatServer, tmp_path: Path
) -> None:
    server.script = [said(GOOD), failed(500, "boom"), failed(400, "bad")]
    program = f"""
import sys
from negmem.providers.generation import Generator, GeneratorSettings
made = [Generator(GeneratorSettings(model=model, api_base={server.base_url!r}, max_retries=0), env={{}})
        for model in ("openai/test-model", "no-such-provider-at-all")]
assert "litellm" not in sys.modules
import os
os.environ["OPENAI_API_KEY"] = "sk-x"
messages = [{{"role": "user", "content": "hi"}}]
kinds = [one.generate(messages, {json.dumps(SCHEMA).replace("false", "False")}).__class__.__name__
         for one in (made[0], made[0], made[0], made[1])]
print(",".join(kinds))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert done.stdout == "Answer,Refusal,Refusal,Refusal\n", done.stderr[-2000:]
