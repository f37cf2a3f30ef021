"""Single values, dates, hashes and transforms, against pyiceberg, mmh3 and Python's own."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import mmh3
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyiceberg.conversions import to_bytes
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DecimalType, NestedField

from icecheck.mock_server.metadata.transforms import applies_to
from icecheck.mock_server.planning.filters import civil_time
from icecheck.mock_server.planning.filters.murmur3 import murmur3_32
from icecheck.mock_server.planning.filters.partition_transforms import transform_of, transformed
from icecheck.mock_server.planning.filters.single_values import (
    json_value,
    literal_of,
    value_of_avro,
    value_of_bound,
)
from icecheck.mock_server.protocol.problem import Problem
from tests.mock.planning.wide_table import BY_NAME, COLUMNS, EPOCH, Column, literal_json

VALUES = [(column, value) for column in COLUMNS for value in column.values]


def held(value: Any) -> Any:
    """A value as the server holds it."""
    return value.bytes if isinstance(value, UUID) else value


@pytest.mark.parametrize(("column", "value"), VALUES)
def test_a_bound_is_read_as_pyiceberg_wrote_it(column: Column, value: Any) -> None:
    found = value_of_bound(column.type, to_bytes(column.iceberg_type, value))
    assert found == held(value)


@pytest.mark.parametrize(("column", "value"), VALUES)
def test_a_value_is_its_own_literal(column: Column, value: Any) -> None:
    json = json_value(column.type, held(value))
    assert literal_of(column.type, json) == held(value)
    assert literal_of(column.type, literal_json(column, value)) == held(value)


@pytest.mark.parametrize(
    ("type_", "value", "json"),
    [
        ("date", 13850, "2007-12-03"),
        ("time", 81_068_123_456, "22:31:08.123456"),
        ("timestamp", 1_196_676_930_123_456, "2007-12-03T10:15:30.123456"),
        ("timestamptz", 1_196_676_930_123_456, "2007-12-03T10:15:30.123456+00:00"),
        ("timestamp_ns", 1_196_676_930_123_456_789, "2007-12-03T10:15:30.123456789"),
        ("timestamptz_ns", 1_196_676_930_123_456_789, "2007-12-03T10:15:30.123456789+00:00"),
        ("timestamp", 0, "1970-01-01T00:00:00.000000"),
        ("date", 2**31 - 1, "+5881580-07-11"),
        ("date", -(2**31), "-5877641-06-23"),
        ("date", -719_529, "-0001-12-31"),
        ("decimal(9, 4)", Decimal("123.4500"), "123.4500"),
        ("decimal(9, 0)", Decimal(2), "2"),
        ("decimal(38, 37)", Decimal("0." + "0" * 36 + "1"), "0." + "0" * 36 + "1"),
        ("uuid", bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ("fixed[3]", b"xyz", "78797A"),
        ("binary", b"xyz", "78797A"),
        ("double", float("nan"), "NaN"),
        ("float", float("-inf"), "-Infinity"),
        ("boolean", True, True),
        ("long", 2**63 - 1, 2**63 - 1),
        ("string", "", ""),
    ],
)
def test_a_value_is_written_as_the_document_says(type_: str, value: Any, json: Any) -> None:
    assert json_value(type_, value) == json


def test_a_float_is_compared_as_its_column_holds_it() -> None:
    assert literal_of("float", 0.1) == value_of_bound("float", b"\xcd\xcc\xcc\x3d") != 0.1


@pytest.mark.parametrize("type_", [each.type for each in COLUMNS if each.type != "boolean"])
def test_bytes_of_a_wrong_length_are_no_bound(type_: str) -> None:
    if type_ in {"string", "binary", "fixed[2]"}:
        assert value_of_bound("string", b"\xff") is None
        return
    assert value_of_bound(type_, b"") is None
    assert value_of_bound(type_, b"\x00" * 100) is None


@given(st.binary(max_size=20), st.sampled_from([each.type for each in COLUMNS]))
def test_any_bytes_are_a_bound_or_none(data: bytes, type_: str) -> None:
    json_value(type_, value_of_bound(type_, data))


@pytest.mark.parametrize(
    ("type_", "raw"),
    [("int", "1"), ("int", True), ("string", b"a"), ("boolean", 1), ("uuid", b"1"), ("date", 1.5)],
)
def test_avro_values_of_a_wrong_type_are_refused(type_: str, raw: Any) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        value_of_avro(type_, raw)


@given(st.dates())
def test_dates_are_counted_as_python_does(day: date) -> None:
    days = day.toordinal() - date(1970, 1, 1).toordinal()
    assert civil_time.days_from_text(day.isoformat()) == days
    assert civil_time.text_from_days(days) == day.isoformat()
    assert civil_time.civil_from_days(days) == (day.year, day.month, day.day)


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_day_has_a_text_of_its_own(days: int) -> None:
    assert civil_time.days_from_text(civil_time.text_from_days(days)) == days


@given(st.datetimes())
def test_timestamps_are_counted_as_python_does(moment: datetime) -> None:
    micros = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    text = moment.isoformat()
    assert civil_time.timestamp_from_text(text, 6, with_zone=False) == micros
    assert (
        datetime.fromisoformat(civil_time.text_from_timestamp(micros, 6, with_zone=False)) == moment
    )


@given(st.datetimes(timezones=st.timezones()), st.sampled_from([6, 9]))
def test_offsets_are_taken_away(moment: datetime, digits: int) -> None:
    offset = moment.utcoffset()
    if offset is None or offset.seconds % 60 or moment.year in {1, 9999}:
        return
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    found = civil_time.timestamp_from_text(moment.isoformat(), digits, with_zone=True)
    assert found == micros * 10 ** (digits - 6)


@given(st.text("0123456789-+:.TZ", max_size=30))
def test_any_text_is_a_time_or_a_value_error(text: str) -> None:
    for parse in (
        civil_time.days_from_text,
        civil_time.micros_of_day_from_text,
        lambda each: civil_time.timestamp_from_text(each, 6, with_zone=True),
    ):
        try:
            assert isinstance(parse(text), int)
        except ValueError:
            continue


@given(st.binary(max_size=40))
@example(b"")
def test_hashes_are_those_of_mmh3(data: bytes) -> None:
    assert murmur3_32(data) == mmh3.hash(data, signed=False)


TRANSFORMS = (
    "identity", "bucket[1]", "bucket[7]", "bucket[16]", "truncate[1]", "truncate[3]",
    "truncate[10]", "year", "month", "day", "hour",
)  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_give_what_pyiceberg_gives(transform: str) -> None:
    applied = 0
    for column, value in VALUES:
        ours = transform_of(transform, column.type)
        theirs = parse_transform(transform)
        assert ours.applies == applies_to(transform, column.type)
        if not ours.applies or not theirs.can_transform(column.iceberg_type):
            continue
        applied += 1
        expected = theirs.transform(column.iceberg_type)(value)
        assert transformed(ours, held(value)) == held(expected)
        assert transformed(ours, None) is None
    assert applied > 5


def test_calendar_transforms_go_down_before_1970() -> None:
    for transform, expected in (("year", -1), ("month", -1), ("day", -1), ("hour", -1)):
        for type_, value in (("timestamp", -1), ("timestamptz_ns", -1), ("date", -1)):
            found = transform_of(transform, type_)
            if found.applies:
                assert transformed(found, value) == expected


def test_nanoseconds_share_the_buckets_of_microseconds() -> None:
    micros = 1_196_676_930_123_456
    one = transformed(transform_of("bucket[1000]", "timestamp"), micros)
    other = transformed(transform_of("bucket[1000]", "timestamp_ns"), micros * 1000 + 789)
    assert one == other


@given(st.decimals(-9_999_999, 9_999_999, places=2), st.integers(1, 1000))
def test_decimals_are_cut_as_pyiceberg_cuts_them(value: Decimal, width: int) -> None:
    type_ = DecimalType(9, 2)
    for transform in (f"truncate[{width}]", f"bucket[{width}]"):
        ours = transformed(transform_of(transform, "decimal(9, 2)"), value)
        assert ours == parse_transform(transform).transform(type_)(value)


def test_a_decimal_finer_than_its_column_is_in_no_bucket() -> None:
    value = literal_of("decimal(9, 2)", "1.005")
    assert value == Decimal("1.005")
    with pytest.raises(ValueError, match="more digits"):
        transformed(transform_of("bucket[4]", "decimal(9, 2)"), value)


def test_a_transform_of_nobody_is_unknown() -> None:
    for text in ("zorder", "bucket", "year[2]", "bucket[x]", ""):
        found = transform_of(text, "int")
        assert (found.kind, found.applies, found.result_type) == ("unknown", False, None)
    with pytest.raises(Problem):
        transform_of("truncate[0]", "int")


def test_the_types_of_the_wide_table_are_all_covered() -> None:
    assert len(BY_NAME) == len({NestedField(1, "x", each.type).field_type for each in COLUMNS})
