"""Token → Caller. The ids in the names are those of the abuse list."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tallystick.doors.identity import Identity, is_local, is_loopback_host
from tallystick.doors.identity.keys import SAMPLE_SECRETS
from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.session import Caller
from tallystick.settings import AuthSettings
from tests.doors.tokens import NOW, SECRET, b64, raw_token, signed_by, token

RSA_KEY = RSAKey.generate_key(2048)
EC_KEY = ECKey.generate_key("P-256")
SHORT_RSA = (
    rsa.generate_private_key(65537, 1024)
    .public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
)
ED_KEY = OKPKey.generate_key("Ed25519")


def identity(**auth: Any) -> Identity:
    settings: dict[str, Any] = {"enabled": True, "jwt_secret": SECRET} | auth
    return Identity(AuthSettings(**settings), clock=lambda: NOW)


def with_key_file(tmp_path: Path, text: str | bytes, mode: int = 0o644, **auth: Any) -> Identity:
    path = tmp_path / "issuer.key"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    settings = AuthSettings(enabled=True, jwt_public_key_file="issuer.key", **auth)
    return Identity(settings, folder=tmp_path, clock=lambda: NOW)


def reason(who: Identity, bearer: str | None) -> str:
    """Why a token is refused; it must be, with 401."""
    found = who.authenticate(None if bearer is None else f"Bearer {bearer}", loopback=True)
    assert isinstance(found, Rejection), "a token was taken that must not be"
    assert found.fault is NO_TOKEN
    assert found.fault.http == 401
    return found.reason


def caller(who: Identity, bearer: str) -> Caller:
    found = who.authenticate(f"Bearer {bearer}", loopback=False)
    assert isinstance(found, Caller), found
    return found


@pytest.mark.promise("doors.local-owner")
def test_without_auth_a_loopback_caller_is_the_local_owner_and_nobody_else_is_anyone() -> None:
    open_house = Identity(AuthSettings())
    owner = open_house.authenticate(None, loopback=True)
    assert owner == Caller(subject="local", roles=frozenset({"owner"}), channel="http")
    stranger = open_house.authenticate(f"Bearer {token()}", loopback=False)
    assert isinstance(stranger, Rejection)
    assert stranger.fault is NO_TOKEN


@pytest.mark.promise("doors.auth-everywhere")
@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic YTpi", "Token abc", "bearer", f"Bearer  {token()}"])
def test_with_auth_no_bearer_token_is_401_on_loopback_too(header: str | None) -> None:
    found = identity().authenticate(header, loopback=True)
    assert isinstance(found, Rejection)
    assert found.fault.http == 401


@pytest.mark.promise("doors.token-caller")
def test_a_good_token_gives_subject_and_roles() -> None:
    assert caller(identity(), token()) == Caller(subject="ada", roles=frozenset({"analyst"}), channel="http")
    found = identity().authenticate(f"bearer {token()}", loopback=False, channel="mcp")
    assert isinstance(found, Caller)
    assert found.channel == "mcp"


@pytest.mark.promise("doors.token-caller")
@pytest.mark.parametrize(
    ("claims", "roles"),
    [
        ({"roles": ["analyst", "viewer"]}, {"analyst", "viewer"}),
        ({"roles": None, "role": "admin"}, {"admin"}),
        ({"roles": ["viewer"], "role": "admin"}, {"viewer", "admin"}),
        ({"roles": None}, set()),
        ({"roles": []}, set()),
    ],
)
def test_roles_come_as_a_list_or_as_one_word(claims: dict[str, Any], roles: set[str]) -> None:
    assert caller(identity(), token(**claims)).roles == roles


@pytest.mark.promise("doors.owner-never-by-token")
def test_a_token_can_neither_make_its_bearer_owner_nor_call_itself_local() -> None:
    assert caller(identity(), token(roles=["owner", "viewer"])).roles == {"viewer"}
    assert caller(identity(), token(roles=None, role="owner")).roles == set()
    assert reason(identity(), token(sub="local")) == "token_subject_refused"


def test_a_token_without_subject_is_anonymous_with_its_roles() -> None:
    assert caller(identity(), token(sub=None)) == Caller(
        subject="anonymous", roles=frozenset({"analyst"}), channel="http"
    )


@pytest.mark.parametrize(
    "claims",
    [{"roles": "admin"}, {"roles": [1]}, {"roles": {"admin": True}}, {"role": ["admin"]}, {"sub": 7}, {"aud": 7}],
)
def test_claims_of_the_wrong_shape_are_refused(claims: dict[str, Any]) -> None:
    assert reason(identity(), token(**claims)) == "token_claims_malformed"


@pytest.mark.parametrize("subject", ["", "a\nb", "x" * 257, "\x7f"])
def test_a_subject_that_cannot_stand_in_a_receipt_is_refused(subject: str) -> None:
    assert reason(identity(), token(sub=subject)) == "token_subject_refused"


@pytest.mark.promise("doors.token-algorithm")
@pytest.mark.parametrize("alg", ["none", "None", "nOnE", "NONE", "", None, ["none"]])
def test_h01_an_unsigned_token_is_refused(alg: Any) -> None:
    claims = {"sub": "ada", "exp": NOW + 600, "roles": ["admin"]}
    signed = raw_token({"alg": alg}, claims)
    unsigned = signed[: signed.rindex(".") + 1]
    assert reason(identity(), unsigned)
    assert reason(identity(), signed) == "token_algorithm_refused"
    assert reason(identity(), raw_token({"typ": "JWT"}, claims)) == "token_algorithm_refused"


@pytest.mark.promise("doors.token-algorithm")
def test_h02_a_token_signed_with_the_public_key_as_a_secret_is_refused(tmp_path: Path) -> None:
    for key in (RSA_KEY, EC_KEY):
        pem = key.as_pem(private=False)
        who = with_key_file(tmp_path, pem)
        claims = {"sub": "ada", "exp": NOW + 600}
        for secret in (pem, pem.strip(), pem.replace(b"\n", b"")):
            assert reason(who, raw_token({"alg": "HS256"}, claims, secret=secret)) == "token_algorithm_refused"


@pytest.mark.promise("doors.token-algorithm")
def test_h02_a_public_key_is_never_taken_for_a_secret() -> None:
    with pytest.raises(ConfigError) as error:
        identity(jwt_secret=RSA_KEY.as_pem(private=False).decode())
    assert error.value.code == "auth_bad_key"


@pytest.mark.promise("doors.token-algorithm")
@pytest.mark.parametrize(
    ("key", "algorithm"), [(RSA_KEY, "RS256"), (EC_KEY, "ES256"), (ED_KEY, "Ed25519")], ids=["RSA", "EC", "Ed25519"]
)
def test_each_kind_of_key_stands_for_one_algorithm(tmp_path: Path, key: Any, algorithm: str) -> None:
    who = with_key_file(tmp_path, key.as_pem(private=False))
    assert caller(who, signed_by(key, algorithm)).subject == "ada"
    others = {"RS256": "PS256", "ES256": "ES256", "Ed25519": "Ed25519"}
    stranger = {"RS256": RSA_KEY, "ES256": ECKey.generate_key("P-256"), "Ed25519": OKPKey.generate_key("Ed25519")}
    assert reason(who, signed_by(stranger[algorithm], others[algorithm]))


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every attempt to reach out, none of which gets anywhere."""
    attempts: list[Any] = []

    def attempt(*args: Any, **_: Any) -> None:
        attempts.append(args)
        raise OSError("no network here")

    monkeypatch.setattr(socket, "getaddrinfo", attempt)
    monkeypatch.setattr(socket.socket, "connect", attempt)
    monkeypatch.setattr(socket.socket, "connect_ex", attempt)
    return attempts


