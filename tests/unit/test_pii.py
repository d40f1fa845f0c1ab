"""Personal data in text: what is found, where, and what is left of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negmem.core.text import pii
from negmem.core.text.pii import Finding, Policy, each_text, find, masked, rewritten

FOUND = [
    ("邮箱是alice.b+x@example.com请联系", "email", "alice.b+x@example.com"),
    ("write to Bob_7@mail.example.co.uk.", "email", "Bob_7@mail.example.co.uk"),
    ("全角bob＠example．com也算", "email", "bob＠example．com"),
    ("电话13800138000。", "phone", "13800138000"),
    ("手机号是139 1234 5678", "phone", "139 1234 5678"),
    ("+86-138-0013-8000", "phone", "+86-138-0013-8000"),
    ("１３８００１３８０００", "phone", "１３８００１３８０００"),
    ("座机 010-12345678 转 3", "phone", "010-12345678"),
    ("(415) 555-0132", "phone", "(415) 555-0132"),
    ("dial 415-555-2671 now", "phone", "415-555-2671"),
    ("call me at 4155550132", "phone", "4155550132"),
    ("London +44 20 7946 0958", "phone", "+44 20 7946 0958"),
    ("身份证11010519491231002X", "id_card", "11010519491231002X"),
    ("110105 19491231 002x", "id_card", "110105 19491231 002x"),
    ("card 4111 1111 1111 1111 12/26", "credit_card", "4111 1111 1111 1111"),
    ("卡号6222021234567890128。", "credit_card", "6222021234567890128"),
    ("amex 3782-822463-10005", "credit_card", "3782-822463-10005"),
    ("IBAN DE89 3704 0044 0532 0130 00 ok", "iban", "DE89 3704 0044 0532 0130 00"),
    ("ES91 2100 0418 4502 0005 1332 this", "iban", "ES91 2100 0418 4502 0005 1332"),
    ("GB82WEST12345698765432。", "iban", "GB82WEST12345698765432"),
    ("my passport number is 512345678", "passport", "512345678"),
    ("护照号：EA1234567", "passport", "EA1234567"),
    ("SSN 123-45-6789", "ssn", "123-45-6789"),
    ("from 203.0.113.7, twice", "ip_address", "203.0.113.7"),
    ("2001:db8::7 answered", "ip_address", "2001:db8::7"),
    ("I live at 221B Baker Street, London", "address", "221B Baker Street, London"),
    ("我住在北京市海淀区中关村大街27号", "address", "北京市海淀区中关村大街27号"),
]
NOT_FOUND = [
    "11010519491231002Y 110105194912310021",  # check digit
    "110105 19491331 002X",  # no such day
    "4111 1111 1111 1112",  # Luhn
    "1234567890123456",  # no issuer begins so
    "DE89 3704 0044 0532 0130 01",  # mod 97
    "uuid 9f2c1d4e-1234-5678-9abc-123456789012",
    "2026-11-29 10:20:30, 12:30:45.123",
    "3.14159265358979323846",
    "localhost is 127.0.0.1 or ::1, all is 0.0.0.0",
    "abc@@x.com, a@b, @user",
    "00:1A:2B:3C:4D:5E",
    "她今年36岁，住三号楼，花了12345元。",
    "in 2026 she ran 42 km, order 10002000300",
    "999.1.1.300 is nothing",
    "the value 000-12-3456",
]


@pytest.mark.parametrize(("text", "kind", "piece"), FOUND)
def test_what_has_a_shape_is_found_where_it_stands(text: str, kind: str, piece: str) -> None:
    assert [(one.kind, text[one.start : one.end]) for one in find(text)] == [(kind, piece)]


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert find(text) == []


def test_a_mask_keeps_both_ends_and_a_label_keeps_nothing() -> None:
    text = "邮箱 bob@example.com，电话13800138000，卡4111111111111111"
    policies: dict[str, Policy] = {"email": "anonymize", "phone": "mask", "credit_card": "mark"}
    new, standing = rewritten(text, find(text), lambda kind: policies.get(kind, "none"))
    assert new == "邮箱 <EMAIL>，电话13*******00，卡4111111111111111"
    assert [(one.kind, new[one.start : one.end]) for one in standing] == [
        ("credit_card", "4111111111111111")
    ]
    assert masked("12345678") == "********"
    assert find(new) == standing, "what was rewritten is not found again"


def test_overlapping_findings_leave_no_tail() -> None:
    text = "x 0123456789 y"
    findings = [Finding("phone", 2, 8), Finding("person", 6, 12), Finding("url", 7, 8)]
    new, standing = rewritten(text, findings, lambda kind: "anonymize")
    assert (new, standing) == ("x <PHONE> y", [])
    policies: dict[str, Policy] = {"phone": "mark", "person": "mask"}
    new, _ = rewritten(text, findings, lambda kind: policies.get(kind, "none"))
    assert new == "x 01******89 y"


def test_json_is_rewritten_in_keys_texts_and_numbers() -> None:
    def hide(text: str) -> str:
        return rewritten(text, find(text), lambda kind: "anonymize")[0]

    value = {"a@b.co": 1, "c@d.co": 13800138000, "x": [True, None, 1.5, "电话13800138000"]}
    assert each_text(value, hide) == {
        "<EMAIL>": 1,
        "<EMAIL> 2": "<PHONE>",
        "x": [True, None, 1.5, "电话<PHONE>"],
    }


@given(st.lists(st.sampled_from([piece for _, _, piece in FOUND] + ["，", " and ", "。", "\n"])))
def test_nothing_that_was_found_stays(pieces: list[str]) -> None:
    text = "".join(pieces)
    findings = find(text)
    for one in findings:
        assert 0 <= one.start < one.end <= len(text)
    _, standing = rewritten(text, findings, lambda kind: "anonymize")
    assert standing == []
    kept, all_standing = rewritten(text, findings, lambda kind: "mark")
    assert kept == text
    assert {(one.start, one.end) for one in all_standing} == {(f.start, f.end) for f in findings}


@given(st.text(alphabet="ab1 @.-:+京号路市", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for one in find(text):
        assert one.kind in pii.KINDS and text[one.start : one.end].strip()
