"""Refusals of names that are taken: tables and views share one name space."""

from icecheck.mock_server.commits.commit import TableIdentifier
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.problem import Problem

_NOUNS: dict[Kind, str] = {"table": "Table", "view": "View"}


def check_free(
    state: WarehouseState, namespace: tuple[str, ...], name: str, wanted_as: Kind
) -> None:
    """Refuse (409) the name of an existing table or view."""
    kind = state.kind_of(namespace, name)
    if kind is not None:
        raise name_taken(namespace, name, kind, wanted_as)


def name_taken(namespace: tuple[str, ...], name: str, taken_by: Kind, wanted_as: Kind) -> Problem:
    """Return the refusal of a name, which says what kind of object has it."""
    identifier = ".".join((*namespace, name))
    if taken_by == wanted_as:
        return problem.already_exists(f"{_NOUNS[taken_by]} already exists: {identifier}")
    return problem.already_exists(f"{_NOUNS[taken_by]} with same name already exists: {identifier}")


def check_rename_target(
    state: WarehouseState, source: TableIdentifier, target: TableIdentifier
) -> None:
    """Refuse (409) to rename to the name of an existing table or view."""
    kind = state.kind_of(target.namespace, target.name)
    if kind is not None:
        before, after = (".".join((*each.namespace, each.name)) for each in (source, target))
        raise problem.already_exists(
            f"Cannot rename {before} to {after}. {_NOUNS[kind]} already exists"
        )