@pytest.mark.promise("doors.token-no-fetch")
@pytest.mark.parametrize("brought", ["jku", "x5u", "jwk", "x5c"])
def test_h04_a_token_that_brings_its_own_key_is_refused_and_nothing_is_fetched(
    tmp_path: Path, network: list[Any], brought: str
) -> None:
    attacker = RSAKey.generate_key(2048)
    values = {
        "jku": "https://attacker.example/jwks.json",
        "x5u": "https://attacker.example/cert.pem",
        "jwk": attacker.as_dict(private=False),
        "x5c": ["MIIB"],
    }
    who = with_key_file(tmp_path, RSA_KEY.as_pem(private=False))
    assert reason(who, signed_by(attacker, "RS256", **{brought: values[brought]})) == "token_header_refused"
    assert reason(who, signed_by(RSA_KEY, "RS256", **{brought: values[brought]})) == "token_header_refused"
    assert reason(who, signed_by(attacker, "RS256")) == "token_signature_wrong"
    assert network == []


@pytest.mark.promise("doors.token-times")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"exp": None}, "token_claims_malformed"),
        ({"exp": NOW - 31}, "token_expired"),
        ({"exp": NOW - 30}, "token_expired"),
        ({"exp": "never"}, "token_claims_malformed"),
        ({"exp": True}, "token_claims_malformed"),
        ({"exp": str(NOW + 600)}, "token_claims_malformed"),
        ({"nbf": NOW + 31}, "token_not_yet_valid"),
        ({"nbf": "now"}, "token_claims_malformed"),
        ({"iat": NOW + 3600}, "token_not_yet_valid"),
        ({"aud": "others"}, "token_audience_wrong"),
        ({"aud": ["others"]}, "token_audience_wrong"),
        ({"aud": None}, "token_audience_wrong"),
        ({"iss": "https://others.example"}, "token_issuer_wrong"),
        ({"iss": None}, "token_issuer_wrong"),
        ({"iss": ["https://issuer.example"]}, "token_issuer_wrong"),
    ],
)
def test_h05_times_audience_and_issuer_must_hold(changes: dict[str, Any], expected: str) -> None:
    who = identity(audience="tally", issuer="https://issuer.example")
    good = {"aud": ["x", "tally"], "iss": "https://issuer.example", "nbf": NOW + 30, "iat": NOW + 30, "exp": NOW - 29}
    assert caller(who, token(**good)).subject == "ada"
    assert reason(who, token(**(good | changes))) == expected


