"""Where a program takes place: the name of each label, and what is there when it begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.histories.history import Deed, Event, Take, Write
from icecheck.objects.moves import MARK, QUERY, given, heads_in, number_in_query
from icecheck.objects.views import View, create_view_body, view_version
from icecheck.ownership.ledger import Entry
from icecheck.scenarios.races.programs import home_of, kind_of
from icecheck.targets.target import Namespace

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """The names of all labels, and the tables, views and namespaces that are given.

    ``staged`` are tables that commits may create, ``files`` the metadata files of dropped tables
    by their numbers. ``parent`` is what the lists of namespaces are asked for. ``marked``:
    namespaces have properties.
    """

    namespace: Namespace
    parent: str
    places: Mapping[str, Table]
    namespaces: Mapping[str, Namespace]
    tables: Mapping[str, Table]
    views: Mapping[str, View]
    given_namespaces: tuple[str, ...]
    staged: Mapping[str, Table]
    files: Mapping[str, str]
    marked: bool = True

    @property
    def before(self) -> Event:
        """The event that a history begins with: what is given, as it was shown."""
        deeds: list[Deed] = [Take(label, mark_of(label)) for label in self.given_namespaces]
        for label, table in self.tables.items():
            deeds.append(Take(label, mark_of(label)))
            main = heads_in(table.metadata)["main"]
            if main is not None:
                deeds.append(Write(label, "main", main))
        for label, view in self.views.items():
            shown = Write(label, QUERY, number_in_query(view.metadata))
            deeds += [Take(label, mark_of(label)), shown]
        return given(*deeds)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all names."""
        return tuple(sorted({*self.places, *self.namespaces}))

    def entry(self, label: str) -> Entry:
        """Return what a label names as the ledger has it."""
        kind = kind_of(label)
        if kind == "namespace":
            return Entry("namespace", self.namespaces[label])
        place = self.places[label]
        return Entry("view" if kind == "view" else "table", place.namespace, place.name)

    def names(self, label: str, kind: str) -> dict[str, str | Namespace]:
        """Return what names a table, a view or a namespace in a path."""
        if kind == "namespace":
            return {"namespace": self.namespaces[label]}
        place = self.places[label]
        return {"namespace": place.namespace, kind: place.name}

    def made_besides(self, label: str) -> tuple[Deed, ...]:
        """Return what a request that puts something under a label may make as well.

        A catalog may make a namespace that is missing.
        """
        home = home_of(label)
        return (Take(home, ""),) if home else ()


def mark_of(label: str) -> str:
    """Return the mark of what is given."""
    return f"before.{label}"


def snapshot_id(number: int) -> int:
    """Return the id of a snapshot of a given table, by its number."""
    return int(bodies.snapshot({}, number + 1)["snapshot-id"])


def query_with(number: str) -> str:
    """Return the query of a view with this number."""
    return f"SELECT {number} AS id, 'a' AS data"


def view_body(place: Table, number: str, mark: str) -> Json:
    """Return the body that creates a view with a mark and the number in its query."""
    version = view_version(query_with(number), namespace=place.namespace)
    return create_view_body(place.name, place.namespace, version=version, properties={MARK: mark})
