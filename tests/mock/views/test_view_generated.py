"""Generated requests about views are refused with a Problem, or give sound metadata."""

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from icecheck.mock_server.commits.view_commit import (
    apply_view_commit,
    decode_view_commit,
    default_view_registries,
)
from icecheck.mock_server.commits.view_create import decode_create_view, new_view_metadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, check_view, encode_view
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.updates import VIEW_UPDATES

# How long an example takes says nothing about the engine.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW_MS = 1_700_000_000_000
UUID = "11111111-2222-4333-8444-555555555555"

WORDS = ("spark", "Spark", "trino", "ns", "", "SELECT 1", "s3://b/v", "true", "1", "2", "é\0")
KEYS = ("version.history.num-entries", "replace.drop-dialect.allowed", "comment")
MEMBERS = (
    "name", "schema", "view-version", "properties", "location", "updates", "requirements",
    "version-id", "representations", "type", "fields", "action", "identifier", "namespace",
)  # fmt: skip

texts = st.sampled_from(WORDS)
ids = st.one_of(st.integers(-2, 6), st.integers(-(2**31), 2**31 - 1))
properties = st.dictionaries(st.sampled_from(KEYS), texts, max_size=3)
fields = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 3), "name": texts, "required": st.booleans(),
         "type": st.sampled_from(["int", "string", "timestamp_ns", "decimal(9,2)", "banana"])},
        optional={"doc": texts, "initial-default": st.sampled_from([1, "x", None])},
    ),
    max_size=2,
)  # fmt: skip
schemas = st.fixed_dictionaries(
    {"type": st.just("struct"), "fields": fields},
    optional={"schema-id": ids, "identifier-field-ids": st.lists(st.integers(0, 3), max_size=2)},
)
representations = st.lists(
    st.fixed_dictionaries({"type": st.just("sql"), "sql": texts, "dialect": texts}), max_size=2
)
versions = st.fixed_dictionaries(
    {"version-id": ids, "timestamp-ms": st.integers(-(2**63), 2**63 - 1), "schema-id": ids,
     "summary": st.dictionaries(texts, texts, max_size=1),
     "default-namespace": st.lists(texts, max_size=2), "representations": representations},
    optional={"default-catalog": st.none() | texts},
)  # fmt: skip
updates = {
    "assign-uuid": {"uuid": st.sampled_from([UUID, UUID.upper(), ""])},
    "upgrade-format-version": {"format-version": ids},
    "add-schema": {"schema": schemas},
    "set-location": {"location": texts},
    "set-properties": {"updates": properties},
    "remove-properties": {"removals": st.lists(st.sampled_from(KEYS), max_size=2)},
    "add-view-version": {"view-version": versions},
    "set-current-view-version": {"view-version-id": ids},
}
one_update = st.one_of(
    [
        st.fixed_dictionaries({"action": st.just(action), **members})
        for action, members in updates.items()
    ]
)
requirements = st.lists(
    st.sampled_from(
        [
            {"type": "assert-view-uuid", "uuid": UUID.upper()},
            {"type": "assert-view-uuid", "uuid": ""},
            {"type": "assert-create"},
        ]
    ),
    max_size=1,
)
creations = st.fixed_dictionaries(
    {"name": texts, "schema": schemas, "view-version": versions},
    optional={"properties": st.none() | properties, "location": st.none() | texts},
)
json_values = st.recursive(
    st.none() | st.booleans() | ids | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(MEMBERS), inner),
    max_leaves=12,
)


def outcome(function, *arguments):
    """What a function gives, or the Problem it refuses with."""
    try:
        return function(*arguments)
    except Problem as problem:
        return problem


def created(body):
    request = decode_create_view(msgspec.json.encode(body))
    return new_view_metadata(request, uuid=UUID, location="s3://b/default")


def committed(base, asserted, changes):
    """The next metadata, None when nothing changes."""
    assertions, appliers = default_view_registries()
    commit = decode_view_commit(msgspec.json.encode({"requirements": asserted, "updates": changes}))
    return apply_view_commit(base, commit, assertions=assertions, updates=appliers, now_ms=NOW_MS)


def expect_sound(metadata):
    check_view(metadata)
    written = encode_view(metadata)
    assert msgspec.json.decode(written, type=ViewMetadata) == metadata


BASE_BODY = {
    "name": "v",
    "schema": {"type": "struct", "fields": []},
    "view-version": {
        "version-id": 1, "timestamp-ms": 5, "schema-id": 0, "summary": {},
        "default-namespace": [],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}],
    },
}  # fmt: skip


def test_every_update_is_generated():
    assert set(updates) == set(VIEW_UPDATES)


@pytest.mark.parametrize("read", [decode_create_view, decode_view_commit])
@settings(UNHURRIED, max_examples=150)
@given(body=st.one_of(st.binary(), json_values.map(msgspec.json.encode)))
@example(body=b"[" * 100_000)
@example(body=b'{"updates":[{"action":"set-location","location":"\\ud800"}]}')
def test_any_bytes_are_read_or_refused(read, body):
    refused = outcome(read, body)
    if isinstance(refused, Problem):
        assert (refused.status, refused.type) == (400, "BadRequestException")


@settings(UNHURRIED, max_examples=200)
@given(body=creations)
def test_a_generated_creation_is_refused_or_gives_sound_metadata(body):
    metadata = outcome(created, body)
    if isinstance(metadata, Problem):
        assert metadata.status == 400
    else:
        expect_sound(metadata)
        (version,) = metadata.versions
        assert version.version_id == max(1, body["view-version"]["version-id"])
        assert version.timestamp_ms == body["view-version"]["timestamp-ms"]


@settings(UNHURRIED, max_examples=300)
@given(commits=st.lists(st.tuples(requirements, st.lists(one_update, max_size=5)), max_size=4))
def test_generated_commits_are_refused_or_give_sound_metadata(commits):
    view = created(BASE_BODY)
    for asserted, changes in commits:
        before = encode_view(view)
        result = outcome(committed, view, asserted, changes)
        assert encode_view(view) == before
        if isinstance(result, Problem):
            assert result.status in {400, 409}
        elif result is not None:
            expect_sound(result)
            assert result.view_uuid == UUID
            assert {s.schema_id for s in view.schemas} <= {s.schema_id for s in result.schemas}
            view = result
