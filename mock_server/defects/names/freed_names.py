"""Defects of names that were used before: what is left blocks an operation, or is shared."""

from collections.abc import Callable, Iterable
from typing import Any

from icecheck.mock_server.commits.default_locations import namespace_location
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.remembering import (
    by_body,
    by_path,
    by_source,
    by_target,
    refuse_later,
)
from icecheck.mock_server.defects.kit.requests import Name, sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import names

Named = Callable[[Call], Iterable[Name]]


def _identified(identifier: Any) -> Iterable[Name]:
    if not isinstance(identifier, dict):
        return []
    return [(tuple(identifier.get("namespace", ())), str(identifier.get("name")))]


def _namespace_in_path(call: Call) -> Iterable[Name]:
    return [(call.namespace[:-1], call.namespace[-1])]


def _namespace_sent(call: Call) -> Iterable[Name]:
    path = sent_json(call).get("namespace")
    return [(tuple(path[:-1]), str(path[-1]))] if isinstance(path, list) and path else []


def _created(call: Call) -> Iterable[Name]:
    """Return the name of the table that a commit creates; empty if it creates none."""
    types = {each.get("type") for each in sent_json(call).get("requirements") or ()}
    return by_path(call) if "assert-create" in types else []


def _created_together(call: Call) -> Iterable[Name]:
    for change in sent_json(call).get("table-changes") or ():
        types = {each.get("type") for each in change.get("requirements") or ()}
        if "assert-create" in types:
            yield from _identified(change.get("identifier"))


declare_each(
    ("freed-table-blocks-transaction", "freed-name.commitTransaction",
     "Transactions insert into a table whose unique index knows dropped tables too: 500.",
     "A transaction that creates a table again is a server error.",
     by(refuse_later, ("dropTable", by_path), ("commitTransaction", _created_together), 500)),
    ("freed-namespace-blocks-table-rename", "freed-name.renameTable",
     "Names of namespaces and tables are kept together, and a rename does not tell them apart.",
     "A table cannot get the name that a dropped namespace had.",
     by(refuse_later, ("dropNamespace", _namespace_in_path), ("renameTable", by_target))),
    ("freed-view-blocks-table", "freed-name.createTable",
     "Tables are looked for among all that ever had the name, and dropped views are kept.",
     "A model that was a view cannot become a table.",
     by(refuse_later, ("dropView", by_path), ("createTable", by_body))),
    ("freed-rename-blocks-commit", "freed-name.updateTable",
     "assert-create finds the redirection that a rename has left.",
     "CREATE TABLE AS SELECT under the name of a renamed table fails at its end.",
     by(refuse_later, ("renameTable", by_source), ("updateTable", _created))),
    ("freed-view-blocks-registration", "freed-name.registerTable",
     "A registration meets the name of a view that was renamed.",
     "A table cannot be registered where a view was.",
     by(refuse_later, ("renameView", by_source), ("registerTable", by_body))),
    ("freed-table-blocks-rename", "freed-name.renameTable",
     "A rename is an update of the name, and dropped tables keep theirs in the unique index.",
     "A new version of a table cannot take the name of the one that was dropped.",
     by(refuse_later, ("dropTable", by_path), ("renameTable", by_target))),
    ("freed-table-blocks-view", "freed-name.createView",
     "A new view looks for a table of the name, and finds the dropped one.",
     "A model that was a table cannot become a view.",
     by(refuse_later, ("dropTable", by_path), ("createView", by_body))),
    ("freed-view-blocks-view-rename", "freed-name.renameView",
     "A view cannot be renamed to what a dropped view was called.",
     "A new version of a view cannot take the name of the one that was dropped.",
     by(refuse_later, ("dropView", by_path), ("renameView", by_target))),
    ("freed-table-blocks-namespace", "freed-name.createNamespace",
     "A namespace is refused where any row has its name, that of a dropped table included.",
     "A namespace cannot get the name that a dropped table had.",
     by(refuse_later, ("dropTable", by_path), ("createNamespace", _namespace_sent))),
    ("staged-name-of-dropped-table-taken", "assertion.assert-create.satisfied",
     "A create transaction finds the row of a dropped table under its name.",
     "CREATE TABLE AS SELECT after DROP TABLE fails for ever.",
     by(refuse_later, ("dropTable", by_path), ("updateTable", _created), 409,
        "CommitFailedException")),
)  # fmt: skip


# ------------------------------------------------------------------------- locations


def _located(registries: Registries, spelled: Callable[[str], str]) -> None:
    """Put new tables into a directory that is called after them, as this function spells it."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        sent = sent_json(call)
        if sent.get("location") is not None or not isinstance(sent.get("name"), str):
            return faithful(state, call)
        home = namespace_location(faithful.context, state, call.namespace)
        directory = names.directory_of(spelled(sent["name"]))
        return faithful(state, with_members(call, location=f"{home}/{directory}"))

    wrap(registries, "createTable", around)


_TWO_IN_ONE = "What cleans up after one table deletes the files of another one."

declare_each(
    ("locations-without-case", "names.locations",
     "Directories of tables are called after them in small letters.", _TWO_IN_ONE,
     by(_located, str.lower)),
    ("locations-trimmed", "names.locations",
     "Directories of tables are called after them, without blanks at the end.", _TWO_IN_ONE,
     by(_located, str.rstrip)),
    ("locations-encoded-like-forms", "names.locations",
     "Directories of tables are called after them, with a plus sign for a space.", _TWO_IN_ONE,
     by(_located, lambda name: name.replace(" ", "+"))),
    ("locations-stay-with-the-name", "names.locations",
     "A new table lies where the one lies that had its name before.", _TWO_IN_ONE,
     by(_located, str)),
)  # fmt: skip
