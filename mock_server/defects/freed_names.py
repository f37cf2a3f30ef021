"""Rows of names that outlive what bore the name, each in the way of one operation."""

from collections.abc import Callable, Iterable
from typing import Any

from icecheck.mock_server import problem
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import sent_json, wrap
from icecheck.mock_server.defects.storing import sent_name
from icecheck.mock_server.state import WarehouseState

Name = tuple[tuple[str, ...], str]
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
    """The table that a commit creates, if it does."""
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

    def freeing(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        outcome = faithful(context, state, call)
        rows.update((context.warehouse, name) for name in freed[1](call))
        return outcome

    def taking(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if any((context.warehouse, name) in rows for name in taken[1](call)):
            raise problem.Problem(status, "AlreadyExistsException", "It already exists")
        return faithful(context, state, call)

    wrap(registries, freed[0], freeing)
    wrap(registries, taken[0], taking)


@defect(
    "freed-view-blocks-table",
    breaks="freed-name.createTable",
    suffering="A model that was a view cannot become a table.",
)
def _view_blocks_table(registries: Registries) -> None:
    """Tables are looked for among all that ever had the name, and dropped views are kept."""
    _row_stays(registries, ("dropView", _in_path), ("createTable", _sent))


@defect(
    "freed-rename-blocks-commit",
    breaks="freed-name.updateTable",
    suffering="CREATE TABLE AS SELECT under the name of a renamed table fails at its end.",
)
def _rename_blocks_commit(registries: Registries) -> None:
    """assert-create finds the redirection that a rename has left."""
    _row_stays(registries, ("renameTable", _source), ("updateTable", _created))


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
    "freed-view-blocks-registration",
    breaks="freed-name.registerTable",
    suffering="A table cannot be registered where a view was.",
)
def _view_blocks_registration(registries: Registries) -> None:
    """A registration meets the name of a view that was renamed."""
    _row_stays(registries, ("renameView", _source), ("registerTable", _sent))


@defect(
    "freed-table-blocks-rename",
    breaks="freed-name.renameTable",
    suffering="A new version of a table cannot take the name of the one that was dropped.",
)
def _table_blocks_rename(registries: Registries) -> None:
    """A rename is an update of the name, and dropped tables keep theirs in the unique index."""
    _row_stays(registries, ("dropTable", _in_path), ("renameTable", _destination))


@defect(
    "freed-namespace-blocks-table-rename",
    breaks="freed-name.renameTable",
    suffering="A table cannot get the name that a dropped namespace had.",
)
def _namespace_blocks_rename(registries: Registries) -> None:
    """Names of namespaces and tables are kept together, and a rename does not tell them apart."""
    dropped = ("dropNamespace", _namespace_in_path)
    _row_stays(registries, dropped, ("renameTable", _destination))


@defect(
    "freed-table-blocks-view",
    breaks="freed-name.createView",
    suffering="A model that was a table cannot become a view.",
)
def _table_blocks_view(registries: Registries) -> None:
    """A new view looks for a table of the name, and finds the dropped one."""
    _row_stays(registries, ("dropTable", _in_path), ("createView", _sent))


@defect(
    "freed-view-blocks-view-rename",
    breaks="freed-name.renameView",
    suffering="A new version of a view cannot take the name of the one that was dropped.",
)
def _view_blocks_view_rename(registries: Registries) -> None:
    """A view cannot be renamed to what a dropped view was called."""
    _row_stays(registries, ("dropView", _in_path), ("renameView", _destination))


@defect(
    "freed-table-blocks-namespace",
    breaks="freed-name.createNamespace",
    suffering="A namespace cannot get the name that a dropped table had.",
)
def _table_blocks_namespace(registries: Registries) -> None:
    """A namespace is refused where any row has its name, that of a dropped table included."""
    _row_stays(registries, ("dropTable", _in_path), ("createNamespace", _namespace_sent))
