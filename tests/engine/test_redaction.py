"""Secrets are taken out wherever they turn up: by where they stand, and then by their value."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icecheck.evidence import finding_without_secrets
from icecheck.exchange import Exchange, Step
from icecheck.redaction import Redactor
from icecheck.secret_names import _HINTS, _SECRET_KEY, is_secret_header
from icecheck.target import Target
from icecheck.verdict import Finding

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
    finding = Finding("value", '"s3cret"', '"0ther"', pointer="/config/s3.secret-access-key")
    shown = finding_without_secrets(finding, Redactor())
    assert "s3cret" not in shown.expected
    assert "0ther" not in shown.actual
    plain = Finding("value", '"a"', '"b"', "detail", "/config/owner")
    assert finding_without_secrets(plain, Redactor()) == plain
