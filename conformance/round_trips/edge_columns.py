"""Legal columns, usual and unusual, that a careless server stores as something else."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.objects.edge_values import KEYS, STRINGS

Json = dict[str, Any]
Ids = Iterator[int]
Column = Callable[[Ids], Json]
"""Makes a column from ids that are not used yet."""

STRUCT = bodies.struct_field

TABLE_SCHEMA = bodies.schema(
    STRUCT(1, "id", "long", required=True),
    STRUCT(2, "data", "string", doc="what it is"),
    STRUCT(3, "day", "date"),
    STRUCT(4, "at", "timestamptz", required=True),
    STRUCT(5, "price", "decimal(9,2)"),
    identifier_field_ids=[1, 4],
)
"""The schema of tables whose layout is changed; two columns form the identifier."""

_PRIMITIVES = (
    "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
    "string", "uuid", "binary",
    "decimal(38,0)",  # some omit a scale of 0
    "decimal(38,38)", "decimal(1,1)",
    "fixed[1]", "fixed[16]",  # some read a uuid
    "fixed[65536]",
)  # fmt: skip
_PRIMITIVES_OF_VERSION_3 = ("timestamp_ns", "timestamptz_ns")

# Defaults that servers easily take for a missing one, or write in another form.
_DEFAULTS: tuple[tuple[str, Any], ...] = (
    ("boolean", False),
    ("int", 0),
    ("int", -(2**31)),
    ("long", 0),
    ("long", 2**53 + 1),
    ("long", 2**63 - 1),
    ("long", -(2**63)),
    ("double", 1e-7),
    ("double", 1.7976931348623157e308),
    ("decimal(9,4)", "1.5000"),
    ("decimal(9,2)", "0.00"),
    ("decimal(38,0)", "-12345678901234567890123456789012345678"),
    ("date", "0001-01-01"),
    ("timestamptz", "1969-12-31T23:59:59.999999+00:00"),
    ("time", "00:00:00.000001"),
    ("fixed[3]", "00FF0A"),
    ("binary", ""),
    *(("string", each.value) for each in STRINGS),
)


def _list(ids: Ids, element: Any, *, required: bool) -> Json:
    made = {"type": "list", "element-id": next(ids), "element-required": required}
    return {**made, "element": element(ids) if callable(element) else element}


def _map(ids: Ids, key: Any, value: Any, *, required: bool) -> Json:
    made: Json = {"type": "map", "key-id": next(ids), "value-id": next(ids)}
    made |= {"key": key(ids) if callable(key) else key, "value-required": required}
    return {**made, "value": value(ids) if callable(value) else value}


def _point(ids: Ids, *, required: bool = True) -> Json:
    fields = [
        STRUCT(next(ids), "Lat", "double", required=required, doc=" degrees\t"),
        STRUCT(next(ids), "lat", "double", required=not required),
        STRUCT(next(ids), "a.b", "string", doc=" "),
    ]
    return {"type": "struct", "fields": fields}


def _nested(required: bool) -> tuple[Column, ...]:
    said = "required" if required else "optional"

    def column(name: str, type_: Callable[[Ids], Json]) -> Column:
        return lambda ids: STRUCT(next(ids), f"{said} {name}", type_(ids))

    return (
        column("list", lambda ids: _list(ids, "string", required=required)),
        column("map", lambda ids: _map(ids, "string", "long", required=required)),
        column(
            "list of maps of structs",
            lambda ids: _list(
                ids,
                lambda inner: _map(
                    inner, "int", lambda i: _point(i, required=required), required=required
                ),
                required=not required,
            ),
        ),
        column(
            "map of structs to lists of lists",
            lambda ids: _map(
                ids,
                _point,
                lambda inner: _list(
                    inner, lambda i: _list(i, "decimal(9,0)", required=required), required=required
                ),
                required=not required,
            ),
        ),
        column(
            "struct in a struct in a struct",
            lambda ids: {
                "type": "struct",
                "fields": [
                    STRUCT(
                        next(ids),
                        "inner",
                        {
                            "type": "struct",
                            "fields": [
                                STRUCT(next(ids), "point", _point(ids), required=required, doc="p")
                            ],
                        },
                        required=required,
                    )
                ],
            },
        ),
    )


def _documented(at: int, doc: str) -> Column:
    return lambda ids: STRUCT(next(ids), f"documented_{at}", "string", doc=doc)


def _named(name: str, *, required: bool) -> Column:
    return lambda ids: STRUCT(next(ids), name, "int", required=required)


def _typed(type_: str) -> Column:
    return lambda ids: STRUCT(next(ids), f"of {type_}", type_)


def _with_default(at: int, type_: str, value: Any) -> Column:
    """Return a column with this initial default and the next value of its type as write default."""
    values = [each for other, each in _DEFAULTS if other == type_]
    following = values[(values.index(value) + 1) % len(values)]
    defaults = {"initial_default": value, "write_default": following}
    return lambda ids: STRUCT(next(ids), f"default_{at}", type_, **defaults)


def _with_one_default(member: str) -> Column:
    default: dict[str, Any] = {member: 2**53 + 1}
    return lambda ids: STRUCT(next(ids), f"only {member}", "long", **default)


COLUMNS: dict[str, tuple[Column, ...]] = {
    # An empty doc has the meaning of a missing one.
    "docs of columns": tuple(_documented(at, s.value) for at, s in enumerate(STRINGS) if s.value),
    "names of columns": tuple(
        _named(name, required=False)
        for name in dict.fromkeys(each.value for each in (*STRINGS, *KEYS))
        if name
    ),
    "types of columns": tuple(_typed(type_) for type_ in _PRIMITIVES),
    "nested columns": (*_nested(required=True), *_nested(required=False)),
    "one column": (_named("only", required=False),),
}
"""Description of the group -> columns that a table of any format version may have."""

COLUMNS_OF_VERSION_3: dict[str, tuple[Column, ...]] = {
    "types of version 3": tuple(_typed(type_) for type_ in _PRIMITIVES_OF_VERSION_3),
    "defaults of columns": (
        *(_with_default(at, type_, value) for at, (type_, value) in enumerate(_DEFAULTS)),
        *(_with_one_default(member) for member in ("initial_default", "write_default")),
    ),
}
"""The same, for tables of format version 3."""


def numbered(columns: Sequence[Column], first_id: int) -> list[Json]:
    """Return columns with ids from ``first_id`` on; no two fields share an id."""
    ids = iter(range(first_id, first_id + 100_000))
    return [column(ids) for column in columns]
