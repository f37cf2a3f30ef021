"""Partition fields of every transform and column type, with partition values and their forms.

The values are those of the table format's own examples where it has some (Partition Transforms,
Appendix B); a test computes all of them again with another library.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from icecheck.client import bodies
from icecheck.conformance.kit.manifest_files import Layout

Json = Any

_DECIMAL_BYTES = 4  # the fewest bytes that hold nine digits
_AVRO_TYPES: dict[str, Json] = {
    "decimal(9, 2)": {
        "type": "fixed", "name": "decimal_9_2", "size": _DECIMAL_BYTES,
        "logicalType": "decimal", "precision": 9, "scale": 2,
    },
    "uuid": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
    "fixed[4]": {"type": "fixed", "name": "fixed_4", "size": 4},
    "binary": "bytes",
}  # fmt: skip
_RESULTS = {"bucket[16]": "int", "year": "int", "month": "int", "hour": "int", "day": "date"}
_NARROWER = {"long": "int", "double": "float"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Part:
    """The values of one partition field in one partition, as the document writes them.

    ``value`` is the value in the partition tuple. ``first`` and ``last`` are column values that
    belong to it; they are the least and the greatest one if the transform keeps the order.
    """

    value: Json
    first: Json
    last: Json

    @property
    def told(self) -> tuple[Json, Json, Json]:
        """The partition value, and the first and last column value."""
        return self.value, self.first, self.last


def _one(value: Json) -> Part:
    """Return a partition with a single value, which is also its partition value."""
    return Part(value, value, value)


def _in(bucket: int, value: Json) -> Part:
    """Return a partition with many values in no order; one of them is given."""
    return Part(bucket, value, value)


def _day(day: str) -> Part:
    return Part(day, f"{day}T00:00:00.000000", f"{day}T23:59:59.999999")


def _days(value: int, first: str, last: str) -> Part:
    return Part(value, _day(first).first, _day(last).last)


def _in_utc(part: Part) -> Part:
    """Return the same part with the UTC offset in times; days have none."""
    told = [f"{each}+00:00" if "T" in str(each) else each for each in part.told]
    return Part(*told)


_UUID, _LOW_UUID = "f79c3e09-677c-4bbd-a479-3f349cb785e7", "00000000-0000-0000-0000-000000000001"
_MOMENT, _EARLY = "2000-02-29T22:31:08.123456", "1968-02-29T22:31:08.123456"
_ODD = "\u00e4\u20ac\U0001f600"  # characters of two, three and four bytes
_BEYOND_DOUBLE = 2**53 + 1
_TOO_WIDE = frozenset({-_BEYOND_DOUBLE})

_Row = tuple[str, str, Part, Part]

_TIMES: dict[str, tuple[Part, Part]] = {
    "identity": (_one(_MOMENT), _one(_EARLY)),
    "bucket[16]": (_in(13, _MOMENT), _in(4, _EARLY)),
    "year": (_days(47, "2017-01-01", "2017-12-31"), _days(-1, "1969-01-01", "1969-12-31")),
    "month": (_days(574, "2017-11-01", "2017-11-30"), _days(-1, "1969-12-01", "1969-12-31")),
    "day": (_day("2017-11-16"), _day("1969-12-31")),
    "hour": (
        Part(419686, "2017-11-16T22:00:00.000000", "2017-11-16T22:59:59.999999"),
        Part(-1, "1969-12-31T23:00:00.000000", "1969-12-31T23:59:59.999999"),
    ),
}
# Column type, transform, and two partitions; the second one has earlier or lesser values.
_ROWS: tuple[_Row, ...] = (
    ("boolean", "identity", _one(True), _one(False)),
    ("int", "identity", _one(34), _one(-34)),
    ("int", "bucket[16]", _in(3, 34), _in(12, 0)),
    ("int", "truncate[10]", Part(30, 30, 39), Part(-10, -10, -1)),
    ("long", "identity", _one(_BEYOND_DOUBLE), _one(-_BEYOND_DOUBLE)),
    ("long", "bucket[16]", _in(3, 34), _in(12, 0)),
    ("long", "truncate[10]", Part(30, 30, 39), Part(-10, -10, -1)),
    ("float", "identity", _one(3.5), _one(-3.5)),
    ("double", "identity", _one(123.456), _one(-123.5)),
    ("decimal(9, 2)", "identity", _one("14.20"), _one("-14.20")),
    ("decimal(9, 2)", "bucket[16]", _in(3, "14.20"), _in(7, "0.00")),
    (
        "decimal(9, 2)",
        "truncate[50]",
        Part("10.50", "10.50", "10.99"),
        Part("-0.50", "-0.50", "-0.01"),
    ),
    ("string", "identity", _one("hello"), _one("Hello")),
    ("string", "bucket[16]", _in(9, "iceberg"), _in(0, "")),
    ("string", "truncate[3]", Part("ice", "ice", "iceberg"), Part(_ODD, _ODD, f"{_ODD}berg")),
    ("uuid", "identity", _one(_UUID), _one(_LOW_UUID)),
    ("uuid", "bucket[16]", _in(12, _UUID), _in(3, _LOW_UUID)),
    ("date", "identity", _one("2000-02-29"), _one("1968-02-29")),
    ("date", "bucket[16]", _in(10, "2017-11-16"), _in(12, "1970-01-01")),
    (
        "date",
        "year",
        Part(47, "2017-01-01", "2017-12-31"),
        Part(-1, "1969-01-01", "1969-12-31"),
    ),
    (
        "date",
        "month",
        Part(574, "2017-11-01", "2017-11-30"),
        Part(-1, "1969-12-01", "1969-12-31"),
    ),
    ("date", "day", _one("2017-11-16"), _one("1969-12-31")),
    ("time", "identity", _one("22:31:08.123456"), _one("00:00:00.000001")),
    ("time", "bucket[16]", _in(3, "22:31:08.000000"), _in(12, "00:00:00.000000")),
    *(("timestamp", of, after, before) for of, (after, before) in _TIMES.items()),
    *(
        ("timestamptz", of, _in_utc(after), _in_utc(before))
        for of, (after, before) in _TIMES.items()
    ),
    ("fixed[4]", "identity", _one("00FF10A0"), _one("00000000")),
    ("fixed[4]", "bucket[16]", _in(9, "00010203"), _in(14, "00000000")),
    ("binary", "identity", _one("00FF10"), _one("00")),
    ("binary", "bucket[16]", _in(9, "00010203"), _in(7, "00")),
    ("binary", "truncate[3]", Part("000102", "000102", "000102FF"), _one("FF")),
)


@dataclass(frozen=True, slots=True)
class PartitionField:
    """A column that is the source of a partition field, its transform, and two partitions."""

    column: str
    type: str
    transform: str
    after: Part
    before: Part

    @property
    def result_type(self) -> str:
        """The type of the partition's values; "date" for days, which may be answered as numbers."""
        return _RESULTS.get(self.transform, self.type)

    def avro_value(self, part: Part) -> Any:
        """Return the value of a partition as manifests have it."""
        return avro_value(self.result_type, part.value)

    def bounds(self, part: Part) -> tuple[bytes, bytes] | None:
        """Return the column's bounds as manifests have them; None if the transform keeps no order.

        The bounds of the earlier part are in the narrower type from before the column was widened,
        if they fit.
        """
        if self.transform.startswith("bucket"):
            return None
        type_ = self.type
        if part is self.before and part.first not in _TOO_WIDE:
            type_ = _NARROWER.get(self.type, self.type)
        low, high = (avro_value(self.type, each) for each in (part.first, part.last))
        return _bound(type_, low), _bound(type_, high)


