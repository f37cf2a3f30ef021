"""Defects of names whose rows remain after the object is gone, each blocking one operation."""

from collections.abc import Callable, Iterable
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Name, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import problem

Named = Callable[[Call], Iterable[Name]]


def _in_path(call: Call) -> Iterable[Name]:
    return [(call.namespace, call.name)]


def _sent(call: Call) -> Iterable[Name]:
    return [(call.namespace, sent_name(call))]


def _identified(identifier: Any) -> Iterable[Name]:
    if not isinstance(identifier, dict):
        return []
    return [(tuple(identifier.get("namespace", ())), str(identifier.get("name")))]


def _source(call: Call) -> Iterable[Name]:
    return _identified(sent_json(call).get("source"))


def _destination(call: Call) -> Iterable[Name]:
    return _identified(sent_json(call).get("destination"))


def _namespace_in_path(call: Call) -> Iterable[Name]:
    return [(call.namespace[:-1], call.namespace[-1])]


def _namespace_sent(call: Call) -> Iterable[Name]:
    path = sent_json(call).get("namespace")
    return [(tuple(path[:-1]), str(path[-1]))] if isinstance(path, list) and path else []


def _created(call: Call) -> Iterable[Name]:
    """Return the name of the table that a commit creates; empty if it creates none."""
    types = {each.get("type") for each in sent_json(call).get("requirements") or ()}
    return _in_path(call) if "assert-create" in types else []


def _created_together(call: Call) -> Iterable[Name]:
    for change in sent_json(call).get("table-changes") or ():
        types = {each.get("type") for each in change.get("requirements") or ()}
        if "assert-create" in types:
            yield from _identified(change.get("identifier"))


def _row_stays(
    registries: Registries, freed: tuple[str, Named], taken: tuple[str, Named], status: int = 409
) -> None:
    """Keep the names that one operation frees, and refuse another one that takes one of them."""
    rows: set[tuple[str, Name]] = set()

    def freeing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        rows.update((faithful.context.warehouse, name) for name in freed[1](call))
        return outcome

    def taking(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if any((faithful.context.warehouse, name) in rows for name in taken[1](call)):
            raise problem.Problem(status, "AlreadyExistsException", "It already exists")
        return faithful(state, call)

    wrap(registries, freed[0], freeing)
    wrap(registries, taken[0], taking)


@defect(
    "freed-table-blocks-transaction",
    breaks="freed-name.commitTransaction",
    suffering="A transaction that creates a table again is a server error.",
)
def _table_blocks_transaction(registries: Registries) -> None:
    """Transactions insert into a table whose unique index knows dropped tables too: 500."""
    dropped, taken = ("dropTable", _in_path), ("commitTransaction", _created_together)
    _row_stays(registries, dropped, taken, 500)


@defect(
    "freed-namespace-blocks-table-rename",
    breaks="freed-name.renameTable",
    suffering="A table cannot get the name that a dropped namespace had.",
)
def _namespace_blocks_rename(registries: Registries) -> None:
    """Names of namespaces and tables are kept together, and a rename does not tell them apart."""
    dropped = ("dropNamespace", _namespace_in_path)
    _row_stays(registries, dropped, ("renameTable", _destination))


declare_each(
    ("freed-view-blocks-table", "freed-name.createTable",
     "Tables are looked for among all that ever had the name, and dropped views are kept.",
     "A model that was a view cannot become a table.",
     by(_row_stays, ("dropView", _in_path), ("createTable", _sent))),
    ("freed-rename-blocks-commit", "freed-name.updateTable",
     "assert-create finds the redirection that a rename has left.",
     "CREATE TABLE AS SELECT under the name of a renamed table fails at its end.",
     by(_row_stays, ("renameTable", _source), ("updateTable", _created))),
    ("freed-view-blocks-registration", "freed-name.registerTable",
     "A registration meets the name of a view that was renamed.",
     "A table cannot be registered where a view was.",
     by(_row_stays, ("renameView", _source), ("registerTable", _sent))),
    ("freed-table-blocks-rename", "freed-name.renameTable",
     "A rename is an update of the name, and dropped tables keep theirs in the unique index.",
     "A new version of a table cannot take the name of the one that was dropped.",
     by(_row_stays, ("dropTable", _in_path), ("renameTable", _destination))),
    ("freed-table-blocks-view", "freed-name.createView",
     "A new view looks for a table of the name, and finds the dropped one.",
     "A model that was a table cannot become a view.",
     by(_row_stays, ("dropTable", _in_path), ("createView", _sent))),
    ("freed-view-blocks-view-rename", "freed-name.renameView",
     "A view cannot be renamed to what a dropped view was called.",
     "A new version of a view cannot take the name of the one that was dropped.",
     by(_row_stays, ("dropView", _in_path), ("renameView", _destination))),
    ("freed-table-blocks-namespace", "freed-name.createNamespace",
     "A namespace is refused where any row has its name, that of a dropped table included.",
     "A namespace cannot get the name that a dropped table had.",
     by(_row_stays, ("dropTable", _in_path), ("createNamespace", _namespace_sent))),
)  # fmt: skip