@pytest.mark.promise("doors.token-times")
@pytest.mark.parametrize("exp", [b"NaN", b"Infinity", b"1e999", b"-1", b"null"])
def test_h05_an_expiry_that_is_no_time_is_refused(exp: bytes) -> None:
    claims = b'{"sub":"ada","exp":' + exp + b"}"
    assert reason(identity(), raw_token({"alg": "HS256"}, claims)) in {"token_claims_malformed", "token_expired"}


@pytest.mark.promise("doors.token-times")
def test_a_remembered_token_still_expires() -> None:
    now = [NOW]
    who = Identity(AuthSettings(enabled=True, jwt_secret=SECRET), clock=lambda: now[0])  # type: ignore[arg-type]
    bearer = token()
    assert caller(who, bearer).subject == "ada"
    now[0] = NOW + 631
    assert reason(who, bearer) == "token_expired"


def test_a_token_made_out_to_others_is_refused_when_we_have_no_name_to_look_for() -> None:
    assert reason(identity(), token(aud="others")) == "token_audience_wrong"


def test_a_name_that_comes_twice_in_the_claims_is_refused() -> None:
    claims = b'{"sub":"ada","exp":1,"exp":' + str(NOW + 600).encode() + b"}"
    assert reason(identity(), raw_token({"alg": "HS256"}, claims)) == "token_claims_malformed"


@pytest.mark.promise("doors.token-form")
@pytest.mark.parametrize("part", [0, 1, 2])
def test_h06_padded_base64_is_refused(part: int) -> None:
    for pad in ("=", "==", "%3D"):
        parts = token().split(".")
        parts[part] += pad
        assert reason(identity(), ".".join(parts)) == "token_malformed"


@pytest.mark.promise("doors.token-key-use")
def test_h03_a_token_that_names_a_key_was_not_made_for_the_shared_secret() -> None:
    claims = {"sub": "ada", "exp": NOW + 600, "roles": ["viewer"]}
    assert caller(identity(), raw_token({"alg": "HS256"}, claims)).subject == "ada"
    for kid in ("", "another", "../../dev/null"):
        assert reason(identity(), raw_token({"alg": "HS256", "kid": kid}, claims)) == "token_key_unknown"


