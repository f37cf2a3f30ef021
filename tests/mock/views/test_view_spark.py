"""The Java library's own view engine beside ours."""

import json
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from icecheck.mock_server.commits.view_commit import (
    apply_view_commit,
    decode_view_commit,
    default_view_registries,
)
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, encode_view
from icecheck.mock_server.protocol.problem import Problem
from icecheck.spark import SparkWorkbench

pytestmark = pytest.mark.spark

Json = dict[str, Any]
NOW_MS = 1_800_000_000_000
UUID = "11111111-2222-4333-8444-555555555555"
SCHEMAS = tuple(
    {"type": "struct", "schema-id": number, "fields": [
        {"id": each, "name": f"c{each}", "required": False, "type": "decimal(9,2)"}
        for each in range(1, number)
    ]}
    for number in range(1, 4)
)  # fmt: skip
BASE = {
    "view-uuid": UUID, "format-version": 1, "location": "s3://b/v", "schemas": [SCHEMAS[0]],
    "current-version-id": 1,
    "versions": [{
        "version-id": 1, "timestamp-ms": 1, "schema-id": 1, "summary": {},
        "default-namespace": [],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}],
    }],
    "version-log": [{"timestamp-ms": 1, "version-id": 1}],
}  # fmt: skip
HISTORY, DROP_DIALECT = "version.history.num-entries", "replace.drop-dialect.allowed"


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def an_update(action: str, **members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    named = {name.replace("_", "-"): member for name, member in members.items()}
    return st.fixed_dictionaries({"action": st.just(action), **named})


VERSIONS = st.fixed_dictionaries(
    {
        "version-id": st.integers(-2, 9),
        "timestamp-ms": st.integers(1, 9),
        "schema-id": one_of(1, 1, 1, -1, 2, 7),
        "summary": one_of({}, {}, {"k": "v"}),
        "default-namespace": one_of([], [], ["a", "b"]),
        "representations": st.lists(one_of("spark", "Spark", "trino"), min_size=1, max_size=2).map(
            lambda names: [{"type": "sql", "sql": "SELECT 1", "dialect": each} for each in names]
        ),
    },
    optional={"default-catalog": one_of("prod")},
)
SET_CURRENT = an_update("set-current-view-version", view_version_id=one_of(-1, -1, -1, 1, 2, 3, 8))
PROPERTIES = st.one_of(
    st.fixed_dictionaries({HISTORY: one_of("1", "1", "2", "3", "+2", "0", "-1", "x", "")}),
    st.fixed_dictionaries({DROP_DIALECT: one_of("true", "TRUE", "yes")}),
    st.just({}),
)
UPDATE = st.one_of(
    an_update("add-view-version", view_version=VERSIONS),
    an_update("add-view-version", view_version=VERSIONS),
    SET_CURRENT,
    SET_CURRENT,
    an_update("add-schema", schema=one_of(*SCHEMAS)),
    an_update("set-properties", updates=PROPERTIES),
    an_update("remove-properties", removals=st.lists(one_of(HISTORY, DROP_DIALECT), max_size=2)),
    an_update("set-location", location=one_of("s3://b/v", "s3://b/w/")),
    an_update("assign-uuid", uuid=one_of(UUID, UUID, UUID, UUID[::-1])),
    an_update("upgrade-format-version", format_version=one_of(1, 1, 1, 0, 2)),
)
# What a client means to do, so that a view comes to have a history.
SOUND_VERSIONS = st.fixed_dictionaries(
    {
        "version-id": st.integers(-2, 9),
        "timestamp-ms": st.integers(1, 9),
        "schema-id": st.just(1),
        "summary": st.integers(1, 5).map(lambda number: {"number": str(number)}),
        "default-namespace": st.just([]),
        "representations": one_of(("spark",), ("spark",), ("SPARK", "trino")).map(
            lambda names: [{"type": "sql", "sql": "SELECT 1", "dialect": each} for each in names]
        ),
    }
)
ADD = an_update("add-view-version", view_version=SOUND_VERSIONS)
MAKE_CURRENT = an_update("set-current-view-version", view_version_id=one_of(-1, -1, -1, 1, 2, 3))
KEEP = an_update(
    "set-properties", updates=st.fixed_dictionaries({HISTORY: one_of("1", "2", "3", "12")})
)
INTENTION = st.one_of(
    st.tuples(ADD, MAKE_CURRENT),
    st.tuples(ADD, MAKE_CURRENT),
    st.tuples(ADD, ADD, ADD, MAKE_CURRENT),
    st.tuples(MAKE_CURRENT),
    st.tuples(KEEP),
    st.tuples(UPDATE),
)
COMMITS = st.lists(
    st.lists(INTENTION, min_size=1, max_size=3).map(lambda steps: [u for s in steps for u in s]),
    min_size=2,
    max_size=8,
)


def without_known_differences(commits: list[list[Json]]) -> None:
    """Give every version of the last added schema an id and a summary that no other has.

    The reference forgets the id it gave such a version, and never finds it equal to another.
    """
    numbers = count(1000)
    for update in (update for commit in commits for update in commit):
        version = update.get("view-version")
        if version is not None and version["schema-id"] == -1:
            version["version-id"] = next(numbers)
            version["summary"] = {"number": str(version["version-id"])}


def comparable(metadata: Json) -> Json:
    """Both sides' own time of day as the same number."""
    log = [
        {**entry, "timestamp-ms": min(entry["timestamp-ms"], NOW_MS // 2)}
        for entry in metadata["version-log"]
    ]
    return {**metadata, "version-log": log}


def by_us(base: Json, updates: list[Json]) -> Json | str:
    assertions, appliers = default_view_registries()
    commit = decode_view_commit(msgspec.json.encode({"updates": updates}))
    view = msgspec.convert(base, ViewMetadata)
    try:
        made = apply_view_commit(
            view, commit, assertions=assertions, updates=appliers, now_ms=NOW_MS
        )
    except Problem:
        return "refused"
    return "unchanged" if made is None else comparable(json.loads(encode_view(made)))


def by_java(jvm: Any, base: Json, updates: list[Json]) -> Json | str:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    iceberg = jvm.org.apache.iceberg
    parser = iceberg.view.ViewMetadataParser
    try:
        builder = iceberg.view.ViewMetadata.buildFrom(parser.fromJson(json.dumps(base)))
        for update in updates:
            iceberg.MetadataUpdateParser.fromJson(json.dumps(update)).applyTo(builder)
        made = builder.build()
    except (Py4JJavaError, PySparkException):
        return "refused"
    return comparable(json.loads(parser.toJson(made))) if made.changes().size() else "unchanged"


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(commits=COMMITS)
def test_generated_commits_come_out_as_in_the_java_library(
    workbench: SparkWorkbench, commits: list[list[Json]]
) -> None:
    jvm = workbench._spark.sparkContext._jvm
    without_known_differences(commits)
    base: Json = BASE
    for updates in commits:
        ours = by_us(base, updates)
        assert ours == by_java(jvm, base, updates)
        if isinstance(ours, dict):
            base = ours
