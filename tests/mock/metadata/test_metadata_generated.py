"""Commits that can be read but need not make sense never break the engine."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect

from icecheck.mock_server.commits.assertions import ASSERTIONS
from icecheck.mock_server.commits.commit import (
    apply_commit,
    decode_commit,
    decode_commit_transaction,
    default_registries,
)
from icecheck.mock_server.commits.create import decode_create_table
from icecheck.mock_server.metadata.encoding import decode, encode
from icecheck.mock_server.metadata.invariants import check_metadata
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.updates import UPDATES

# How long an example takes says nothing about the engine.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW_MS = 1_700_000_000_000

WORDS = (
    "main", "audit", "id", "data", "time", "x", "", "s3://b/t", "s3://b/u/", "identity", "day",
    "bucket[16]", "truncate[0]", "void", "zorder", "append", "operation", "c2VjcmV0", "3",
    "write.metadata.previous-versions-max", "11111111-2222-4333-8444-555555555555",
)  # fmt: skip
TYPES = ("int", "long", "string", "timestamptz", "decimal(9,2)", "timestamp_ns", "banana")
MEMBERS = (
    "requirements", "updates", "table-changes", "identifier", "namespace", "name", "schema", "type",
    "fields", "properties", "format-version", "location", "snapshots", "action",
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2, 3, 4, 5, 10, 999, 1000, 1001, NOW_MS, NOW_MS + 500)


def numbers(low, high):
    usual = st.sampled_from([number for number in NUMBERS if low <= number <= high])
    return st.one_of(usual, usual, usual, st.integers(low, high))


def column_types(depth=2):
    plain = st.sampled_from(TYPES)
    if not depth:
        return plain
    inner = column_types(depth - 1)
    ids, flags = numbers(-(2**31), 2**31 - 1), st.booleans()
    field = st.fixed_dictionaries(
        {"id": ids, "name": st.sampled_from(WORDS), "required": flags, "type": inner},
        optional={"initial-default": st.sampled_from([0, "x", 1.5, True, None])},
    )
    return st.one_of(
        plain,
        plain,
        st.fixed_dictionaries({"type": st.just("struct"), "fields": st.lists(field, max_size=2)}),
        st.fixed_dictionaries(
            {"type": st.just("list"), "element-id": ids, "element": inner,
             "element-required": flags}
        ),
        st.fixed_dictionaries(
            {"type": st.just("map"), "key-id": ids, "key": inner, "value-id": ids,
             "value": inner, "value-required": flags}
        ),
    )  # fmt: skip


def json_of(kind):
    """JSON values that a decoder accepts for a type, told by msgspec's own description of it."""
    return JSON_OF[type(kind)](kind)


def integers(kind):
    return numbers(
        -(10**30) if kind.ge is None else kind.ge, 10**30 if kind.le is None else kind.le
    )


def unions(kind):
    if any(isinstance(each, inspect.StructType) for each in kind.types):
        return column_types()
    return st.one_of(*map(json_of, kind.types))


def objects(kind):
    required = {f.encode_name: json_of(f.type) for f in kind.fields if f.required}
    optional = {f.encode_name: json_of(f.type) for f in kind.fields if not f.required}
    if kind.tag_field:
        required[kind.tag_field] = st.just(kind.tag)
    return st.fixed_dictionaries(required, optional=optional)


JSON_OF = {
    inspect.BoolType: lambda _: st.booleans(),
    inspect.IntType: integers,
    inspect.FloatType: lambda _: st.floats(allow_nan=False, allow_infinity=False),
    inspect.NoneType: lambda _: st.none(),
    inspect.StrType: lambda _: st.sampled_from(WORDS),
    inspect.AnyType: lambda _: st.sampled_from([None, 1, "x", [1.5, {"a": True}]]),
    inspect.LiteralType: lambda kind: st.sampled_from(kind.values),
    inspect.VarTupleType: lambda kind: st.lists(json_of(kind.item_type), max_size=3),
    inspect.DictType: lambda kind: st.dictionaries(
        json_of(kind.key_type), json_of(kind.value_type), max_size=3
    ),
    inspect.UnionType: unions,
    inspect.StructType: objects,
}


