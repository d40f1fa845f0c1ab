"""Text cleaned at the door."""

import pytest

from negmem.core.text.clean import (
    MAX_TEXT_BYTES,
    Replaced,
    TextRefusedError,
    clean_text,
    clean_value,
    decode_line,
    refuse_escaped_bytes,
)


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "用户喜欢喝咖啡，不加糖。",
        "👩‍👩‍👧‍👦 and 🇨🇳 and 👍🏽",
        "\tdef f():\n\t\treturn {'a': [1, 2]}\r\n\r\n",
        "  two spaces before and after  ",
        "zero\u200bwidth, a no-break\u00a0space, an inner \ufeff mark",
        "e\u0301 stays two characters and \u00e9 one",
        r"the six characters \u0000 are text",
        "\x1b[31mred\x1b[0m and a bell \x07",
        "the replacement character \ufffd itself",
        "",
    ],
)
def test_what_postgresql_can_hold_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == (text, Replaced())


def test_nul_is_replaced_and_counted() -> None:
    assert clean_text("W\0s\0l 中\0文") == ("W\ufffds\ufffdl 中\ufffd文", Replaced(nul=3))


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert clean_text("a\ud83d b\ude00") == ("a\ufffd b\ufffd", Replaced(surrogates=2))
    assert clean_text("\ud83d\ude00") == ("😀", Replaced())
    assert clean_text("\ufffd\ud83d") == ("\ufffd\ufffd", Replaced(surrogates=1))


def test_one_byte_order_mark_at_the_start_goes() -> None:
    assert clean_text("\ufeff你好") == ("你好", Replaced(byte_order_marks=1))
    assert clean_text("\ufeff\ufeffx") == ("\ufeffx", Replaced(byte_order_marks=1))


def test_a_text_of_one_megabyte_and_of_the_limit_is_taken_and_more_refused() -> None:
    million = "记忆" * 175_000
    assert clean_text(million) == (million, Replaced())
    assert clean_text("x" * MAX_TEXT_BYTES)[0] == "x" * MAX_TEXT_BYTES
    with pytest.raises(TextRefusedError) as refused:
        clean_text("x" * (MAX_TEXT_BYTES + 1))
    assert refused.value.reason == "text_too_long"
    assert "8,388,608" in refused.value.detail and "8,388,609" in refused.value.detail
    with pytest.raises(TextRefusedError):
        clean_text("字" * (MAX_TEXT_BYTES // 3 + 1))


def test_nested_values_are_cleaned_keys_included() -> None:
    value = {"a\0": ["x\0", {"深": "\ud800"}], "n": float("nan"), "i": 2**70, "t": True, "z": None}
    cleaned, replaced = clean_value(value)
    assert cleaned == {
        "a\ufffd": ["x\ufffd", {"深": "\ufffd"}],
        "n": None,
        "i": 2**70,
        "t": True,
        "z": None,
    }
    assert replaced == Replaced(nul=2, surrogates=1, numbers=1)
    assert replaced.total == 4


def test_values_that_jsonb_cannot_hold_are_refused() -> None:
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    for value, reason in [
        (deep, "metadata_too_deep"),
        (10**4000, "number_too_long"),
        ({"a": {1, 2}}, "metadata_invalid"),
    ]:
        with pytest.raises(TextRefusedError) as refused:
            clean_value(value)
        assert refused.value.reason == reason


def test_bytes_that_are_not_utf8_are_refused_with_their_offset() -> None:
    assert decode_line("咖啡".encode()) == "咖啡"
    with pytest.raises(TextRefusedError) as refused:
        decode_line(b"caf\xe9")
    assert (refused.value.reason, refused.value.detail) == (
        "invalid_utf8",
        "byte 0xe9 at offset 3 is not UTF-8",
    )
    refuse_escaped_bytes("咖啡 \ud83d")
    with pytest.raises(TextRefusedError) as refused:
        refuse_escaped_bytes(b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert refused.value.detail == "byte 0xe9 at offset 3 is not UTF-8"