@pytest.mark.promise("doors.token-key-use")
@pytest.mark.parametrize("marks", [{"use": "enc"}, {"key_ops": ["encrypt"]}, {"key_ops": ["sign"]}, {"key_ops": []}])
def test_h07_a_key_that_is_not_for_verifying_verifies_nothing(tmp_path: Path, marks: dict[str, Any]) -> None:
    marked = EC_KEY.as_dict(private=False, kid="marked", **marks)
    with pytest.raises(ConfigError) as error:
        with_key_file(tmp_path, json.dumps(marked))
    assert error.value.code == "auth_bad_key"
    beside = with_key_file(tmp_path, json.dumps({"keys": [RSA_KEY.as_dict(private=False, kid="good"), marked]}))
    assert reason(beside, signed_by(EC_KEY, "ES256", kid="marked")) == "token_key_unknown"
    assert caller(beside, signed_by(RSA_KEY, "RS256", kid="good")).subject == "ada"


@pytest.mark.promise("doors.token-form")
@pytest.mark.parametrize("crit", [["exp"], ["b64"], ["unheard-of"], [], "exp", None])
def test_h08_a_critical_extension_is_refused_since_we_know_none(crit: Any) -> None:
    claims = {"sub": "ada", "exp": NOW + 600}
    header = {"alg": "HS256", "crit": crit, "unheard-of": True}
    assert reason(identity(), raw_token(header, claims)) == "token_header_refused"


@pytest.mark.parametrize("typ", ["logout+jwt", "secevent+jwt", "dpop+jwt", 7])
def test_a_token_of_another_type_is_refused(typ: Any) -> None:
    claims = {"sub": "ada", "exp": NOW + 600}
    assert reason(identity(), raw_token({"alg": "HS256", "typ": typ}, claims)) == "token_algorithm_refused"


@pytest.mark.promise("doors.secret-strength")
@pytest.mark.parametrize("secret", ["short", "x" * 31, "ä" * 15])
def test_h11_a_short_secret_stops_the_server_outside_development(secret: str) -> None:
    with pytest.raises(ConfigError) as error:
        identity(jwt_secret=secret)
    assert error.value.code == "auth_short_secret"
    claims = {"sub": "dev", "exp": NOW + 600}
    developing = identity(jwt_secret=secret, development=True)
    assert caller(developing, raw_token({"alg": "HS256"}, claims, secret=secret.encode())).subject == "dev"


@pytest.mark.promise("doors.secret-strength")
@pytest.mark.parametrize("secret", sorted(SAMPLE_SECRETS))
def test_h11_a_sample_secret_stops_the_server_outside_development(secret: str) -> None:
    with pytest.raises(ConfigError) as error:
        identity(jwt_secret=secret)
    assert error.value.code == "auth_sample_secret"
    assert identity(jwt_secret=secret, development=True).enabled


@pytest.mark.promise("doors.key-files")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "auth_bad_key"),
        ("not a key", "auth_bad_key"),
        ("{", "auth_bad_key"),
        ("{}", "auth_bad_key"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "auth_bad_key"),
        (b"\xff\xfe\x00", "auth_key_unreadable"),
        (RSA_KEY.as_pem(private=True), "auth_bad_key"),
        (ECKey.generate_key("P-384").as_pem(private=False), "auth_bad_key"),
        (SHORT_RSA, "auth_bad_key"),
    ],
    ids=["empty", "text", "open", "no-kty", "broken-pem", "bytes", "private", "p384", "rsa1024"],
)
def test_a_key_file_that_cannot_be_used_stops_the_server(tmp_path: Path, text: str | bytes, code: str) -> None:
    with pytest.raises(ConfigError) as error:
        with_key_file(tmp_path, text)
    assert error.value.code == code


