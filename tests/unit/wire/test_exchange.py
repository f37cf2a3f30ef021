"""Exchanges: redaction in one place, and curl lines that reproduce a request."""

import json
import shlex
import subprocess

import pytest

from icecheck.wire.exchange import Exchange, Step, as_curl
from icecheck.wire.redaction import Redactor
from tests.kit.serving import serving


def exchange(**members):
    given = {
        "check": "a.check",
        "ordinal": 1,
        "step": Step.DO,
        "operation": "createTable",
        "method": "POST",
        "url": "http://127.0.0.1:1/v1/namespaces",
        "request_headers": (("Authorization", "Bearer s3cret-token"),),
        "request_body": b"{}",
        "status": 200,
        "response_headers": (("content-type", "application/json"),),
        "response_body": b"{}",
    }
    return Exchange(**{**given, **members})


def test_a_token_never_survives_redaction_wherever_it_turns_up():
    leaky = exchange(
        url="http://h/v1/x?token=s3cret-token",
        response_body=b'{"message": "bad token s3cret-token"}',
        response_headers=(("x-echo", "s3cret-token"), ("set-cookie", "session=abcdef")),
        error="refused s3cret-token",
    )
    redacted = Redactor(["s3cret-token"]).exchange(leaky)
    assert "s3cret-token" not in repr(redacted)
    assert "abcdef" not in repr(redacted)


@pytest.mark.parametrize(
    "key",
    [
        "s3.secret-access-key",
        "s3.session-token",
        "s3.access-key-id",
        "adls.sas-token.account",
        "gcs.oauth2.token",
        "token",
        "access_token",
        "urn:ietf:params:oauth:token-type:jwt",
    ],
)
def test_vended_credentials_are_redacted_by_the_member_that_holds_them(key):
    body = json.dumps({"config": {key: "canary-value", "region": "eu"}}).encode()
    redacted = Redactor().exchange(exchange(response_body=body))
    assert b"canary-value" not in redacted.response_body
    assert json.loads(redacted.response_body)["config"]["region"] == "eu"


@pytest.mark.parametrize("key", ["next-page-token", "pageToken", "s3.session-token-expires-at-ms"])
def test_what_only_sounds_secret_is_kept(key):
    body = json.dumps({key: "1234567890"}).encode()
    assert Redactor().exchange(exchange(response_body=body)).response_body == body


def test_equal_secrets_stay_equal_and_json_types_stay():
    body = json.dumps({"a": {"token": "xxxxx"}, "b": {"token": "xxxxx"}, "n": 1}).encode()
    parsed = json.loads(Redactor().exchange(exchange(response_body=body)).response_body)
    assert parsed["a"]["token"] == parsed["b"]["token"] != "xxxxx"
    assert parsed["n"] == 1


def test_redacting_twice_changes_nothing_more():
    redactor = Redactor(["s3cret-token"])
    once = redactor.exchange(exchange(response_body=b'{"token": "abcdefgh"}'))
    assert redactor.exchange(once) == once


def test_a_body_without_secrets_stays_byte_for_byte():
    body = b'{"a" :  1.50, "b": [  ]}'
    assert Redactor().exchange(exchange(response_body=body)).response_body == body


def test_a_form_with_a_client_secret_is_redacted():
    form = b"grant_type=client_credentials&client_id=me&client_secret=hush-hush"
    redacted = Redactor().exchange(exchange(request_body=form))
    assert b"hush-hush" not in redacted.request_body
    assert b"client_id=me" in redacted.request_body


@pytest.mark.parametrize(
    "body", [b'{"it\'s": "$HOME `x`"}', b"\xff\xfe\x00raw", b'{"n": "\\u0000"}']
)
def test_the_curl_line_sends_the_same_bytes_to_the_same_path(body):
    seen = []
    with serving(lambda request: seen.append(request) or (200, {}, b"")) as base:
        url = f"{base}/v1/a%1Fb/%2E%2E/it's?x=[1]"
        sent = exchange(url=url, request_body=body)
        line = as_curl(Redactor(["s3cret-token"]).exchange(sent))
        subprocess.run(
            ["sh", "-c", line],
            check=True,
            env={"ICECHECK_TOKEN": "tok", "PATH": "/usr/bin:/bin"},
            capture_output=True,
        )
    found = [(each.path, each.headers["authorization"], each.body) for each in seen]
    assert found == [("/v1/a%1Fb/%2E%2E/it's?x=[1]", "Bearer tok", body)]


def test_a_token_that_a_check_made_up_stays_readable():
    made_up = exchange(request_headers=(("Authorization", "Bearer not-a-token"),))
    redacted = Redactor(["s3cret-token"]).exchange(made_up)
    assert "Bearer not-a-token" in as_curl(redacted)


def test_the_curl_line_never_holds_the_token():
    line = as_curl(Redactor(["s3cret-token"]).exchange(exchange()))
    assert "s3cret-token" not in line
    assert '"Authorization: Bearer $ICECHECK_TOKEN"' in line
    assert shlex.split(line)[0] == "curl"
