"""The strict reader: what a word means, where it stands, what is refused."""

from __future__ import annotations

import pytest
import yaml

from negmem.config import yamltext
from negmem.config.yamltext import Scalar, YamlError, parse, render, resolve


def words(text: str) -> dict[str, str]:
    root, repeated = parse(text)
    assert repeated == []
    return {key: node.text for key, (_, node) in root.entries.items() if isinstance(node, Scalar)}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("22:30", "22:30"),
        ("1e-3", 0.001),
        ("1.10", 1.1),
        ("0o17", 15),
        ("0x1F", 31),
        ("017", 17),
        ("1_000", "1_000"),
        ("-7", -7),
        (".5", 0.5),
        ("~", None),
        ("", None),
        ("Null", None),
        ("2026-03-02", "2026-03-02"),
        ("1e999", float("inf")),
    ],
)
def test_a_plain_word_means_what_yaml_1_2_says(word: str, value: object) -> None:
    found = resolve(word)
    assert found == value
    assert type(found) is type(value)


def test_words_are_kept_as_they_stand_with_their_place() -> None:
    root, _ = parse("lang: no\nat: 22:30\nver: 1.10\n名: '中文 😀'\n")
    assert words("lang: no\nat: 22:30\nver: 1.10\n") == {"lang": "no", "at": "22:30", "ver": "1.10"}
    word, node = root.entries["名"]
    assert isinstance(node, Scalar)
    assert (node.text, node.is_plain, node.mark.line, node.mark.column) == ("中文 😀", False, 4, 4)
    assert (word.mark.line, word.mark.column) == (4, 1)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("a: [1", "not YAML", 1),
        ("a: 1\n b: 2", "not YAML", 2),
        ("a: !!python/object:os.system x", "tags", 1),
        ("a: ! x", "tags", 1),
        ("a: &x [*x]", "contains itself", 1),
        ("a: *nowhere", "does not exist", 1),
        ("a: 1\n---\nb: 2", "second document", 2),
        ("- a", "a mapping of keys is wanted", 1),
        ("just text", "a mapping of keys is wanted", 1),
        ("base: &b {x: 1}\nc:\n  <<: *b", "merge keys", 3),
        ("? [a]\n: 1", "a key must be a word", 1),
        ("a: " + "[" * 40 + "]" * 40, "deep", 1),
        ("a: " + "[" * 200_000, "", 1),
        ("a: x\x00y", "U+0000", 1),
        ("a: 1\nb: \x1b[31m", "U+001B", 2),
        ("a: " + "x" * yamltext.MAX_CHARS, "at most", 1),
    ],
)
def test_what_is_not_read_is_refused_with_its_place(text: str, said: str, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert said in caught.value.text
    assert caught.value.line == line
    assert "\n" not in caught.value.text


def test_every_repeated_key_is_reported() -> None:
    root, repeated = parse("a: 1\nb: 2\na: 3\nc: {d: 1, d: 2}\n")
    assert [(error.line, error.column) for error in repeated] == [(3, 1), (4, 11)]
    assert "'a' stands in line 1 already" in repeated[0].text
    assert words("a: 1\nb: 2\n")["a"] == "1"
    assert root.entries["a"][1].text == "1"  # type: ignore[union-attr]


def test_anchors_are_read() -> None:
    root, _ = parse("a: &days 7\nb: *days\n")
    assert [node.text for _, node in root.entries.values()] == ["7", "7"]  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "\n\n"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    assert parse(text)[0].entries == {}


@pytest.mark.parametrize(
    "value",
    [
        "no", "22:30", "1.10", "", "a: b", "#x", "- x", "中文", "y", "0x1", "null", "tab\there",
        "two\nlines", "quote\"'\\", "plain/path-1.x", "\u2028", "é\x85", 7, -3, 0.1, 1e-07, 1e22, True, None,
    ],
)  # fmt: skip
def test_a_written_value_reads_the_same_in_old_and_new_yaml(value: object) -> None:
    text = f"k: {render(value)}\n"
    root, _ = parse(text)
    node = root.entries["k"][1]
    assert isinstance(node, Scalar)
    assert (resolve(node.text) if node.is_plain else node.text) == value
    assert yaml.safe_load(text) == {"k": value}


def test_only_what_the_yaml_knows_can_be_written() -> None:
    assert render(["a", "no", 1]) == '[a, "no", 1]'
    with pytest.raises(TypeError, match="has no place"):
        render(object())
