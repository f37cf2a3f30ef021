"""Secrets are taken out wherever they turn up: by where they stand, and then by their value."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icecheck.judging.evidence import finding_without_secrets
from icecheck.targets.secret_names import _HINTS, _SECRET_KEY, is_secret_header
from icecheck.targets.target import Principal, SigV4, Target
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.redaction import Redactor
from tests.kit.findings import a_finding
from tests.mock.limits.spelling import traces, written

VENDED = "vended/canary+0123456789"


def answered(body, **members):
    given = {
        "check": "c", "ordinal": 1, "step": Step.DO, "operation": "loadTable", "method": "GET",
        "url": "http://c.test/", "request_headers": (), "request_body": None, "status": 200,
        "response_headers": (), "response_body": body,
    }  # fmt: skip
    return Exchange(**given | members)


def said(redactor, body, **members):
    return redactor.exchange(answered(body, **members)).response_body.decode()


def test_a_vended_secret_is_known_by_value_afterwards():
    redactor = Redactor()
    body = json.dumps({"config": {"s3.secret-access-key": VENDED}, "note": f"use {VENDED}"})
    assert "canary" not in said(redactor, body.encode())
    assert "canary" not in redactor.text(f"got {VENDED}")
    assert "canary" not in said(redactor, f"<p>{VENDED}</p>".encode())


@pytest.mark.parametrize(
    "member",
    [
        "adls.connection-string.account",
        "adls.auth.shared-key.account.key",
        "adls.account-key",
        "adls.token",
        "client.security-token",
        "gcs.decryption-key",
        "s3.sse.key",
        "header.Authorization",
        "header.X-Api-Key",
    ],
)
def test_what_storage_clients_are_given_is_a_secret(member):
    body = json.dumps({"storage-credentials": [{"config": {member: VENDED}}]})
    assert "canary" not in said(Redactor(), body.encode())


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(st.from_regex(_SECRET_KEY, alphabet=f"{string.ascii_letters}{string.digits}.:_-"))
def test_no_body_with_a_secret_key_is_passed_over_for_want_of_a_hint(key):
    assert "canary" not in said(Redactor(), json.dumps({key: VENDED}).encode())


@pytest.mark.parametrize("hint", [each.decode() for each in _HINTS])
def test_every_hint_is_one_of_a_secret_key(hint):
    assert any(_SECRET_KEY.search(hint + rest) for rest in ("", "cookie"))


@pytest.mark.parametrize(
    "member", ["encryption-keys", "encryption.key-id", "s3.sse.type", "header.X-Client-Version"]
)
def test_what_is_no_secret_stays_readable(member):
    assert "plain words" in said(Redactor(), json.dumps({member: "plain words"}).encode())


@pytest.mark.parametrize("value", ["test", "secret", "aaaaaaaaaaaaaaaaaaaa"])
def test_a_plain_value_is_hidden_in_its_place_and_nowhere_else(value):
    redactor = Redactor()
    body = json.dumps({"config": {"client_secret": value}, "name": value})
    parsed = json.loads(said(redactor, body.encode()))
    assert parsed["config"]["client_secret"].startswith("<redacted:")
    assert parsed["name"] == value


def test_what_was_vended_long_ago_is_forgotten_but_never_what_the_user_gave():
    redactor = Redactor(["user-token-canary"])
    for number in range(200):
        body = json.dumps({"s3.session-token": f"session-{number:04d}-{VENDED}"})
        said(redactor, body.encode())
    assert "canary" not in redactor.text("user-token-canary")
    assert "canary" not in redactor.text(f"session-0199-{VENDED}")


def test_members_quoted_in_words_are_found_even_when_cut_off():
    text = '{"a": 1, "s3.secret-access-key" : "short", "adls.sas-token.x": "cut off her…'
    redacted = Redactor().text(text)
    assert "short" not in redacted
    assert "cut off" not in redacted
    assert '"a": 1' in redacted


@pytest.mark.parametrize(
    "body",
    [
        b' \n{"token": "spaced-canary-1"}',
        b'{"token": "broken-canary-1"',
        b'\xff{"token": "latin-canary-1"}',
        b"[" * 3_000 + b'"token": "deep-canary-1"',
    ],
)
def test_a_secret_member_is_found_in_any_body(body):
    redacted = Redactor().exchange(answered(body)).response_body
    assert b"canary" not in redacted


def test_bytes_that_are_no_text_are_kept():
    body = bytes(range(128, 256))
    assert Redactor().exchange(answered(body)).response_body == body


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("Authorization", True),
        ("Proxy-Authorization", True),
        ("Cookie", True),
        ("X-Api-Key", True),
        ("X-Amz-Security-Token", True),
        ("X-Iceberg-Access-Delegation", False),
        ("Content-Type", False),
        ("Idempotency-Key", False),
    ],
)
def test_a_header_is_secret_by_its_name(name, secret):
    assert is_secret_header(name) is secret


def test_everything_the_user_gave_is_secret():
    target = Target(
        "http://c.test",
        credential="me:credential-canary",
        headers={"X-Api-Key": "key-canary", "Authorization": "Basic basic-canary", "X-Mode": "m"},
    )
    redactor = Redactor(target.secrets)
    text = "me:credential-canary credential-canary key-canary basic-canary X-Mode m"
    assert "canary" not in redactor.text(text)
    assert redactor.text("X-Mode m") == "X-Mode m"


def test_a_finding_shows_no_secret_of_the_member_it_points_at():
    finding = a_finding("value", '"s3cret"', '"0ther"', pointer="/config/s3.secret-access-key")
    shown = finding_without_secrets(finding, Redactor())
    assert "s3cret" not in shown.expected
    assert "0ther" not in shown.actual
    plain = a_finding("value", '"a"', '"b"', "detail", "/config/owner")
    assert finding_without_secrets(plain, Redactor()) == plain


# what clients are told to use


@pytest.mark.parametrize(
    "body",
    [
        {"config": {"my.odd.key": VENDED}},
        {"storage-credentials": [{"prefix": "s3://b", "config": {"my.odd.key": VENDED}}]},
        {"defaults": {"my.odd.key": VENDED}, "overrides": {}},
        {"overrides": {"header.X-Odd": VENDED}},
        {"config": {"s3.signer.token": VENDED}},
        {"config": {"s3.signer.uri": f"https://h.test/sign?token={VENDED}"}},
    ],
)
def test_a_setting_under_any_name_is_a_secret(body):
    redactor = Redactor()
    assert "canary" not in said(redactor, json.dumps(body).encode())
    assert json.loads(said(redactor, json.dumps(body).encode())).keys() == body.keys()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client.region", "us-east-1"),
        ("s3.endpoint", "http://storage.test:9000"),
        ("s3.path-style-access", "true"),
        ("s3.session-token-expires-at-ms", "1767229202356"),
        ("prefix", "catalogs/main"),
        ("my.switch", "true"),
        ("rest-page-size", "100"),
    ],
)
def test_a_harmless_setting_stays_byte_for_byte(name, value):
    body = json.dumps({"config": {name: value}, "overrides": {name: value}}).encode()
    assert Redactor().exchange(answered(body)).response_body == body


def test_what_names_a_table_is_not_learned_from_its_settings():
    redactor = Redactor()
    uuid = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
    body = {"config": {"my.table.id": uuid}, "metadata": {"table-uuid": uuid}}
    parsed = json.loads(said(redactor, json.dumps(body).encode()))
    assert parsed["metadata"]["table-uuid"] == uuid


@pytest.mark.parametrize(
    "text",
    [
        "https://b.test/k?X-Amz-Credential=AKIA%2Fcanary&X-Amz-Signature=canary",
        "https://b.test/k?sv=2026&se=2026-01-01&sig=canary%3D",
        "https://b.test/k?X-Goog-Signature=canary",
        "https://me:canary@b.test/k",
        "jdbc:postgresql://b.test/db?user=me&password=canary",
        "jdbc:sqlserver://b.test;user=me;password=canary;encrypt=true",
        "https://b.test/k?access_token=canary#part",
        "sv=2026-01-01&sig=canary",
        "Bearer canary-0123456789-Abcdef",
    ],
)
def test_what_gives_access_by_itself_is_a_secret(text):
    assert "canary" not in Redactor().text(f"go to {text} now")
    assert "canary" not in said(Redactor(), json.dumps({"to": text}).encode()) or "Bearer" in text


@pytest.mark.parametrize(
    "text",
    [
        "http://b.test/v1/namespaces?pageToken=abc&pageSize=2",
        "s3://lake/t/data/id=5/day=2026-01-01/part-0.parquet",
        "jdbc:postgresql://b.test/db?user=me&ssl=true",
    ],
)
def test_what_gives_no_access_is_shown(text):
    assert Redactor().text(text) == text
    body = json.dumps({"to": text}).encode()
    assert Redactor().exchange(answered(body)).response_body == body


def test_a_container_on_azure_is_no_user():
    location = "abfss://container@account.dfs.core.windows.net/warehouse/table"
    credentials = [{"prefix": location, "config": {"adls.sas-token": "canary-0123456789"}}]
    told = said(Redactor(), json.dumps({"storage-credentials": credentials}).encode())
    assert location in told
    assert "canary" not in told
    with_password = json.dumps({"config": {"my.location": "abfss://me:canary@a.test/warehouse"}})
    assert "canary" not in said(Redactor(), with_password.encode())


# values known, in any spelling

KNOWN = "Zq7canary+R/k2=9f"


@pytest.mark.parametrize("number", range(len(list(written(KNOWN)))))
def test_a_known_value_is_found_in_every_spelling(number):
    spelled = list(written(KNOWN))[number]
    redactor = Redactor([KNOWN])
    body = {"a": f"said {spelled} to you", spelled: 1, "long": f"{'x' * 300}{spelled}"}
    shown = (
        redactor.text(f"said {spelled} to you").encode(),
        redactor.exchange(answered(json.dumps(body).encode())).response_body,
        redactor.exchange(answered(f"<p>{spelled}</p>".encode("utf-8", "replace"))).response_body,
        redactor.exchange(answered(json.dumps(body).encode("utf-16"))).response_body,
        redactor.exchange(answered(b"", error=spelled)).error.encode(),
    )
    for text in shown:
        left = text.replace(b"\0", b"")
        assert not [trace for trace in (*traces(KNOWN), spelled.encode()) if trace in left]


@pytest.mark.parametrize("end", ["\u2026", "", '"', "...", "%4\u2026", "\\u00\u2026", "&#\u2026"])
@pytest.mark.parametrize("length", [8, 11, 16])
def test_the_beginning_of_a_value_at_a_cut_is_found(length, end):
    redactor = Redactor([KNOWN])
    assert KNOWN[:8] not in redactor.text(f'got "{KNOWN[:length]}{end}')


def test_words_are_not_taken_for_beginnings_of_a_value():
    redactor = Redactor(["icecheck-token-0123456789"])
    assert redactor.text("made by icecheck") == "made by icecheck"


def test_a_header_that_the_user_gave_is_hidden_whatever_its_name():
    target = Target("http://c.test", headers={"X-Odd": KNOWN, "X-Mode": "vended-credentials"})
    redactor = Redactor(target.secrets, target.headers)
    sent = (("X-Odd", KNOWN), ("X-Mode", "vended-credentials"), ("X-Other", "vended-credentials"))
    shown = dict(redactor.exchange(answered(b"", request_headers=sent)).request_headers)
    assert shown["X-Odd"].startswith("<redacted:")
    assert shown["X-Mode"].startswith("<redacted:")
    assert shown["X-Other"] == "vended-credentials"
    assert redactor.text("true vended-credentials 1") == "true vended-credentials 1"
    assert "canary" not in redactor.text(f"use {KNOWN}")


def test_nothing_that_is_shown_of_a_target_holds_a_secret():
    target = Target(
        "http://c.test",
        credential="me:credential-canary",
        headers={"X-Odd": "header-canary"},
        second=Principal("second-canary"),
        sigv4=SigV4("r", "s", "id-canary", "key-canary", "session-canary"),
    )
    assert "canary" not in repr(target)


def test_a_secret_is_hidden_in_a_megabyte_of_what_secrets_are_told_by():
    redactor = Redactor([KNOWN])
    for piece in ("%", "\\", "&", "?", "=", KNOWN[:8], f"{KNOWN} ", "a/b", '"', "eyJ", "Bearer "):
        body = (piece * 200_000)[:1_000_000]
        assert KNOWN not in redactor.text(body)
        assert KNOWN not in said(redactor, body.encode())


def test_a_location_that_is_made_beside_a_secret_does_not_tell_its_beginning() -> None:
    secret = "qQfVncam0z51RY+/8sWx=="
    redactor = Redactor([secret])
    told = "".join(f"{character}\\u0000" for character in secret[:16])
    sent = json.dumps({"location": f"s3://b/{secret} {told}icecheck_r1_elsewhere"}).encode()
    exchange = Exchange("c", 1, Step.DO, "createView", "POST", "http://h", (), sent)
    assert b"q\\\\u0000Q\\\\u0000f" not in (redactor.exchange(exchange).request_body or b"")


def test_a_secret_in_a_member_that_stands_there_twice_is_hidden() -> None:
    body = b'{"config": {"s3.secret-access-key": "hush-hush-42"}, "config": {}}'
    shown = Redactor().exchange(answered(body))
    assert b"hush" not in shown.response_body


@pytest.mark.parametrize("odd", [b"NaN", b"1e999", b'{"b": 1, "b": 1}'])
def test_a_redacted_answer_is_judged_as_the_text_that_came(odd: bytes) -> None:
    body = b'{"config": {"s3.secret-access-key": "hush-hush-42"}, "a": %b}' % odd
    received = answered(body)
    shown = Redactor().exchange(Redactor().exchange(received))
    assert b"hush" not in shown.response_body
    assert shown.text_flaws == received.text_flaws != ()
