"""Column types, default values and transforms."""

import pytest

from icecheck.mock_server.metadata.column_types import (
    ListType,
    MapType,
    StructType,
    canonical_primitive,
    decimal_shape,
    fixed_length,
    is_primitive,
    minimum_format_version,
)
from icecheck.mock_server.metadata.defaults import canonical_default
from icecheck.mock_server.metadata.transforms import applies_to, canonical_transform

VERSION_1 = (
    "boolean", "int", "long", "float", "double", "decimal(9, 2)", "date", "time", "timestamp",
    "timestamptz", "string", "uuid", "fixed[16]", "binary",
)  # fmt: skip
VERSION_3 = (
    "timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geometry(srid:4326)",
    "geography", "geography(OGC:CRS84)", "geography(OGC:CRS84, karney)",
)  # fmt: skip


@pytest.mark.parametrize("text", VERSION_1)
def test_a_plain_type_is_known_since_version_1(text):
    assert canonical_primitive(text) == text
    assert minimum_format_version(text) == 1


@pytest.mark.parametrize("text", VERSION_3)
def test_a_new_type_is_known_since_version_3(text):
    assert canonical_primitive(text) == text
    assert minimum_format_version(text) == 3


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("decimal(9,2)", "decimal(9, 2)"),
        ("decimal( 09 , 02 )", "decimal(9, 2)"),
        ("decimal(38,38)", "decimal(38, 38)"),
        ("decimal(1,1)", "decimal(1, 1)"),
        ("fixed[016]", "fixed[16]"),
        ("LONG", "long"),
        ("Decimal(9,2)", "decimal(9, 2)"),
        ("FIXED[4]", "fixed[4]"),
        ("Geometry(SRID:4326)", "geometry(SRID:4326)"),
        ("geometry( srid:4326 )", "geometry(srid:4326)"),
        ("geography( srid:4326 ,spherical )", "geography(srid:4326, spherical)"),
    ],
)
def test_a_type_has_one_spelling(sent, stored):
    assert canonical_primitive(sent) == stored


@pytest.mark.parametrize(
    "text",
    [
        "", "banana", "struct", "list", "decimal", "decimal(39, 2)", "decimal(0, 0)",
        "decimal(2, 3)", "fixed", "fixed[-1]", "fixed[x]", "int[3]", "geometry()",
        "geography(a, flat)", "decimal(" + "9" * 5000 + ", 1)", "decimal(\u0663, \u0661)",
    ],
)  # fmt: skip
def test_another_type_name_is_refused(text, refused):
    with refused(400):
        canonical_primitive(text)


def test_nested_types_and_variant_are_no_plain_values():
    assert is_primitive("long")
    for nested in (
        "variant",
        StructType(fields=()),
        ListType(element_id=1, element="int", element_required=True),
        MapType(key_id=1, key="int", value_id=2, value="int", value_required=False),
    ):
        assert not is_primitive(nested)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("boolean", True),
        ("int", -(2**31)),
        ("long", 2**63 - 1),
        ("double", 1.5),
        ("decimal(9, 2)", "-1234567.89"),
        ("decimal(2, 0)", "12"),
        ("decimal(2, 2)", "0.12"),
        ("date", "2024-02-29"),
        ("time", "23:59:59.999999"),
        ("timestamp", "2024-02-29T01:02:03"),
        ("timestamp_ns", "2024-02-29T01:02:03.123456789"),
        ("timestamptz", "2024-02-29T01:02:03.123456+00:00"),
        ("timestamptz_ns", "2024-02-29T01:02:03.123456789Z"),
        ("string", ""),
        ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
        ("fixed[2]", "00FF"),
        ("binary", ""),
    ],
)
def test_a_default_of_its_type_is_kept(kind, value):
    assert canonical_default(kind, value) == value


@pytest.mark.parametrize(
    ("kind", "sent", "stored"),
    [
        ("fixed[2]", "00ff", "00FF"),
        ("binary", "aB", "AB"),
        (
            "uuid",
            "F79C3E09-677C-4BBD-A479-3F349CB785E7",
            "f79c3e09-677c-4bbd-a479-3f349cb785e7",
        ),
    ],
)
def test_a_default_has_the_case_that_the_document_demands(kind, sent, stored):
    assert canonical_default(kind, sent) == stored


