"""Generated metadata survives writing and reading; generated commits never break the engine."""

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import UNSET, inspect

from icecheck.mock_server.commits.assertions import ASSERTIONS
from icecheck.mock_server.commits.commit import (
    apply_commit,
    decode_commit,
    decode_commit_transaction,
    default_registries,
)
from icecheck.mock_server.commits.create import decode_create_table
from icecheck.mock_server.metadata.encoding import (
    EncryptedKey,
    MetadataLogEntry,
    PartitionField,
    PartitionSpec,
    PartitionStatisticsFile,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    SortField,
    SortOrder,
    StatisticsFile,
    TableMetadata,
    decode,
    encode,
)
from icecheck.mock_server.metadata.invariants import check_metadata
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.schemas import assign_fresh_ids, highest_field_id, valid_schema
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.updates import UPDATES

# How long an example takes says nothing about the engine.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW_MS = 1_700_000_000_000
INT64 = 2**63 - 1

# Metadata that is sound by construction.

PRIMITIVES = ("boolean", "int", "long", "decimal(9, 2)", "string", "timestamptz", "fixed[4]")
PRIMITIVES_3 = (*PRIMITIVES, "timestamp_ns", "variant", "geometry(srid:4326)", "unknown")
names = st.text(min_size=1, max_size=5)
texts = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
int64 = st.integers(min_value=0, max_value=INT64)


def types(version):
    """Types whose field ids are all 0: numbering comes later."""
    plain = st.sampled_from(PRIMITIVES_3 if version == 3 else PRIMITIVES)

    def nested(inner):
        element = {"element-id": st.just(0), "element": inner, "element-required": st.just(False)}
        keys = {"key-id": st.just(0), "key": st.just("string"), "value-id": st.just(0)}
        return st.one_of(
            st.fixed_dictionaries({"type": st.just("struct"), "fields": fields(inner)}),
            st.fixed_dictionaries({"type": st.just("list"), **element}),
            st.fixed_dictionaries(
                {"type": st.just("map"), **keys, "value": inner, "value-required": st.just(False)}
            ),
        )

    return st.recursive(plain, nested, max_leaves=4)


def fields(kinds):
    one = st.fixed_dictionaries(
        {"id": st.just(0), "name": names, "required": st.just(False), "type": kinds},
        optional={"doc": st.text(max_size=5)},
    )
    return st.lists(one, max_size=3, unique_by=lambda each: each["name"])


def numbered(value, counter):
    """Replace every id by the next number."""
    match value:
        case dict():
            return {
                key: next(counter) if key in {"id", "element-id", "key-id", "value-id"}
                else numbered(inner, counter)
                for key, inner in value.items()
            }  # fmt: skip
        case list():
            return [numbered(inner, counter) for inner in value]
    return value


@st.composite
def schemas(draw, version, schema_id):
    sent = {"type": "struct", "fields": draw(fields(types(version)))}
    sent = numbered(sent, iter(range(100, 10_000)))
    try:
        schema = valid_schema(msgspec.convert(sent, RequestedSchema), schema_id, version)
    except Problem:  # dotted names may collide
        assume(False)
    return assign_fresh_ids(schema)[0]


@st.composite
def snapshots(draw, snapshot_id, last_sequence_number):
    optional = st.none() | int64
    return Snapshot(
        snapshot_id=snapshot_id,
        sequence_number=draw(st.integers(0, last_sequence_number)),
        parent_snapshot_id=draw(optional),
        timestamp_ms=draw(int64),
        summary=draw(st.just(UNSET) | texts),
        manifest_list=draw(st.text(max_size=5)),
        schema_id=draw(st.none() | st.integers(0, 5)),
        first_row_id=draw(optional),
        added_rows=draw(optional),
        key_id=draw(st.none() | st.text(max_size=5)),
    )


@st.composite
def tables(draw):
    version = draw(st.sampled_from([1, 2, 3]))
    table_schemas = tuple(draw(schemas(version, number)) for number in (0, 3))
    current = draw(st.sampled_from(table_schemas))
    sources = [f.id for f in current.fields if f.type in {"int", "long", "string"}]
    spec_fields = tuple(
        PartitionField(name=f"p{source}", transform="truncate[7]", source_id=source, field_id=1000)
        for source in sources[:1]
    )
    order_fields = tuple(
        SortField(transform="identity", source_id=s, direction="desc", null_order="nulls-last")
        for s in sources
    )
    orders = [SortOrder(order_id=0, fields=())]
    if order_fields:
        orders.append(SortOrder(order_id=2, fields=order_fields))
    last_sequence_number = 0 if version == 1 else draw(int64)
    ids = draw(st.lists(int64, max_size=3, unique=True))
    current_id = draw(st.sampled_from(ids)) if ids and draw(st.booleans()) else None
    refs = {
        name: SnapshotRef(snapshot_id=draw(st.sampled_from(ids)), type="tag", max_ref_age_ms=5)
        for name in draw(st.lists(names.filter(lambda name: name != "main"), max_size=2))
        if ids
    }
    if current_id is not None and draw(st.booleans()):
        refs["main"] = SnapshotRef(snapshot_id=current_id, type="branch", min_snapshots_to_keep=3)
    stamps = sorted(draw(st.lists(int64, max_size=3)))
    table = TableMetadata(
        format_version=version,
        table_uuid=draw(st.uuids().map(str)),
        location=draw(names.map(lambda name: f"s3://{name}x")),
        last_sequence_number=last_sequence_number,
        last_updated_ms=max(stamps, default=draw(int64)),
        last_column_id=max(map(highest_field_id, table_schemas)),
        current_schema_id=current.schema_id,
        schemas=table_schemas,
        default_spec_id=4,
        partition_specs=(PartitionSpec(spec_id=4, fields=spec_fields),),
        last_partition_id=1000,
        default_sort_order_id=orders[-1].order_id,
        sort_orders=tuple(orders),
        properties=draw(texts),
        current_snapshot_id=current_id,
        next_row_id=draw(int64) if version == 3 else 0,
        encryption_keys=tuple(
            draw(st.lists(st.builds(EncryptedKey, key_id=names, encrypted_key_metadata=names)))
        ),
        refs=refs,
        snapshots=tuple(draw(snapshots(each, last_sequence_number)) for each in ids),
        statistics=tuple(
            StatisticsFile(
                snapshot_id=each,
                statistics_path="s",
                file_size_in_bytes=1,
                file_footer_size_in_bytes=1,
                blob_metadata=(),
            )
            for each in ids
        ),
        partition_statistics=tuple(
            PartitionStatisticsFile(snapshot_id=each, statistics_path="p", file_size_in_bytes=1)
            for each in ids
        ),
        snapshot_log=tuple(SnapshotLogEntry(timestamp_ms=t, snapshot_id=t) for t in stamps),
        metadata_log=tuple(MetadataLogEntry(timestamp_ms=t, metadata_file="m") for t in stamps),
    )
    check_metadata(table)
    return table


@settings(UNHURRIED, max_examples=50)
@given(tables())
def test_generated_metadata_survives_writing_and_reading(table):
    written = encode(table)
    assert decode(written) == table
    assert encode(decode(written)) == written


# Commits that can be read but need not make sense.

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
