"""Checks that register a table's file in many states: after a drop, or to overwrite a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange, given_dropped, given_namespace, shared_namespace
from icecheck.conformance.states.stage_assertions import true_assertions
from icecheck.conformance.states.walk import (
    TABLES,
    Step,
    given_born,
    knows_refs,
    live,
    renamed,
)
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, EFFECT_MISSING
from icecheck.findings.symptoms import Symptom
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import require
from icecheck.objects.committing import by_update, set_property
from icecheck.objects.comparing import expect_answer, expect_shown
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import (
    expect_bystander,
    given_bystander,
    loaded_answer,
    shown_of,
)
from icecheck.replies.expect import Reply, equal
from icecheck.targets.target import Namespace

_LOGS = ("snapshot-log", "metadata-log")
"""Members that must start with their former entries; a catalog may append to them."""
_MOVED_EVERY = 2
"""The table is dropped and registered again after every so many commits."""
_AT_ONCE = 4
"""The number of stages in a commit."""
_OVERWRITTEN_WITH = (1, 4, -1, 2, -1)
"""The indexes of the versions that overwrite the table, in turn, older and newer ones mixed."""
_REFUSED: Sequence[Mapping[str, Any]] = ({}, {"overwrite": False})
"""Members with which a registration is refused first, in one of the turns each."""
_LOST = EFFECT_MISSING.of("registered-metadata")
_NOT_OVERWRITTEN = EFFECT_MISSING.of("overwrite")


def _file_of(table: Table) -> str:
    if table.metadata_location is None:
        raise not_applicable("the catalog tells no metadata location")
    return table.metadata_location


def _expect_registered(
    catalog: Catalog, reply: Reply, version: Table, what: str, symptom: Symptom
) -> Table:
    """Judge that the answer to a registration, and a load, show everything in the file."""
    expect_shown(reply, version, {}, f"{what}, as answered", symptom=symptom)
    loaded = loaded_answer(catalog, version)
    expect_shown(loaded, version, {}, what, symptom=symptom)
    shown = shown_of(loaded, version)
    expect_answer(reply, shown, what)
    for log in _LOGS:
        kept = version.metadata.get(log) or []
        found = (shown.metadata.get(log) or [])[: len(kept)]
        equal(found, kept, symptom=symptom, detail=f"{what}: the {log}")
    return shown


class _Mover:
    """Drops a table after some stages, and registers its file under the same or another name."""

    def __init__(self, catalog: Catalog, table: Table, homes: Sequence[Namespace]) -> None:
        self.catalog = catalog
        self.first = (table.namespace, table.name)
        self.homes = homes
        self.turn = 0

    def visit(self, step: Step[Table]) -> Table:
        """Return the table, after it was dropped and registered again at every second step."""
        _file_of(step.after)
        return step.after if step.ordinal % _MOVED_EVERY else self._moved(step.after, step.what)

    def _moved(self, table: Table, what: str) -> Table:
        table, where = self._destination(table, what)
        self.turn += 1
        given_dropped(self.catalog, table.namespace, table.name)
        reply = self.catalog.register_table(*where, _file_of(table))
        if 400 <= reply.status < 500:
            raise not_applicable("the catalog registers no file of a table that was dropped")
        arrange(self.catalog, "registerTable", lambda: reply)
        again = replace(table, namespace=where[0], name=where[1])
        told = f"registered again after {what}"
        return _expect_registered(self.catalog, reply, again, told, _LOST)

    def _destination(self, table: Table, what: str) -> tuple[Table, tuple[Namespace, str]]:
        """Return the table, renamed in some turns, and the name for registering its file."""
        here = (table.namespace, table.name)
        match self.turn % 6:
            case 2:
                return table, (table.namespace, self.catalog.new_name())
            case 4:
                return table, (self._elsewhere(table), self.catalog.new_name())
            case 3:  # under its first name
                return table, self.first
            case 5:
                return renamed(self.catalog, TABLES, table, what)[0], self.first
            case _:
                return table, here

    def _elsewhere(self, table: Table) -> Namespace:
        others = [each for each in self.homes if each != table.namespace]
        return others[0] if others else table.namespace


@generated_check("states.registered-again")
def test_a_table_that_is_registered_again(catalog: Catalog) -> None:
    """In every state a table comes back from its file whole, and can be committed to as before."""
    require(catalog, "registerTable", "dropTable", "updateTable")
    homes = [shared_namespace(catalog)]
    if has_capability(catalog, "nested-namespaces"):
        homes.append(given_namespace(catalog))
    bystander = given_bystander(catalog)
    for version in (None, 3) if has_capability(catalog, "format-version-3") else (None,):
        table = given_born(catalog, version)
        # What follows from the version needs few states: the other moves are not repeated.
        at_once = _AT_ONCE if version is None else 6
        live(catalog, table, _Mover(catalog, table, homes).visit, group_size=at_once)
    expect_bystander(catalog, bystander)


# ---- registration with overwrite


def _overwritten(
    catalog: Catalog, table: Table, version: Table, what: str, refusal: Mapping[str, Any] | None
) -> Table | None:
    """Judge that a table becomes the version in a file, but not with the members of a refusal.

    Returns the table, or None if the catalog refuses to overwrite it.
    """
    again = replace(version, namespace=table.namespace, name=table.name)
    where = (table.namespace, table.name, _file_of(version))
    if refusal is not None:
        told = "with overwrite: false" if refusal else "without overwrite"
        catalog.register_table(*where, **refusal).expect(409, detail=f"{what}, {told}")
        symptom = CHANGED_ALTHOUGH_REFUSED
        expect_shown(loaded_answer(catalog, table), table, {}, what, symptom=symptom)
    reply = catalog.register_table(*where, overwrite=True)
    if refused(reply, what):
        return None
    shown = _expect_registered(catalog, reply.expect(200), again, what, _NOT_OVERWRITTEN)
    holds = true_assertions(shown.metadata, besides_main=knows_refs(catalog))
    done = by_update(catalog, shown, [set_property("overwritten")], holds)
    done.expect(200, detail=f"a commit that asserts all that is true, after {what}")
    return shown_of(done, shown)  # its next load must show the same


@generated_check("states.overwritten")
def test_a_table_that_is_overwritten(catalog: Catalog) -> None:
    """A file of any state replaces a table whole: nothing is left of what it was in between."""
    require(catalog, "registerTable", "updateTable")
    versions: list[tuple[str, Table]] = []

    def visit(step: Step[Table]) -> Table:
        _file_of(step.after)
        versions.append((step.what, step.after))
        return step.after

    table = live(catalog, given_born(catalog), visit, group_size=_AT_ONCE)
    bystander = given_bystander(catalog)
    for turn, at in enumerate(_OVERWRITTEN_WITH):
        if at >= len(versions):
            continue
        stage, version = versions[at]
        what = f"overwritten with the file from after {stage}"
        refusal = _REFUSED[turn] if turn < len(_REFUSED) else None
        made = _overwritten(catalog, table, version, what, refusal)
        if made is None:
            raise not_applicable("the catalog does not overwrite a table so")
        table = made
    expect_bystander(catalog, bystander)
