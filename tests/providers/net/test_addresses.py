"""Which URLs may be configured, and which IP addresses may be connected to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.http_port import HttpAddress, HttpFailure, parse_address
from tallystick.providers.net.addresses import checked, is_public, resolve


@pytest.mark.promise("desk.web-bounds")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "::8.8.8.8",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::7f00:1",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "fec0::1",
        "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001::1",
        "2001:db8::1",
        "not an address",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.promise("desk.web-bounds")
@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "2002:808:808::"]
)
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(address)


@pytest.mark.promise("desk.web-bounds")
@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "::127.0.0.1"])
def test_another_spelling_of_a_private_address_is_refused(host: str) -> None:
    address = HttpAddress(secure=True, host=host, port=443, target="/")
    assert checked(address, resolve(address)) == HttpFailure(code="address_private")


@pytest.mark.promise("desk.web-bounds")
def test_one_private_address_among_public_ones_is_refused() -> None:
    address = HttpAddress(secure=True, host="example.org", port=443, target="/")
    found = [(2, 1, 6, "", (each, 443)) for each in ("93.184.216.34", "10.0.0.1")]
    assert checked(address, found) == HttpFailure(code="address_private")
    assert checked(address, found[:1]) == ["93.184.216.34"]
    assert checked(address, []) == HttpFailure(code="name_unknown")


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("https://example.org/x?y=z", True),
        ("http://localhost/x", True),
        ("http://[::1]:8080/", True),
        ("http://example.org/", False),
        ("http://127.0.0.1.example.org/", False),
        ("ftp://example.org/", False),
        ("https:///x", False),
        ("https://example.org:99999/", False),
        ("https://[x/", False),
        ("https://example.org/x y", False),
        ("https://example.org/x\r\nX: y", False),
        ("https://exämple.org/", False),
        ("relative/path", False),
        ("", False),
    ],
)
def test_a_url_is_https_or_leads_to_this_machine(text: str, *, allowed: bool) -> None:
    assert (parse_address(text, private=True) is not None) is allowed


def test_unencrypted_http_must_be_allowed() -> None:
    assert parse_address("http://10.0.0.1/", private=True) is None
    address = parse_address("http://10.0.0.1/", private=True, unencrypted=True)
    assert address is not None
    assert address.private
    assert not address.secure


def test_a_query_is_replaced_as_a_whole() -> None:
    address = parse_address("https://example.org/search?old=1", private=False)
    assert address is not None
    assert address.with_query("q=new").target == "/search?q=new"


@pytest.mark.promise("record.witness-secrets")
@given(st.text(max_size=60))
def test_any_text_is_an_address_or_none_and_shows_no_secret(text: str) -> None:
    for prefix in ("https://", "http://", "http://127.0.0.1", "https://u:s3cr3t@h/s3cr3t?", ""):
        address = parse_address(prefix + text, private=False)
        assert address is None or address.secure or address.private
        assert "s3cr3t" not in (repr(address) if prefix.startswith("https://u:") else "")
