"""Defects of servers that announce a separator of levels, and understand one of the two only."""

from collections.abc import Callable

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, Levels
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_call, with_answer, wrap_each
from icecheck.mock_server.protocol import names

_UNIT = "%1F"


def _as_one_level(levels: Levels) -> Levels:
    return (names.NAMESPACE_SEPARATOR.join(levels),)


def _join_at(registries: Registries, separates: Callable[[Faithful, str], bool]) -> None:
    """Read the levels of a path as one where `separates` holds for it in upper case."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if separates(faithful, call.request.raw_path.upper()):
            call = replace(call, namespace=_as_one_level(call.namespace))
        return faithful(state, call)

    wrap_each(registries, registries.operations, around)


def _announced(faithful: Faithful, path: str) -> bool:
    separator = faithful.context.separator
    return separator is not None and separator.upper() in path and _UNIT not in path


def _altered_parent(registries: Registries, alter: Callable[[str], str]) -> None:
    """Let listNamespaces see another parent where one has several levels joined by 0x1F."""

    def altered(call: Call) -> Call:
        parent = call.query.get("parent", "")
        if names.NAMESPACE_SEPARATOR not in parent:
            return call
        return replace(call, query={**call.query, "parent": alter(parent)})

    alter_call(registries, "listNamespaces", altered)


declare_each(
    ("names-announced-separator-unknown", "names.announced-separator",
     "What is announced between levels separates nothing in paths, only 0x1F does.",
     "Clients that send what is announced cannot address a namespace of two levels.",
     by(_join_at, _announced)),
    ("names-announced-separator-alone", "names.both-separators",
     "Since another separator is announced, 0x1F in a path separates nothing.",
     "Clients that are older than the setting cannot address a namespace of two levels.",
     by(_join_at, lambda _faithful, path: _UNIT in path)),
    ("tables-announced-separator-alone", "names.both-separators",
     "The routes of tables take a namespace apart by themselves, at what is announced.",
     "Clients that are older than the setting find namespaces of two levels, and no table in them.",
     by(_join_at, lambda _faithful, path: _UNIT in path and "/TABLES/" in path)),
    ("views-announced-separator-alone", "names.both-separators",
     "The routes of views are newer than the setting, and separate at what is announced.",
     "Clients that are older than the setting find no view in namespaces of two levels.",
     by(_join_at, lambda _faithful, path: _UNIT in path and "/VIEWS/" in path)),
    ("names-unit-separator-stopped", "names.both-separators",
     "The web server refuses control characters in paths, before the catalog sees them.",
     "Clients that are older than the setting cannot address a namespace of two levels.",
     lambda registries: refuse_where(
         registries,
         tuple(registries.operations),
         lambda _, call: _UNIT in call.request.raw_path.upper(),
     )),
    ("parent-unit-separator-unknown", "listNamespaces.both-separators",
     "Since another separator is announced, 0x1F in a parent separates nothing.",
     "Clients that are older than the setting see nothing below the first level.",
     by(_altered_parent, lambda parent: parent.replace(names.NAMESPACE_SEPARATOR, "\x1e"))),
    ("parent-unit-separator-ends-it", "listNamespaces.both-separators",
     "A parent ends at the first control character.",
     "Clients that are older than the setting see the first level over and over again.",
     by(_altered_parent, lambda parent: parent.partition(names.NAMESPACE_SEPARATOR)[0])),
)  # fmt: skip


@defect(
    "names-announced-separator-shown",
    on="loadNamespaceMetadata",
    breaks="names.announced-separator",
    suffering="Clients take a namespace for another one, at the top level.",
)
def _shown(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A path is decoded for the answer once more, which shows one level with separators in it."""
    outcome = faithful(state, call)
    if len(call.namespace) < 2 or not _announced(faithful, call.request.raw_path.upper()):
        return outcome
    entry = state.namespace(call.namespace)
    body: Json = {"namespace": [*_as_one_level(call.namespace)], "properties": {}}
    return outcome if entry is None else with_answer(outcome, body)
