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
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_created,
    wrap,
)

_COLUMN_WIDTH = 4000


def _objects(registries: Registries, member: str, alter: Callable[[Json], Json]) -> None:
    """Let createTable see altered objects in a member, at any depth."""
    alter_created(registries, member, lambda value: objects(value, alter))


@defect(
    "create-list-in-map-optional",
    on=through(_objects, "schema"),
    breaks="roundtrip.createTable.columns",
    suffering="A column takes nulls that its owner forbade.",
)
def _inner_elements_optional(type_: Json) -> Json:
    """Elements of a list that is the value of a map are optional, whatever was asked for."""
    value = type_.get("value")
    if isinstance(value, dict) and "element-required" in value:
        return type_ | {"value": value | {"element-required": False}}
    return type_


declare_each(
    ("create-docs-trimmed", "roundtrip.createTable.columns",
     "Docs of columns lose the blanks and line ends around them.",
     "What was written about a column is laid out otherwise.",
     by(_objects, "schema",
        lambda each: each | {"doc": each["doc"].strip()} if each.get("doc") else each)),
    ("create-defaults-false-are-none", "roundtrip.createTable.columns",
     "Write defaults that are false, zero or empty are taken for none.",
     "Old rows show null where a zero, or nothing, was meant.",
     by(_objects, "schema",
        lambda each: {k: v for k, v in each.items() if k != "write-default" or v})),
    ("create-partition-names-collapsed", "roundtrip.createTable.layout",
     "Whatever is no letter, digit or mark in the name of a partition field becomes one blank.",
     "Paths of partitions are not what their writer computes.",
     by(_objects, "partition-spec",
        lambda each: each | {"name": " ".join(each["name"].split())} if "name" in each else each)),
    ("create-order-by-column-id", "roundtrip.createTable.layout",
     "The fields of a write order stand in the order of the columns' ids.",
     "Files are sorted by the second column first.",
     by(alter_created, "write-order",
        lambda order: order | {
            "fields": sorted(order["fields"], key=lambda field: field["source-id"])
        })),
)  # fmt: skip


def _values(registries: Registries, alter: Callable[[str], str]) -> None:
    def altered(properties: Json) -> Json:
        return {k: alter(v) if isinstance(v, str) else v for k, v in properties.items()}

    alter_created(registries, "properties", altered)


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