def _bound(type_: str, value: Any) -> bytes:
    """Return a value in the form of bounds (table format, Appendix D)."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode()
        case bool():
            return bytes([value])
        case float():
            return struct.pack("<f" if type_ == "float" else "<d", value)
        case Decimal():
            unscaled = int(value.scaleb(2))
            length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
            return unscaled.to_bytes(length, "big", signed=True)
        case _:
            length = 4 if type_ in {"int", "date"} else 8
            return int(value).to_bytes(length, "little", signed=True)


def _avro_type(field: PartitionField) -> Json:
    avro_type = _AVRO_TYPES.get(field.result_type, field.result_type)
    if isinstance(avro_type, str) or "name" not in avro_type:
        return avro_type
    return {
        **avro_type,
        "name": f"{avro_type['name']}_{field.column}",
    }  # names are unique in a file


def _summary(field: PartitionField) -> tuple[bytes, bytes]:
    """Return the lesser and the greater of the two values, as manifest lists have them."""
    low, high = sorted(field.avro_value(part) for part in (field.after, field.before))
    return _bound(field.result_type, low), _bound(field.result_type, high)


def avro_value(result_type: str, told: Json) -> Any:
    """Return the Avro value for a value in the document's form."""
    match result_type:
        case "decimal(9, 2)":
            return Decimal(told)
        case "uuid":
            return UUID(told).bytes
        case "fixed[4]" | "binary":
            return bytes.fromhex(told)
        case "date":
            return (date.fromisoformat(told) - _EPOCH.date()).days
        case "time":
            return avro_value("timestamp", f"1970-01-01T{told}")
        case "timestamp":
            return avro_value("timestamptz", f"{told}+00:00")
        case "timestamptz":
            return (datetime.fromisoformat(told) - _EPOCH) // _MICROSECOND
        case _:
            return told


def fields_of(rows: Iterable[_Row]) -> tuple[PartitionField, ...]:
    """Return one partition field for each row, each with its own column."""
    # Each column has one field, because a spec with two fields of one column may be refused.
    return tuple(PartitionField(f"c{at}", *row) for at, row in enumerate(rows, start=1))


def layout_of(fields: Sequence[PartitionField]) -> Layout:
    """Return the layout of a table with these fields.

    A manifest has both partitions of each field, so that its summary is known.
    """
    columns = (bodies.struct_field(int(f.column[1:]), f.column, f.type) for f in fields)
    return Layout(
        bodies.schema(*columns),
        bodies.partition_spec(
            *(
                bodies.partition_field(at, field.transform, f"p{at}", 999 + at)
                for at, field in enumerate(fields, start=1)
            )
        ),
        tuple(_avro_type(field) for field in fields),
        tuple(_summary(field) for field in fields),
    )


def same(type_: str, after: Json, before: Json) -> _Row:
    """Return the row of an identity transform with two values of a column."""
    return type_, "identity", _one(after), _one(before)


FIELDS = fields_of(_ROWS)
LAYOUT = layout_of(FIELDS)
