"""Checks that the next load shows the columns of views that were accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace
from icecheck.conformance.kit.bisection import expect_kept, send_in_pieces
from icecheck.conformance.round_trips.view_roundtrip import (
    current_version,
    expect_frame,
    given_two,
    metadata_of,
    next_version,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.objects import metadata_view
from icecheck.objects.arranging import require
from icecheck.objects.comparing import expect_answer
from icecheck.objects.edge_values import STRINGS
from icecheck.objects.evolving import schema_addition
from icecheck.objects.reading import supported
from icecheck.objects.round_trip import shown_of
from icecheck.objects.views import (
    View,
    create_view_body,
    expect_view_unchanged,
    replace_view,
)
from icecheck.replies.expect import Reply, equal

Json = dict[str, Any]

_FIELD = bodies.struct_field
_VIEW = "createView", "loadView"
_PRIMITIVES = (
    "boolean", "int", "long", "float", "double", "decimal(9,0)", "decimal(38,10)", "date", "time",
    "timestamp", "timestamptz", "string", "uuid", "fixed[16]", "binary",
)  # fmt: skip


def _columns() -> list[tuple[str, Json]]:
    """Return columns with one odd property each; all ids are unique, including nested ones."""
    plain = [(kind, _FIELD(n, f"c{n}", kind)) for n, kind in enumerate(_PRIMITIVES, start=1)]
    docs = [
        (f"a doc: {each.what}", _FIELD(100 + n, f"d{n}", "int", doc=each.value))
        for n, each in enumerate(STRINGS)
    ]
    names = [
        (f"a name: {each.what}", _FIELD(200 + n, f"n{n}{each.value}", "int", required=n % 2 == 0))
        for n, each in enumerate(STRINGS[1::2])
    ]
    return [*plain, *_nested(), *docs, *names]


def _nested() -> list[tuple[str, Json]]:
    """Return columns with structs in lists in maps; "required" differs between the levels."""
    made = []
    for n, required in enumerate((True, False)):
        first = 300 + 10 * n
        inner = {
            "type": "struct",
            "fields": [
                _FIELD(first + 1, "z", "decimal(9,2)", required=required, doc=""),
                _FIELD(first + 2, "a", "string", required=not required),
            ],
        }
        listed = {
            "type": "list",
            "element-id": first + 3,
            "element": inner,
            "element-required": required,
        }
        mapped = {
            "type": "map",
            "key-id": first + 4,
            "key": "string",
            "value-id": first + 5,
            "value": listed,
            "value-required": not required,
        }
        what = f"a struct in a list in a map, element-required {required}"
        made.append((what, _FIELD(first, f"m{n}", mapped, required=required)))
    return made


def _schema(some: Sequence[tuple[str, Json]], schema_id: int = 0) -> Json:
    return bodies.schema(*(column for _, column in some), schema_id=schema_id)


def _expect_schema(reply: Reply, metadata: Mapping[str, Any], sent: Json) -> None:
    """Judge that the current version's schema has the sent columns, in order."""
    schema_id = current_version(metadata).get("schema-id")
    schemas = metadata.get("schemas") or ()
    found = [metadata_view.shape(s) for s in schemas if s.get("schema-id", 0) == schema_id]
    due = {str(n): column for n, column in enumerate(metadata_view.shape(sent))}
    shown = {str(n): column for n, column in enumerate(found[0] if found else [])}
    expect_kept(reply, due, shown, EFFECT_MISSING.of("view-schema"))
    equal(
        len(shown), len(due), symptom=EFFECT_MISSING.of("view-schema"), detail="number of columns"
    )


@generated_check("roundtrip.view-schema.created", proves="roundtrip.view-schema-created")
def test_schema_of_a_creation(catalog: Catalog) -> None:
    """A view has every column that it was created with: name, type, required and doc, in order."""
    require(catalog, *_VIEW)
    namespace = shared_namespace(catalog)

    def send(some: Sequence[tuple[str, Json]]) -> Reply:
        name, sent = catalog.new_name(), _schema(some)
        reply = supported(
            catalog.create_view(namespace, create_view_body(name, namespace, schema=sent))
        )
        if reply.ok:
            view = View(namespace, name, {}, None)
            loaded, metadata = metadata_of(catalog, view)
            _expect_schema(loaded, metadata, sent)
            expect_answer(reply, shown_of(loaded, view), "columns")
        return reply

    send_in_pieces(_columns(), send)


@generated_check("roundtrip.view-schema.replaced", proves="roundtrip.view-schema-replaced")
def test_schema_of_a_commit(catalog: Catalog) -> None:
    """A schema that a commit adds to a view has every column sent, and all else stays."""
    require(catalog, *_VIEW)
    view, beside = given_two(catalog)
    number = 1

    def send(some: Sequence[tuple[str, Json]]) -> Reply:
        nonlocal number
        number += 1
        sent = _schema(some, number)
        updates = [
            schema_addition({}, sent),
            {
                "action": "add-view-version",
                "view-version": next_version(view, number, **{"schema-id": -1}),
            },
            {"action": "set-current-view-version", "view-version-id": -1},
        ]
        reply = supported(replace_view(catalog, view, updates))
        if reply.ok:
            loaded, metadata = metadata_of(catalog, view)
            _expect_schema(loaded, metadata, sent)
            expect_answer(reply, shown_of(loaded, view), "columns")
        return reply

    send_in_pieces(_columns(), send)
    expect_frame(catalog, view, "versions", "current-version-id", "schemas")
    expect_view_unchanged(catalog, beside)
