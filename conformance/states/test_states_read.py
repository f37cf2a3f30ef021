"""Checks that every way to read a table shows the same, in each of its states."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.conformance.states.walk import (
    REFS,
    TABLES,
    Step,
    expect_only_moved,
    given_born,
    live,
    renamed,
)
from icecheck.findings.shared_symptoms import (
    EFFECT_MISSING,
)
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    RENAME_CHANGED_THE_TABLE,
)
from icecheck.objects.comparing import expect_shown
from icecheck.objects.reading import refused
from icecheck.objects.round_trip import expect_as_before, expect_bystander
from icecheck.replies.expect import Reply

_LOADS_DIFFER = declare(
    "loads-differ",
    "Loads of one version in different ways show different tables",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)

Json = dict[str, Any]

_REGISTERED_AFTER = (2, 5, 8)
"""A table's file is registered under a second name after these numbers of stages."""
_RENAMED_AFTER = (3, 7)
"""A table is renamed after these numbers of stages."""


class _Onlooker:
    """Reads one table in every way and keeps earlier entity tags."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tags: dict[tuple[tuple[str, str], ...], str | None] = {}
        self.earlier: list[str] = []
        self.beside: list[Table] = []

    def visit(self, step: Step[Table]) -> Table:
        """Judge loads of refs only; after some stages register the table's file or rename it."""
        table = step.after
        if step.ordinal % 2:
            reply = self._loaded(table, REFS, f", after {step.what}")
            what = f"refs only, after {step.what}"
            expect_shown(reply, table, _few(reply, table), what, symptom=_LOADS_DIFFER)
        if step.ordinal in _REGISTERED_AFTER and self.catalog.claims("tableExists"):
            exists = self.catalog.table_exists(table.namespace, table.name)
            exists.expect(200, 204, detail=step.what)
        if step.ordinal in _REGISTERED_AFTER:
            self._register(table, step.what)
        return self._renamed(table, step.what) if step.ordinal in _RENAMED_AFTER else table

    def load(self, _catalog: Catalog, table: Table) -> Reply:
        """Load a table that has changed, with the entity tag of the version before."""
        return self._loaded(table, ())

    def _loaded(self, table: Table, query: tuple[tuple[str, str], ...], when: str = "") -> Reply:
        """Load a table with the entity tag of the version before, which must not answer 304."""
        tag = self.tags.get(query)
        headers = None if tag is None else {"If-None-Match": tag}
        reply = self.catalog.load_table(table.namespace, table.name, query, headers)
        which = f"{'refs only' if query == REFS else 'all of it'}{when}"
        if headers and reply.status not in {HTTPStatus.OK, HTTPStatus.NOT_MODIFIED}:
            # The tag is the matter only of an answer that is another one without it.
            plain = self.catalog.load_table(table.namespace, table.name, query)
            plain.expect(200, detail=which)
        reply.expect(200, detail=f"{which}, under the tag of the version before")
        if tag is not None and query == ():
            self.earlier.append(tag)
        self.tags[query] = reply.header("etag")
        return reply

    def _register(self, table: Table, what: str) -> None:
        """Register a version's file under another name, and judge that table by the version."""
        if not self.catalog.claims("registerTable") or table.metadata_location is None:
            return
        name = self.catalog.new_name()
        reply = self.catalog.register_table(table.namespace, name, table.metadata_location)
        if refused(reply, f"the metadata file of a table after {what}"):
            return
        beside = replace(table, name=name)
        expect_as_before(self.catalog, beside, EFFECT_MISSING.of("registered-metadata"), what)
        self.beside.append(beside)

    def _renamed(self, table: Table, what: str) -> Table:
        """Rename a table, and judge that only its location may have changed."""
        new, reply = renamed(self.catalog, TABLES, table, what)
        if reply is not None:
            expect_only_moved(reply, table, what, RENAME_CHANGED_THE_TABLE)
        return new

    def expect_stale(self, table: Table) -> None:
        """Judge that no entity tag of an earlier version is that of the last version.

        Loads with two of them, and with those that are equal to the last one; the load of the last
        version was sent with the one before.
        """
        some = {0, len(self.earlier) // 2}
        for at, tag in enumerate(self.earlier):
            if at in some or tag == self.tags[()]:
                headers = {"If-None-Match": tag}
                reply = self.catalog.load_table(table.namespace, table.name, headers=headers)
                reply.expect(200, detail=f"under the entity tag of version {at + 1}")

    def expect_beside(self) -> None:
        """Judge that the tables registered from earlier files are unchanged."""
        for table in self.beside:
            expect_bystander(self.catalog, table)


def _few(reply: Reply, table: Table) -> Json:
    """Return the members that a load of refs only may shorten, such as unreferenced snapshots."""
    shown = [each.get("snapshot-id") for each in view.metadata_in(reply).get("snapshots") or []]
    refs = (table.metadata.get("refs") or {}).values()
    shown += [each.get("snapshot-id") for each in refs]
    members = ("snapshots", "statistics", "partition-statistics")
    now = view.metadata_in(reply)
    return {
        member: [
            each
            for each in table.metadata.get(member) or []
            if each.get("snapshot-id") in shown or each in (now.get(member) or [])
        ]
        for member in members
    }


@generated_check("states.every-look")
def test_every_way_to_look_at_a_table(catalog: Catalog) -> None:
    """In every state a table shows the same, loaded with refs only, renamed or registered."""
    onlooker = _Onlooker(catalog)
    table = live(catalog, given_born(catalog), onlooker.visit, group_size=3, load=onlooker.load)
    onlooker.expect_stale(table)
    onlooker.expect_beside()
