"""What one exchange shows in a secret place is known by its value from then on."""

import base64
import json

import pytest

from icecheck.targets.secret_marks import without_marks
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.redaction import Redactor
from icecheck.wire.secret_values import Seen
from tests.mock.limits.spelling import traces, written

SECRET = "Zq7canary+R/k2=9fW1x"
SIGNED = f"https://b.test/k?X-Amz-Date=20260101&X-Amz-Signature={SECRET.replace('+', '%2B')}"


def answered(body, **members):
    given = {
        "check": "c", "ordinal": 1, "step": Step.DO, "operation": "loadTable", "method": "GET",
        "url": "http://c.test/", "request_headers": (), "request_body": None, "status": 200,
        "response_headers": (), "response_body": body,
    }  # fmt: skip
    return Exchange(**given | members)


def knowing(*exchanges):
    """A redactor that has seen these exchanges."""
    redactor = Redactor()
    for each in exchanges:
        redactor.exchange(each)
    return redactor


def told(body):
    return answered(json.dumps(body).encode())


def hidden_everywhere(redactor, secret=SECRET):
    """Whether a later text with the secret, in any spelling, tells nothing of it."""
    said = [redactor.text(f"later {spelled} was said") for spelled in written(secret)]
    return not [text for text in said if any(t in text.encode() for t in traces(secret))]


@pytest.mark.parametrize(
    "seen",
    [
        answered(f"<p>go to {SIGNED} now</p>".encode()),
        told({"anything": [SIGNED]}),
        answered(b"", response_headers=(("Location", SIGNED),)),
        answered(b"", response_headers=(("Link", f"<{SIGNED}>; rel=next"),)),
        answered(b"", error=f"refused to go to {SIGNED}"),
        told({"config": {"s3.signer.uri": SIGNED}}),
        told({"sas": f"sv=2026&sig={SECRET.replace('+', '%2B')}"}),
    ],
)
def test_the_signature_of_a_url_is_known_wherever_it_was_seen(seen):
    assert hidden_everywhere(knowing(seen))


def test_the_key_and_the_session_of_a_signed_url_are_known_too():
    key, session = "AKIAzq7canary9fW1x", "session+canary/0123456789"
    query = f"X-Amz-Credential={key}%2F20260101%2Fr%2Fs3%2Faws4_request&X-Amz-Security-Token="
    redactor = knowing(told({"to": f"https://b.test/k?{query}{session}&X-Amz-Signature=ab"}))
    assert hidden_everywhere(redactor, key)
    assert hidden_everywhere(redactor, session)
    assert redactor.text("20260101/r/s3/aws4_request") == "20260101/r/s3/aws4_request"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("s3.signer.endpoint", f"v1/sign?token={SECRET.replace('+', '%2B')}"),
        ("s3.signer.uri", f"https://me:{SECRET.replace('/', '%2F')}@b.test/sign"),
        ("odd.basic", f"me:{SECRET}"),
        ("odd.account", json.dumps({"type": "service", "key": SECRET})),
    ],
)
def test_what_a_setting_is_made_of_is_known(name, value):
    assert hidden_everywhere(knowing(told({"config": {name: value}})))


def test_a_part_of_a_setting_is_known_as_it_was_spelled_there():
    half = SECRET.replace("+", "%2B")
    redactor = knowing(told({"config": {"s3.signer.endpoint": f"v1/sign?token={half}"}}))
    code = base64.b64encode(half.encode()).decode()
    assert code[4:16] not in redactor.text(f"told {code}")


def test_a_key_is_known_also_where_a_table_is_named_like_it():
    body = {"metadata": {"table-uuid": SECRET}, "config": {"gcs.oauth2.token": SECRET}}
    assert hidden_everywhere(knowing(told(body)))


@pytest.mark.parametrize("name", ["X-Auth-Token", "Authorization-Info", "Set-Cookie"])
def test_what_a_secret_header_of_an_answer_holds_is_known(name):
    value = f"session={SECRET.replace('=', '')}" if name == "Set-Cookie" else SECRET
    redactor = knowing(answered(b"", response_headers=((name, value),)))
    assert hidden_everywhere(redactor, value.rpartition("session=")[2])


def test_a_new_cookie_in_every_answer_makes_no_key_forgotten():
    cookies = [(("Set-Cookie", f"s=new-Cookie-{number:05d}-x"),) for number in range(300)]
    every = [answered(b"", response_headers=each) for each in cookies]
    assert hidden_everywhere(knowing(told({"config": {"s3.session-token": SECRET}}), *every))


def test_what_all_clients_are_told_outlasts_what_tables_are_given():
    redactor = Redactor()
    body = json.dumps({"overrides": {"s3.session-token": SECRET}}).encode()
    redactor.learn(body, Seen.IN_CONFIG)
    for number in range(300):
        redactor.exchange(told({"config": {"s3.session-token": f"new-Session-{number:05d}-x"}}))
    assert hidden_everywhere(redactor)


def test_a_made_up_token_that_an_answer_repeats_stays_readable():
    sent = (("Authorization", f"Bearer {SECRET}"),)
    echoed = (("X-Upstream-Authorization", f"Bearer {SECRET}"),)
    redactor = knowing(answered(b"", request_headers=sent, response_headers=echoed))
    assert redactor.exchange(answered(b"", request_headers=sent)).request_headers == sent


@pytest.mark.parametrize(
    "told_so",
    [
        "sv%253D2026%2526sig%253D{}",
        "https%253A%252F%252Fb.test%252Fk%253FSignature%253D{}",
    ],
)
def test_a_signed_query_that_is_encoded_twice_is_hidden(told_so):
    assert "canary" not in Redactor().text(f"go to {told_so.format('canary-0123456789')} now")


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_signed_url_that_is_only_shown_in_base64_is_hidden(encode):
    code = encode(SIGNED.encode()).decode()
    assert without_marks(Redactor().text(f"go to {code} now")) == "go to <redacted> now"
    assert code not in Redactor().exchange(told({"to": code})).response_body.decode()
    plain = encode(b"https://b.test/a/location/that/gives/no/access").decode()
    assert Redactor().text(f"go to {plain} now") == f"go to {plain} now"


def test_a_signed_url_that_is_only_shown_in_hex_is_hidden():
    code = SIGNED.encode().hex()
    assert without_marks(Redactor().text(f"go to {code} now")) == "go to <redacted> now"


def test_an_exchange_that_was_redacted_is_not_changed_by_redacting_it_again():
    body = {
        "config": {"s3.signer.uri": SIGNED, "s3.signer.endpoint": f"v1/sign?token={SECRET}"},
        "to": SIGNED,
    }
    redactor = Redactor()
    once = redactor.exchange(told(body))
    assert redactor.exchange(once) == once
