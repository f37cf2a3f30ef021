"""Clients of a server of 1.11.0 are judged by that document."""

import pytest

from tests.mock.asking import create
from tests.mock.later.conftest import Make


@pytest.mark.parametrize(
    ("version", "wrong"), [("1.10.0", set()), ("1.11.0", {"header Idempotency-Key"})]
)
def test_a_key_that_is_no_uuid_is_forbidden_by_the_document_that_has_keys(
    make: Make, version: str, wrong: set[str]
) -> None:
    mock, http = make(spec=version)
    http.post("/namespaces", json={"namespace": ["ns"]})
    http.headers["Idempotency-Key"] = "x"
    create(http, "t")
    assert {each.place for each in mock.violations(operation="createTable")} == wrong


def test_what_only_a_later_document_has_is_judged_there(make: Make) -> None:
    mock, http = make()
    http.post("/namespaces", json={"namespace": ["ns"]})
    http.post("/namespaces/ns/register-view", json={"name": "v"})
    (found,) = mock.violations(operation="registerView")
    assert "metadata-location" in found.words
