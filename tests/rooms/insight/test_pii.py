"""Personal data is replaced, and what only looks like it stays."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.pii import PLACEHOLDER, Placeholders, is_iban, passes_luhn

CLEAN = Placeholders(b"k" * 32).clean
PERSONAL = {
    "email": [
        "anna.b+x@example.co.uk",
        "O'Brien@example.org",
        "anna (at) example (dot) com",
        "bob[at]mail.example.org",
        "jörg@bücher.example",
        "anna@example.com_",
        "to=anna@example.com&x=1",
        "'anna@example.com'",
    ],
    "phone": [
        "+49 (0)30 123456-78",
        "0044 20 7946 0958",
        "555-123-4567",
        "(555) 123-4567",
        "+14155552671",
        "0171/1234567",
        "07911 123456",
        "+1 415 555 2671 ext 44",
        "06 12 34 56 78",
        "4155552671",
        "phone no: 5551234567",
        "Tel.0171/1234567",
        "Tel. Nr. 0171 1234567",
        "call 555-1234",
        "(+49) 171 1234567",
        "2026-01-31 4155552671",
        "4155552671 31.12.2025",
        "mobile no. 98765 43210",
        "+91-98765-43210",
        "CASE17/+1-415-555-2671",
        "1 (0171 1234567)",
        "01.42.68.53.00",
        "+353 20 915 5550",
    ],
    "card": ["4111 1111 1111 1111", "4111111111111111", "5500-0000-0000-0004", "3782 822463 10005"],
    "iban": [
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "NL91-ABNA-0417-1643-00",
        "DE89.3704.0044.0532.0130.00",
        "CH93 0076 2011 6238 5295 7",
        "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
        "FR76 3000 6000 0112 3456 7890 189 merci",
    ],
    "ip": ["192.168.1.20", "2001:db8::1", "fe80::1ff:fe23:4567:890a"],
}
OTHERS = [
    "order 123456789 is late",
    "Order #4111222233334445",
    "2026-01-31 12:30:45",
    "12:30:45",
    "version 10.2.3",
    "invoice 2026/000123",
    "1,234,567.89 EUR",
    "1 234 567 users",
    "ticket 00012345",
    "on 31.12.2025 and 01/02/2026",
    "build 1.2.3.4567",
    "SKU 12345-67890",
    "the years 1999-2004",
    "ratio 16:9",
    "C++ std::vector",
    "10.000.000",
    "tracking 1Z999AA10123456784",
    "a@b",
    "mail @ noon (at the shop)",
    "::",
    "serial 998-877-6655",
    "order number is 123456789",
    "call about order 123456789",
    "20260131 103045",
    "Bestellnummer 123456789",
    "ref 1.2.3.4.5",
    "12 345 678 901 EUR",
    "00:1A:2B:3C:4D:5E",
    "2026-01-31T10:00:00Z",
    "[1234 5678 9012 3456]",
    "Reference 1234 5678 9012 3456 is open",
    "driver 10.0.19041.1237",
    "host 344.12.52.587",
]


GERMAN, BRITISH = "DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32"


@pytest.mark.promise("insight.pii")
@pytest.mark.parametrize("between", [" ", ", ", " and ", "-", ".", "\u00a0", "/", "\n", ""])
@pytest.mark.parametrize("spaced", [True, False])
def test_every_iban_of_a_run_is_replaced(between: str, *, spaced: bool) -> None:
    both = [GERMAN, BRITISH, GERMAN] if spaced else [one.replace(" ", "") for one in (GERMAN, BRITISH, GERMAN)]
    cleaned = CLEAN(f"Pay to {between.join(both)} please")
    assert [found[1] for found in PLACEHOLDER.finditer(cleaned)] == ["iban"] * 3
    assert cleaned.startswith("Pay to [iban:")
    assert not re.search(r"\d{4}(?![0-9a-f]*\])", cleaned)


@pytest.mark.promise("insight.pii")
def test_an_iban_behind_another_code_is_replaced() -> None:
    assert "[iban:" in CLEAN(f"Order AB12 3456 is paid from {GERMAN}")
    assert "[iban:" in CLEAN(f"AB12 order {GERMAN}")


@pytest.mark.promise("insight.pii")
@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in PERSONAL.items() for value in values])
@pytest.mark.parametrize("around", ["{}", "Please write to {} soon.", "({})", "first\n{}\nlast", "me: {}, thanks"])
def test_personal_data_becomes_a_placeholder_of_its_kind(kind: str, value: str, around: str) -> None:
    cleaned = CLEAN(around.format(value))
    assert value not in cleaned
    assert re.search(rf"\[{kind}:[0-9a-f]{{10}}\]", cleaned), cleaned


@pytest.mark.promise("insight.pii")
@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_personal_data_stays_as_it_is(text: str) -> None:
    assert CLEAN(text) == text


@pytest.mark.promise("insight.pii")
def test_the_same_person_has_the_same_placeholder_and_another_key_gives_others() -> None:
    assert CLEAN("Anna@Example.org") == CLEAN("anna@example.org")
    assert CLEAN("(555) 123-4567") == CLEAN("555-123-4567")
    assert CLEAN("4111 1111 1111 1111") == CLEAN("4111111111111111")
    assert CLEAN("a@example.org") != CLEAN("b@example.org")
    assert CLEAN("a=anna@example.org") == CLEAN("'anna@example.org").rstrip("'") == CLEAN("anna@example.org")
    assert CLEAN("+49 (0)171 1234567") == CLEAN("+49 171 1234567") == CLEAN("0049171/1234567")
    assert CLEAN("0044 20 7946 0958") == CLEAN("+44 20 7946 0958")
    assert Placeholders(b"other").clean("a@example.org") != CLEAN("a@example.org")


def test_a_whole_value_that_names_a_customer_is_always_replaced() -> None:
    who = Placeholders(b"k" * 32)
    assert who.identity("Anna Berg") == who.identity(" anna  berg ")
    assert who.identity("anna@example.org") == CLEAN("anna@example.org")
    assert PLACEHOLDER.fullmatch(who.identity("12"))


@given(st.text())
def test_cleaning_again_changes_nothing(text: str) -> None:
    once = CLEAN(text)
    assert CLEAN(once) == once


@given(st.text(), st.integers(10**14, 10**15 - 1), st.text())
def test_no_card_survives_wherever_it_stands(before: str, body: int, after: str) -> None:
    card = next(f"{body}{digit}" for digit in range(10) if passes_luhn(f"{body}{digit}"))
    assert card not in CLEAN(f"{before} {card} {after}")


@pytest.mark.parametrize(
    "text", ["1" * 50_000, "a@" * 30_000, "+" * 50_000, "DE" * 30_000, "1 " * 30_000, ":" * 60_000]
)
def test_no_text_takes_long(text: str) -> None:
    assert isinstance(CLEAN(text), str)


def test_the_check_numbers_are_those_of_the_standards() -> None:
    assert is_iban("DE89370400440532013000")
    assert not is_iban("DE89370400440532013001")
    assert not is_iban("DE8937040044053201300É")
    assert passes_luhn("4111111111111111")
    assert not passes_luhn("4111111111111112")


@pytest.mark.promise("insight.pii")
def test_a_placeholder_is_not_taken_for_a_number_and_replaced_again() -> None:
    """One token in a hundred would be ten digits."""
    placeholders = Placeholders(b"k" * 32)
    for number in range(3_000):
        mail = f"guest{number}@example.org"
        once = placeholders.clean(f"Write to {mail} please.")
        assert re.fullmatch(r"Write to \[email:[0-9a-f]{10}\] please\.", once), once
        assert placeholders.clean(once) == once


@pytest.mark.promise("insight.pii")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("IBAN GB82\u2009WEST\u20091234\u20095698\u20097654\u200932", "IBAN [iban]"),
        ("06.12.34.56.78/01.42.68.53.00", "[phone]/[phone]"),
        ("06\u200912\u200934\u200956\u200978", "[phone]"),
        ("firmware v8.18.9.13 at 192.0.2.20", "firmware v8.18.9.13 at [ip]"),
    ],
)
def test_numbers_with_any_space_between_are_replaced_and_versions_kept(text: str, left: str) -> None:
    assert re.sub(r":\w+\]", "]", Placeholders(b"k" * 32).clean(text)) == left
