"""Any bytes are read or refused with a Problem; a view that is created is sound.

Generated commits are compared with the Java library, in test_view_spark.py.
"""

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from icecheck.mock_server.commits.view_commit import decode_view_commit
from icecheck.mock_server.commits.view_create import decode_create_view, new_view_metadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, check_view, encode_view
from icecheck.mock_server.protocol.problem import Problem

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


def expect_sound(metadata):
    check_view(metadata)
    written = encode_view(metadata)
    assert msgspec.json.decode(written, type=ViewMetadata) == metadata


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
