"""What the libraries below a connection log is redacted while the connection is open."""

import gc
import logging

import pytest

from icecheck.targets.target import Target
from icecheck.wire.connection import Connection
from icecheck.wire.pool import hide_in_logs
from icecheck.wire.redaction import Redactor
from tests.kit.contracts import CONTRACT

TOKEN = "Zq7canary-0123456789"


@pytest.fixture
def logs(caplog):
    caplog.set_level(logging.DEBUG)
    return caplog


def test_known_secrets_and_all_headers_of_answers_are_left_out(logs):
    redactor = Redactor([TOKEN])
    end = hide_in_logs(redactor)
    http, httpx = logging.getLogger("httpcore.http11"), logging.getLogger("httpx")
    http.debug("headers.complete return_value=(b'HTTP/1.1', 200, b'', [(b'X', b'new-secret')])")
    httpx.info('HTTP Request: %s %s "%s %d"', "GET", f"http://h/?t={TOKEN}", "HTTP/1.1", 200)
    end()
    http.debug("as it is")
    assert "new-secret" not in logs.text
    assert "canary" not in logs.text
    assert logs.messages[0] == "headers.complete return_value=(b'HTTP/1.1', 200, b'', […])"
    assert logs.messages[1].startswith("HTTP Request: GET http://h/?t=<redacted:")
    assert logs.messages[2] == "as it is"


def test_nothing_is_logged_about_signing(logs):
    redactor = Redactor()
    end = hide_in_logs(redactor)
    logging.getLogger("botocore.auth").debug("CanonicalRequest:\n%s", TOKEN)
    end()
    assert logs.messages == []


def test_logs_are_redacted_as_long_as_the_connection_is_open(logs):
    before = [*logging.getLogger("httpx").filters]
    connection = Connection(Target("http://h", token=TOKEN), CONTRACT)
    logging.getLogger("httpx").info("with %s", TOKEN)
    assert "canary" not in logs.text
    connection.close()
    assert logging.getLogger("httpx").filters == before


def test_the_logs_of_others_are_left_alone_when_nobody_closed_the_connection(logs):
    gc.collect()  # what other tests left open
    before = [*logging.getLogger("httpx").filters]
    hide_in_logs(Redactor([TOKEN]))
    gc.collect()
    assert logging.getLogger("httpx").filters == before
    logging.getLogger("httpx").info("with %s", TOKEN)
    assert "canary" in logs.text
