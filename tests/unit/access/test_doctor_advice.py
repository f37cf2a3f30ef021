"""What the doctor says of places, prefixes, given objects and a second principal."""

import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.defects.kit.rewriting import alter_body
from tests.kit.serving import json_answer, serving
from tests.unit.access.test_adaptations import always_a_location, never_a_location


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"]) as catalog:
        yield catalog


def test_where_only_reading_is_allowed_nothing_is_tried(icecheck, mock):
    catalog = mock.pyiceberg("wh", in_process=True)
    catalog.create_namespace("given")
    catalog.create_table("given.t", schema=_schema())
    asked = mock.journal.last_sequence
    given = ("--read-only", "--given-table", "given.t", "--given-view", "given.v")
    result = icecheck("doctor", mock.uri, "--warehouse", "wh", *given)
    assert result.exit_code == 0, result.output
    assert "was not tried" in result.output
    assert "the given table can be read" in result.output
    assert "the given view is answered 404" in result.output
    sent = [entry.method for entry in mock.journal.find() if entry.sequence > asked]
    assert set(sent) == {"GET"}
    assert "--given-table A.B.T" in icecheck("doctor", mock.uri, "--read-only").output


def _schema():
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    return Schema(NestedField(1, "id", LongType(), required=True))


def test_what_a_run_will_accommodate_is_said(icecheck, mock):
    always_a_location(mock.registries)
    result = icecheck("doctor", mock.uri, "--warehouse", "wh")
    assert "a run will make do: createTable without a location" in result.output
    assert "--location-root URI" in result.output
    never_a_location(mock.registries)
    result = icecheck("doctor", mock.uri, "--warehouse", "wh")
    assert "creating a table is answered 400" in result.output
    assert len(mock.state("wh").namespaces) == 0


@pytest.mark.parametrize("body", [{}, {"metadata": None}, []])
def test_a_table_whose_creation_shows_nothing_leaves_its_drop_unknown(icecheck, mock, body):
    alter_body(mock.registries, "createTable", lambda _: body)
    result = icecheck("doctor", mock.uri, "--warehouse", "wh")
    assert result.exit_code == 0, result.output
    assert "whether a table can be dropped is not known" in result.output
    assert len(mock.state("wh").namespaces) == 0


def test_a_prefix_that_is_needed_and_not_announced_is_found(icecheck, mock):
    def without(body):
        return body | {"defaults": {}, "overrides": {}}

    alter_body(mock.registries, "getConfig", without)
    result = icecheck("doctor", mock.uri, "--warehouse", "wh")
    assert "--prefix wh" in result.output
    result = icecheck("doctor", mock.uri, "--warehouse", "wh", "--prefix", "wh")
    assert "namespaces can be listed" in result.output


@pytest.mark.parametrize(("below", "asked"), [("/iceberg", ""), ("", "/v1"), ("/x", "/x/v1/")])
def test_a_catalog_at_another_path_is_found(icecheck, below, asked):
    def answer(sent):
        is_there = (sent.method, sent.path) == ("GET", f"{below}/v1/config")
        return json_answer({"defaults": {}, "overrides": {}}) if is_there else (404, {}, b"")

    with serving(answer) as base:
        result = icecheck("doctor", f"{base}{asked}")
    assert result.exit_code == 4
    assert f"a catalog answers at {base}{below}: give that URL" in result.output


def test_a_second_principal_that_nobody_knows_is_said(icecheck):
    settings = OAuth2Settings(clients=(Client("me", "my-secret"),))
    with MockCatalog(oauth2=settings) as mock:
        first = ("--credential", "me:my-secret")
        result = icecheck("doctor", mock.uri, *first, "--second-token", "made-up")
        assert "the second principal is answered 401" in result.output
        result = icecheck("doctor", mock.uri, *first, "--second-credential", "you:secret-2")
        assert result.exit_code == 4
        assert "--second-credential" in result.output
        assert "secret-2" not in result.output
