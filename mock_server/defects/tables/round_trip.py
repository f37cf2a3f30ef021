"""Defects of round trips of tables: texts trimmed or folded, lists sorted, caches."""

import html
import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import objects
from icecheck.mock_server.defects.kit.remembering import answer_again
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body, wrap

_COLUMN_WIDTH = 4000
_FIELDS = "fields"


def _member(registries: Registries, member: str, alter: Callable[[Any], Any]) -> None:
    def altered(body: Json) -> Json:
        return body | {member: alter(body[member])} if body.get(member) else body

    alter_request_body(registries, "createTable", altered)


@defect(
    "create-docs-trimmed",
    breaks="roundtrip.createTable.columns",
    suffering="What was written about a column is laid out otherwise.",
)
def _docs_trimmed(registries: Registries) -> None:
    """Docs of columns lose the blanks and line ends around them."""

    def trimmed(field: Json) -> Json:
        return field | {"doc": field["doc"].strip()} if isinstance(field.get("doc"), str) else field

    _member(registries, "schema", lambda schema: objects(schema, trimmed))


@defect(
    "create-list-in-map-optional",
    breaks="roundtrip.createTable.columns",
    suffering="A column takes nulls that its owner forbade.",
)
def _inner_elements_optional(registries: Registries) -> None:
    """Elements of a list that is the value of a map are optional, whatever was asked for."""

    def optional(type_: Json) -> Json:
        value = type_.get("value")
        if isinstance(value, dict) and "element-required" in value:
            return type_ | {"value": value | {"element-required": False}}
        return type_

    _member(registries, "schema", lambda schema: objects(schema, optional))


@defect(
    "create-defaults-false-are-none",
    breaks="roundtrip.createTable.columns",
    suffering="Old rows show null where a zero, or nothing, was meant.",
)
def _falsy_defaults(registries: Registries) -> None:
    """Write defaults that are false, zero or empty are taken for none."""

    def without(field: Json) -> Json:
        return {k: v for k, v in field.items() if k != "write-default" or v}

    _member(registries, "schema", lambda schema: objects(schema, without))


@defect(
    "create-partition-names-collapsed",
    breaks="roundtrip.createTable.layout",
    suffering="Paths of partitions are not what their writer computes.",
)
def _partition_names_collapsed(registries: Registries) -> None:
    """Whatever is no letter, digit or mark in the name of a partition field becomes one blank."""

    def collapsed(field: Json) -> Json:
        return field | {"name": " ".join(str(field["name"]).split())} if "name" in field else field

    _member(registries, "partition-spec", lambda spec: objects(spec, collapsed))


@defect(
    "create-order-by-column-id",
    on=through(_member, "write-order"),
    breaks="roundtrip.createTable.layout",
    suffering="Files are sorted by the second column first.",
)
def _order_by_column_id(order: Json) -> Json:
    """The fields of a write order stand in the order of the columns' ids."""
    return order | {_FIELDS: sorted(order[_FIELDS], key=lambda field: field["source-id"])}


def _values(registries: Registries, alter: Callable[[str], str]) -> None:
    def altered(properties: Json) -> Json:
        return {k: alter(v) if isinstance(v, str) else v for k, v in properties.items()}

    _member(registries, "properties", altered)


declare_each(
    ("create-properties-composed", "roundtrip.createTable.properties",
     "Values of properties are stored in normal form C.",
     "A path with an accent names another file.",
     by(_values, lambda value: unicodedata.normalize("NFC", value))),
    ("create-properties-cut", "roundtrip.createTable.properties",
     "Values of properties are cut to 4000 characters.",
     "The end of a long setting is missing, and nobody is told.",
     by(_values, lambda value: value[:_COLUMN_WIDTH])),
    ("create-properties-unescaped", "roundtrip.createTable.properties",
     "Values of properties are unescaped as HTML.", "What was escaped on purpose is markup again.",
     by(_values, html.unescape)),
)  # fmt: skip


@defect(
    "load-name-as-pattern",
    breaks="roundtrip.loadTable.own",
    suffering="Whoever reads a_b gets the rows of axb.",
)
def _name_as_pattern(registries: Registries) -> None:
    """A table is looked up with LIKE: an underscore stands for any character, the latest wins."""
    made: dict[Any, list[str]] = {}

    def noting(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = json.loads(call.request.body)["name"]
        made.setdefault((faithful.context.warehouse, call.namespace), []).append(name)
        return outcome

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        pattern = re.compile(re.escape(call.name).replace("_", "."))
        names = made.get((faithful.context.warehouse, call.namespace), [])
        found = [n for n in names if pattern.fullmatch(n) and state.table(call.namespace, n)]
        return faithful(state, structs.replace(call, name=[call.name, *found][-1]))

    wrap(registries, "createTable", noting)
    wrap(registries, "loadTable", around)


declare(
    "load-refs-from-last-answer",
    "Loads with snapshots=refs are cached by namespace, and the table's name is no part of it.",
    by(
        answer_again,
        "loadTable",
        lambda context, _, call: (
            (context.warehouse, call.namespace) if call.query.get("snapshots") == "refs" else None
        ),
    ),
    breaks="roundtrip.loadTable.own",
    suffering="A planner that asks for refs only plans the files of another table.",
)
