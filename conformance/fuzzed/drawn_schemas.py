"""Strategies for schemas and what refers to their columns: partition specs and sort orders.

Only small choices are drawn, so that the same seed draws the same everywhere.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icecheck.client import bodies
from icecheck.objects.edge_values import STRINGS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Json = dict[str, Any]

_TRANSFORMS: Mapping[str, tuple[str, ...]] = {
    "boolean": ("identity", "void"),
    "int": ("identity", "bucket[16]", "truncate[10]"),
    "long": ("identity", "bucket[1]", "truncate[1000]", "void"),
    "float": ("void",),
    "double": ("void",),
    "date": ("identity", "year", "month", "day", "bucket[7]"),
    "time": ("identity", "bucket[2]"),
    "timestamp": ("hour", "day", "month", "year"),
    "timestamptz": ("hour", "day", "identity"),
    "string": ("identity", "truncate[1]", "bucket[2147483647]"),
    "uuid": ("identity", "bucket[8]"),
    "binary": ("truncate[4]", "bucket[8]"),
    "decimal(9,2)": ("identity", "truncate[50]"),
    "decimal(38,38)": ("bucket[3]",),
    "fixed[16]": ("identity", "bucket[5]"),
}
"""Each primitive type that is drawn, and the transforms that take it."""
_NAMES = (
    "id", "data", "a", "A", "a.b", "element", "key", "value", " b ", "select", "stra\u00dfe",
    "\u00e9", "\U0001f427", "x" * 300, "per%41cent", "1", "_",
)  # fmt: skip
_DEPTH_MAX = 3
_COLUMNS_MAX = 5
_FIRST_ADDED = 100
"""The first id of columns that commits add: above those of the tables that checks make."""


def texts() -> "SearchStrategy[str]":
    """Draw a text that a careless server alters, or a plain one."""
    from hypothesis import strategies as st

    return st.sampled_from(("plain", "plain", *(each.value for each in STRINGS)))


def string_maps(keys_max: int = 4) -> "SearchStrategy[dict[str, str]]":
    """Draw properties: few keys, unusual values."""
    from hypothesis import strategies as st

    keys = st.sampled_from(("icecheck.generated", "icecheck.a", "icecheck.A", "", "a b", "\u00e9"))
    return st.dictionaries(keys, texts(), max_size=keys_max)


def schemas(*, added_to: Sequence[Json] = ()) -> "SearchStrategy[Json]":
    """Draw a schema whose fields all have ids of their own, nested ones included.

    With ``added_to`` it has those columns too, in front, and higher ids for its own.
    """
    from hypothesis import strategies as st

    taken = {field["name"] for field in added_to}
    names = st.sampled_from([name for name in _NAMES if name not in taken])
    least = 0 if added_to else 1
    named = st.lists(names, min_size=least, max_size=_COLUMNS_MAX, unique=True)
    first = st.sampled_from((_FIRST_ADDED,) if added_to else (0, 1, 1, 7))

    def of(chosen: list[str]) -> "SearchStrategy[Json]":
        shapes = st.tuples(*(_fields(name, _DEPTH_MAX) for name in chosen))
        return st.builds(_schema, st.just(added_to), shapes, first, st.booleans(), st.booleans())

    return named.flatmap(of)


def _schema(
    before: Sequence[Json], shapes: Sequence[Json], first: int, top_first: bool, identified: bool
) -> Json:
    """Number the fields of a schema, the columns themselves first or each with what is in it."""
    ids = itertools.count(first)
    own = [next(ids) for _ in shapes] if top_first else []
    fields = [
        {**shape, "id": own[at] if top_first else next(ids), "type": _numbered(shape["type"], ids)}
        for at, shape in enumerate(shapes)
    ]
    made: Json = {"type": "struct", "schema-id": 0, "fields": [*before, *fields]}
    keys = [
        field["id"]
        for field in made["fields"]
        if field["required"] and isinstance(field["type"], str) and field["type"] not in _FLOATING
    ]
    return {**made, "identifier-field-ids": keys} if identified and keys else made


_FLOATING = frozenset({"float", "double"})


def _fields(name: str, depth: int) -> "SearchStrategy[Json]":
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"name": st.just(name), "required": st.booleans(), "type": _types(depth)},
        optional={"doc": texts()},
    )


def _types(depth: int) -> "SearchStrategy[Any]":
    """Draw a type whose fields have no ids yet."""
    from hypothesis import strategies as st

    primitive = st.sampled_from(tuple(_TRANSFORMS))
    if depth == 0:
        return primitive
    inner = st.deferred(lambda: _types(depth - 1))
    lists = st.fixed_dictionaries(
        {"type": st.just("list"), "element": inner, "element-required": st.booleans()}
    )
    maps = st.fixed_dictionaries(
        {"type": st.just("map"), "key": inner, "value": inner, "value-required": st.booleans()}
    )
    named = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3, unique=True)
    structs = named.flatmap(
        lambda chosen: st.tuples(*(_fields(name, depth - 1) for name in chosen))
    ).map(lambda fields: {"type": "struct", "fields": [*fields]})
    return st.one_of(primitive, primitive, lists, maps, structs)


def _numbered(shape: Any, ids: Iterator[int]) -> Any:
    match shape:
        case {"type": "list"}:
            own = {"element-id": next(ids)}
            return {**shape, **own, "element": _numbered(shape["element"], ids)}
        case {"type": "map"}:
            own = {"key-id": next(ids), "value-id": next(ids)}
            inner = {end: _numbered(shape[end], ids) for end in ("key", "value")}
            return {**shape, **own, **inner}
        case {"type": "struct"}:
            fields = [{**f, "id": next(ids)} for f in shape["fields"]]
            return {
                "type": "struct",
                "fields": [{**f, "type": _numbered(f["type"], ids)} for f in fields],
            }
    return shape


def columns_of(schema: Json) -> list[tuple[int, str]]:
    """Return the id and the type of each column that a spec or an order may refer to."""
    columns = [(f["id"], f["type"]) for f in schema["fields"] if isinstance(f["type"], str)]
    return [(id_, type_) for id_, type_ in columns if type_ in _TRANSFORMS]


def specs(columns: Sequence[tuple[int, str]], first: int = 1000) -> "SearchStrategy[Json]":
    """Draw a partition spec over these columns."""
    from hypothesis import strategies as st

    def spec(chosen: Sequence[tuple[int, str]], numbered: bool, offset: int) -> Json:
        fields = [
            bodies.partition_field(
                source, transform, f"p{at}_{offset}", first + offset + at if numbered else None
            )
            for at, (source, transform) in enumerate(chosen)
        ]
        return bodies.partition_spec(*fields)

    return st.builds(spec, _over(columns), st.booleans(), st.sampled_from((0, 0, 1, 50)))


def sort_orders(columns: Sequence[tuple[int, str]]) -> "SearchStrategy[Json]":
    """Draw a sort order over these columns."""
    from hypothesis import strategies as st

    def order(chosen: Sequence[tuple[int, str]], ends: Sequence[tuple[str, str]]) -> Json:
        fields = [
            {"source-id": s, "transform": t, "direction": direction, "null-order": nulls}
            for (s, t), (direction, nulls) in zip(chosen, itertools.cycle(ends), strict=False)
        ]
        return {"order-id": 1 if fields else 0, "fields": fields}

    end = st.tuples(
        st.sampled_from(("asc", "desc")), st.sampled_from(("nulls-first", "nulls-last"))
    )
    return st.builds(order, _over(columns), st.lists(end, min_size=1, max_size=3))


def _over(columns: Sequence[tuple[int, str]]) -> "SearchStrategy[list[tuple[int, str]]]":
    """Draw different columns, each with a transform that takes it."""
    from hypothesis import strategies as st

    pairs = [(id_, transform) for id_, type_ in columns for transform in _TRANSFORMS[type_]]
    if not pairs:
        return st.just([])
    return st.lists(st.sampled_from(pairs), max_size=3, unique_by=lambda pair: pair[0])
