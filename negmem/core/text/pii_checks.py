"""Checks that tell a number of a person from any other number: check digits, dates, ranges."""

from __future__ import annotations

import ipaddress
from datetime import date

# Length of an IBAN by country, of those in the registry that are in common use.
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21, "CY": 28, "CZ": 24,
    "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GR": 27,
    "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "KW": 30, "LB": 28, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PT": 25, "QA": 29,
    "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29,
}  # fmt: skip
_ID_CARD_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_PROVINCES = frozenset(
    [
        "11", "12", "13", "14", "15", "21", "22", "23", "31", "32", "33", "34", "35", "36", "37",
        "41", "42", "43", "44", "45", "46", "50", "51", "52", "53", "54", "61", "62", "63", "64",
        "65", "71", "81", "82", "83",
    ]
)  # fmt: skip


def digits_of(text: str) -> str:
    """The ASCII digits of a text, in order."""
    return "".join(character for character in text if "0" <= character <= "9")


def luhn_holds(digits: str) -> bool:
    """Whether the last digit is the check digit of the others. Source: ISO/IEC 7812-1."""
    total = 0
    for place, character in enumerate(reversed(digits)):
        value = ord(character) - 48
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def is_card_number(digits: str) -> bool:
    """Whether 13 to 19 digits are a payment card's: an issuer's first digits and the check digit."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    return digits[0] in "3456" + ("2" if "2221" <= digits[:4] <= "2720" else "") and luhn_holds(
        digits
    )


def is_id_card(number: str) -> bool:
    """Whether 18 characters are a resident identity number of China. Source: GB 11643-1999.

    Province, a day that exists between 1900 and 2099, and the check digit (X is ten).
    """
    digits, check = number[:17], number[17:].upper()
    if len(number) != 18 or not digits.isdigit() or digits[:2] not in _PROVINCES:
        return False
    if not _is_day(digits[6:14]):
        return False
    total = sum(int(d) * weight for d, weight in zip(digits, _ID_CARD_WEIGHTS, strict=True))
    return "10X98765432"[total % 11] == check


def _is_day(text: str) -> bool:
    try:
        day = date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return False
    return 1900 <= day.year <= 2099


def iban_length(country: str) -> int:
    """How many letters and digits an IBAN of a country has; 0 for no country that has them."""
    return _IBAN_LENGTHS.get(country.upper(), 0)


def is_iban(text: str) -> bool:
    """Whether letters and digits without blanks are an IBAN: length by country, remainder 1 mod 97.

    Source: ISO 13616.
    """
    number = text.upper()
    if iban_length(number[:2]) != len(number):
        return False
    turned = number[4:] + number[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


def is_address_of_a_machine(text: str) -> bool:
    """Whether text is an IPv4 or IPv6 address that may lead to somebody: no loopback, no wildcard."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (
        found.is_loopback or found.is_unspecified or found.is_multicast or found.is_link_local
    )