def of_classes(classes):
    return st.one_of([objects(inspect.type_info(each)) for each in classes.values()])


UPDATE_LISTS = st.lists(of_classes(UPDATES), max_size=6)
ASSERTION_LISTS = st.one_of(st.just([]), st.just([]), st.lists(of_classes(ASSERTIONS), max_size=2))


def outcome(base, requirements, updates):
    """What a commit comes to: metadata, None for no change, or the Problem that refuses it."""
    try:
        return applied(base, requirements, updates)
    except Problem as problem:
        return problem


def applied(base, requirements, updates):
    body = msgspec.json.encode({"requirements": requirements, "updates": updates})
    assertions, appliers = default_registries()
    return apply_commit(
        base,
        decode_commit(body),
        assertions=assertions,
        updates=appliers,
        now_ms=NOW_MS + 1000,
        new_uuid=lambda: "99999999-2222-4333-8444-555555555555",
        base_location="s3://b/t/metadata/00000-a.metadata.json",
        default_location="s3://b/default",
    )


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(MEMBERS), inner),
    max_leaves=12,
)


def refusal_of(read, body):
    try:
        read(body)
    except Problem as problem:
        return problem.status, problem.type
    return None


@settings(UNHURRIED, max_examples=150)
@given(body=st.one_of(st.binary(), JSON_VALUES.map(msgspec.json.encode)))
@pytest.mark.parametrize(
    "read", [decode, decode_commit, decode_commit_transaction, decode_create_table]
)
def test_any_bytes_are_read_or_refused(read, body):
    assert refusal_of(read, body) in {None, (400, "BadRequestException")}


@pytest.fixture(scope="module")
def bases(new_table, commit, add_main, set_ref):
    """Tables of every version with two snapshots and a tag, and no table at all."""
    made = []
    for version in (1, 2, 3):
        table = new_table(version)
        for number in (1, 2):
            rows = {"first_row_id": number, "added_rows": 1} if version == 3 else {}
            sequence = {"sequence_number": number} if version > 1 else {}
            table = commit(table, *add_main(number, timestamp_ms=NOW_MS, **rows, **sequence))
        made.append(commit(table, set_ref("audit", 1, type="tag")))
    return (None, *made)


@settings(UNHURRIED, max_examples=150)
@given(number=st.integers(0, 3), requirements=ASSERTION_LISTS, updates=UPDATE_LISTS)
def test_a_generated_commit_is_refused_or_gives_sound_metadata(
    bases, number, requirements, updates
):
    base = bases[number]
    before = None if base is None else encode(base)
    after = outcome(base, requirements if base else [{"type": "assert-create"}], updates)
    if isinstance(after, Problem):
        assert after.status in {400, 409}
    elif after is not None:
        check_metadata(after)
        assert decode(encode(after)) == after
    if base is not None:
        assert encode(base) == before


@settings(UNHURRIED, max_examples=25)
@given(number=st.integers(1, 3), data=st.data())
@pytest.mark.parametrize("action", sorted(UPDATES))
def test_one_generated_update_after_another_is_refused_or_sound(bases, action, number, data):
    one = objects(inspect.type_info(UPDATES[action]))
    after = bases[number]
    for update in data.draw(st.lists(one, min_size=1, max_size=4)):
        result = outcome(after, [], [update])
        if isinstance(result, Problem):
            assert result.status == 400
        elif result is not None:
            after = result
    check_metadata(after)
    assert decode(encode(after)) == after
    assert after.table_uuid == bases[number].table_uuid
    assert after.last_column_id >= bases[number].last_column_id
    assert after.last_partition_id >= bases[number].last_partition_id
    assert after.next_row_id >= bases[number].next_row_id
