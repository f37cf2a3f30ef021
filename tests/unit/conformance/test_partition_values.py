"""What the suite takes for the partition of a value is what another library computes."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from icecheck.conformance.scans.partition_values import FIELDS, PartitionField, avro_value

TYPES: dict[str, IcebergType] = {
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "decimal(9, 2)": DecimalType(9, 2),
    "string": StringType(),
    "uuid": UUIDType(),
    "date": DateType(),
    "time": TimeType(),
    "timestamp": TimestampType(),
    "timestamptz": TimestamptzType(),
    "fixed[4]": FixedType(4),
    "binary": BinaryType(),
}
EPOCH = dt.date(1970, 1, 1)


def value_of(type_: str, told: Any) -> Any:
    value = avro_value(type_, told)
    return uuid.UUID(bytes=value) if type_ == "uuid" else value


def known(field: PartitionField, value: Any) -> Any:
    """What the other library computes, as the document would write it."""
    found = parse_transform(field.transform).transform(TYPES[field.type])(value)
    return found if field.transform != "day" else str(EPOCH + dt.timedelta(days=found))


@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f"{f.transform}-of-{f.type}")
def test_a_value_belongs_to_its_partition(field: PartitionField) -> None:
    for part in (field.after, field.before):
        due = part.value
        if field.result_type == field.type and field.transform != "day":
            due = value_of(field.type, part.value)
        assert [known(field, value_of(field.type, v)) for v in (part.first, part.last)] == [due] * 2


def test_bounds_are_what_another_library_reads() -> None:
    decimals = next(f for f in FIELDS if f.transform == "truncate[50]")
    assert decimals.bounds(decimals.before) == (b"\xce", b"\xff")
    assert Decimal(decimals.before.first) == Decimal("-0.50")
    longs = next(f for f in FIELDS if (f.type, f.transform) == ("long", "truncate[10]"))
    low, high = longs.bounds(longs.after) or (b"", b"")
    assert (len(low), len(high)) == (8, 8)
    assert longs.bounds(longs.before) == (b"\xf6\xff\xff\xff", b"\xff\xff\xff\xff")