@pytest.mark.promise("doors.key-files")
def test_a_missing_key_file_no_key_and_two_keys_stop_the_server(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as missing:
        Identity(AuthSettings(enabled=True, jwt_public_key_file="nowhere.pem"), folder=tmp_path)
    assert missing.value.code == "auth_key_unreadable"
    with pytest.raises(ConfigError) as none:
        Identity(AuthSettings(enabled=True))
    assert none.value.code == "auth_no_key"
    with pytest.raises(ConfigError) as two:
        identity(jwt_public_key_file="issuer.pem")
    assert two.value.code == "auth_two_keys"


@pytest.mark.promise("doors.key-files")
def test_a_secret_in_a_file_that_others_may_read_stops_the_server(tmp_path: Path) -> None:
    jwk = '{"kty":"oct","k":"' + b64(SECRET.encode()) + '"}'
    with pytest.raises(ConfigError) as error:
        with_key_file(tmp_path, jwk, mode=0o644)
    assert error.value.code == "key_exposed"
    assert caller(with_key_file(tmp_path, jwk, mode=0o600), token()).subject == "ada"


@pytest.mark.promise("doors.token-form")
@given(st.text(max_size=200))
def test_no_header_whatever_crashes_or_is_taken(header: str) -> None:
    assert isinstance(IDENTITY.authenticate(header, loopback=True), Rejection)
    assert isinstance(IDENTITY.authenticate("Bearer " + header, loopback=True), Rejection)


@pytest.mark.promise("doors.token-form")
@given(st.data())
def test_a_good_token_changed_in_one_place_is_refused(data: st.DataObject) -> None:
    good = token()
    place = data.draw(st.integers(0, len(good) - 1))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. \n\x00é"
    letter = data.draw(st.sampled_from([each for each in letters if each != good[place]]))
    assert reason(IDENTITY, good[:place] + letter + good[place + 1 :])


@pytest.mark.promise("doors.token-form")
@given(st.dictionaries(st.sampled_from(["alg", "typ", "kid", "crit", "jwk", "b64", "x"]), st.none() | st.text() | st.integers() | st.lists(st.text()) | st.sampled_from(["HS256", "none"])), st.binary() | st.dictionaries(st.sampled_from(["sub", "exp", "nbf", "aud", "roles", "role"]), st.none() | st.text() | st.floats() | st.integers() | st.lists(st.text())))  # fmt: skip
def test_whatever_is_signed_gives_a_caller_or_a_reason(header: Any, claims: Any) -> None:
    found = IDENTITY.authenticate(f"Bearer {raw_token(header, claims)}", loopback=True)
    assert isinstance(found, Caller | Rejection)
    assert isinstance(found, Rejection) or "owner" not in found.roles


IDENTITY = identity()


@pytest.mark.promise("doors.loopback")
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_names_and_addresses_are_this_machine(host: str) -> None:
    assert is_loopback_host(host)


@pytest.mark.promise("doors.loopback")
@pytest.mark.parametrize(
    "host",
    ["", "0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "0x7f.0.0.1",
     "2130706433", "127.0.0.1 ", "localhost.", "evil.localhost.example", "::ffff:10.0.0.1"],
)  # fmt: skip
def test_nothing_else_is_this_machine(host: str) -> None:
    assert not is_loopback_host(host)


def _scope(client: str | None, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"client": None if client is None else (client, 40000), "headers": list(headers)}


@pytest.mark.promise("doors.loopback")
def test_a_request_is_local_only_if_it_comes_from_here_names_us_and_was_not_passed_on() -> None:
    ours = (b"host", b"127.0.0.1:8787")
    assert is_local(_scope("127.0.0.1", ours))
    assert is_local(_scope("::1", (b"host", b"[::1]:8787")))
    assert not is_local(_scope("10.0.0.7", ours))
    assert not is_local(_scope(None, ours))
    assert not is_local(_scope("127.0.0.1"))
    assert not is_local(_scope("127.0.0.1", ours, ours))
    assert not is_local(_scope("127.0.0.1", (b"host", b"tally.example")))
    for mark in (b"x-forwarded-for", b"forwarded", b"x-real-ip", b"x-forwarded-host"):
        assert not is_local(_scope("127.0.0.1", ours, (mark, b"127.0.0.1")))