def test_a_whole_default_of_a_float_is_stored_as_a_float():
    assert repr(canonical_default("float", 3)) == "3.0"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("boolean", 1),
        ("boolean", "true"),
        ("int", True),
        ("int", 2**31),
        ("int", 1.0),
        ("long", 2**63),
        ("double", "1"),
        ("double", 10**400),
        ("float", False),
        ("decimal(9, 2)", 1.25),
        ("decimal(9, 2)", "1.5"),
        ("decimal(9, 2)", "1e2"),
        ("decimal(3, 2)", "12.34"),
        ("date", "2023-02-29"),
        ("date", "20230201"),
        ("time", "24:00:00"),
        ("timestamp", "2024-02-29T01:02:03+00:00"),
        ("timestamp", "2024-02-30T01:02:03"),
        ("timestamptz", "2024-02-29T01:02:03"),
        ("timestamptz", "2024-02-29T01:02:03+01:00"),
        ("timestamp_ns", "2024-02-29T01:02:03.1234567890"),
        ("string", 1),
        ("uuid", "not-a-uuid"),
        ("fixed[2]", "00"),
        ("binary", "0g"),
        ("variant", "x"),
        ("geometry", "POINT(0 0)"),
        ("unknown", "x"),
        (StructType(fields=()), "x"),
    ],
)
def test_a_default_of_another_type_is_refused(kind, value, refused):
    with refused(400, "Invalid default value"):
        canonical_default(kind, value)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("identity", "identity"),
        ("Year", "year"),
        ("BUCKET[016]", "bucket[16]"),
        ("truncate[4]", "truncate[4]"),
        ("bucket[2147483647]", "bucket[2147483647]"),
        ("void", "void"),
        ("zorder", "zorder"),
        ("bucket[x]", "bucket[x]"),
        ("truncate[ 3 ]", "truncate[ 3 ]"),
    ],
)
def test_a_known_transform_has_one_spelling_and_an_unknown_one_is_kept(sent, stored):
    assert canonical_transform(sent) == stored


@pytest.mark.parametrize(
    "text", ["bucket[0]", "truncate[00]", "bucket[2147483648]", "truncate[" + "9" * 5000 + "]"]
)
def test_a_transform_of_no_width_is_refused(text, refused):
    with refused(400, "the width must be positive"):
        canonical_transform(text)


@pytest.mark.parametrize(
    ("transform", "fits", "unfit"),
    [
        ("identity", ("int", "string", "timestamptz_ns"), ("variant", "geometry", "geography(a)")),
        ("bucket[4]", ("int", "decimal(9, 2)", "uuid", "fixed[3]"), ("float", "boolean")),
        (
            "truncate[4]",
            ("long", "string", "binary", "decimal(9, 2)"),
            ("uuid", "date", "fixed[3]"),
        ),
        ("year", ("date", "timestamp", "timestamp_ns"), ("time", "int")),
        ("month", ("date", "timestamptz"), ("string",)),
        ("day", ("date", "timestamptz_ns"), ("long",)),
        ("hour", ("timestamp", "timestamptz_ns"), ("date", "time")),
        ("zorder", ("int", "boolean"), ("variant", StructType(fields=()))),
        ("truncate[ 3 ]", ("timestamptz", "boolean"), ("variant",)),
        ("bucket", ("float",), ("variant",)),
        ("year[3]", ("int",), ("variant",)),
        ("void", ("int", "variant", StructType(fields=())), ()),
    ],
)
def test_a_transform_applies_to_the_types_it_is_defined_for(transform, fits, unfit):
    assert [kind for kind in fits if not applies_to(transform, kind)] == []
    assert [kind for kind in unfit if applies_to(transform, kind)] == []


def test_the_parameters_of_another_type_are_refused(refused):
    assert (decimal_shape("decimal(9, 2)"), fixed_length("fixed[16]")) == ((9, 2), 16)
    with refused(400, "Not a decimal type"):
        decimal_shape("int")
    with refused(400, "Not a fixed type"):
        fixed_length("int")
