"""Which format an input has."""

import json

import pytest

from negmem.core.formation.readers.detect import FORMATS, Detected, detect
from negmem.errors import NegmemError, UsageError
from tests.support.conversations import records_of, source_of

SESSION = '{"thread": "t", "user": "a", "turns": [{"role": "user", "text": "你好"}]}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SESSION, Detected("jsonl", True)),
        (SESSION + "\n" + SESSION, Detected("jsonl", True)),
        ("not json\n" + SESSION + "\n", Detected("jsonl", True)),
        (SESSION[:40] + "\n" + (SESSION + "\n") * 3, Detected("jsonl", True)),
        ("\n\n" + SESSION + "\n\n" + SESSION, Detected("jsonl", True)),
        ('{"thread": "t", "text": "a", "role": "user"}', Detected("jsonl", True)),
        (json.dumps(json.loads(SESSION), indent=2), Detected("jsonl", False)),
        ("[" + SESSION + "]", Detected("jsonl", False)),
        ('{"messages": [{"role": "user", "content": "x"}]}', Detected("openai", True)),
        ('[{"role": "user", "content": "x"}]', Detected("openai", False)),
        ('[\n {"role": "user", "content": "x"}\n]', Detected("openai", False)),
        ('{"role": "user", "content": "x"}\n' * 3, Detected("openai", True)),
        ('{"id": "s", "appName": "a", "userId": "u", "events": []}', Detected("adk", True)),
        ('{"author": "user", "content": "x", "timestamp": 1}', Detected("adk", True)),
        ('[\n{"author": "user", "content": {"parts": []}}]', Detected("adk", False)),
        ('[{"sample_id": "c", "conversation": {}}]', Detected("locomo", False)),
        ('[\n{"qa": [], "conversation": {"session_1": []}}]', Detected("locomo", False)),
        ('[{"question_id": "q", "haystack_sessions": []}]', Detected("longmemeval", False)),
        ("**User:** hi\n\n**Assistant:** ho\n", Detected("markdown", False)),
        ("小明：你好\n小红：你好\n小明：再见\n小红：再见", Detected("markdown", False)),
        ("### User\n\nhi\n", Detected("markdown", False)),
    ],
)
def test_auto_tells_the_format(data: str, expected: Detected) -> None:
    assert detect(source_of(data)) == expected


def test_a_long_document_is_told_by_its_beginning() -> None:
    turn = {"role": "user", "content": "字" * 1000}
    one_line = json.dumps({"messages": [turn] * 500}, ensure_ascii=False)
    assert detect(source_of(one_line)) == Detected("openai", True)
    assert detect(source_of(one_line * 40)) == Detected("openai", False)
    entry = {"question_id": "q", "question": "x", "haystack_sessions": [[turn] * 500]}
    assert detect(source_of(json.dumps([entry], ensure_ascii=False))).format == "longmemeval"
    line = json.dumps({"thread": "t", "turns": [{"role": "user", "text": "字" * 200_000}]})
    assert len(records_of(line + "\n" + line)) == 2


@pytest.mark.parametrize(
    "data", ["just some prose, nobody speaks", "a,b,c\n1,2,3\n", '{"a": 1}', "[1]"]
)
def test_auto_says_when_it_cannot_tell(data: str) -> None:
    with pytest.raises(NegmemError) as refused:
        detect(source_of(data))
    assert refused.value.code == "input_format_unclear"
    assert all(name in refused.value.hint for name in FORMATS)


def test_a_named_format_is_taken_at_its_word() -> None:
    assert detect(source_of("not json\nnor this\n"), "jsonl") == Detected("jsonl", True)
    with pytest.raises(UsageError) as refused:
        detect(source_of(SESSION), "yaml")
    assert refused.value.code == "input_format_unknown"
