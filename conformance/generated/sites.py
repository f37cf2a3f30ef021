"""The objects that generated requests are about, and what a read shows of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_snapshot, given_table, shared_tables
from icecheck.client.shared_setup import lent_object
from icecheck.conformance.generated.confinement import Place
from icecheck.conformance.generated.live_values import live_values
from icecheck.contract import Action, Facts, Object
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.objects import metadata_view as view
from icecheck.objects.reading import next_page_token
from icecheck.objects.views import View, given_view, settled_view
from icecheck.ownership.effects import read_body
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.target import Namespace

_COMMITS_EACH = 4
"""How many commits one table or view takes: later ones still mean something, and fewer are made."""

_CREATED_MS = 1_767_225_600_000  # the creation time of a view that does not exist yet
# Properties that generated requests set and remove; they are set before, so that any effect is a
# change.
_PROPERTIES = {"icecheck.gone": "not yet", "icecheck.generated": "0"}


@dataclass(frozen=True, slots=True)
class _Ground:
    """A namespace and, where the requests of an operation name one, a table or view in it."""

    namespace: Namespace
    thing: Table | View | None

    @property
    def name(self) -> str:
        """The last level of the namespace, which every request about the object names too."""
        return self.namespace[-1]


class Site:
    """The objects that the generated requests of one operation name.

    The first ones are those that checks share, unless they have to be ``fresh``. A success that
    uses up the object leads to another one, made when the next request needs it; a table or view
    serves for four commits, and for any number of renames.
    """

    def __init__(self, catalog: Catalog, operation_id: str, *, fresh: bool = False) -> None:
        self.catalog = catalog
        self._operation_id = operation_id
        self._facts = catalog.contract.operations[operation_id].facts
        self._ground = (
            self._make(catalog) if fresh else lent_object(catalog, self._kind(), self._make)
        )
        self._used_up, self._is_known = False, True
        self._commits = 0
        lists = self._facts.action is Action.LIST
        self._another_lists_token = _token_of_a_list(catalog) if lists else None

    def place(self) -> Place:
        """Return where the next request goes."""
        if self._used_up:
            gone = self._facts.object is Object.NAMESPACE
            self._ground = self._make(self.catalog, None if gone else self._ground.namespace)
            self._used_up, self._is_known = False, True
        catalog, namespace, thing = self.catalog, self._ground.namespace, self._ground.thing
        metadata = {} if thing is None else thing.metadata
        updated_ms = metadata.get("last-updated-ms")
        return Place(
            base=catalog.session.isolation.base,
            namespace=namespace,
            parent=catalog.session.offer.parent_parameter(namespace),
            new_name=catalog.new_name,
            table="" if thing is None else thing.name,
            location=str(metadata.get("location", "")),
            metadata_location=("" if thing is None else thing.metadata_location) or "",
            updated_ms=updated_ms if isinstance(updated_ms, int) else _CREATED_MS,
            contract=catalog.contract,
            warehouse=catalog.target.warehouse,
            another_lists_token=self._another_lists_token,
            live=live_values(metadata),
        )

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the table or view that the requests name is like; empty if nothing has told."""
        thing = self._ground.thing
        return {} if thing is None or not self._is_known else thing.metadata

    def note_success(self, reply: Reply) -> None:
        """Remember that a request may have changed or removed the object that it named."""
        if self._facts.commits:
            self._follow(reply)
            self._commits += 1
            self._used_up = self._commits % _COMMITS_EACH == 0
        elif self._facts.action is Action.RENAME:
            self._follow_to(reply)
        else:
            self._used_up = self._facts.removes is not None

    def _follow_to(self, reply: Reply) -> None:
        """Name the object as an accepted rename asked for, if that is a name in its namespace."""
        thing, within = self._ground.thing, [*self._ground.namespace]
        match read_body(reply.exchange.request_body).get("destination"):
            case {"namespace": namespace, "name": str(name)} if thing and namespace == within:
                self._ground = replace(self._ground, thing=replace(thing, name=name))
            case _:
                self._used_up = True

    def _follow(self, reply: Reply) -> None:
        """Keep what the answer to a commit says of the object."""
        thing, told = self._ground.thing, None
        if thing is not None and self._facts.action is Action.COMMIT:
            try:
                told = reply.json()["metadata"]
            except (Violation, TypeError, KeyError):
                told = None  # the check of the answer's schema tells of that
        self._is_known = isinstance(told, dict)
        if thing is not None and isinstance(told, dict):
            self._ground = replace(self._ground, thing=replace(thing, metadata=told))

    def _kind(self) -> str:
        """Return what the requests need, under which checks share it."""
        facts = self._facts
        if facts.object is Object.VIEW and facts.action not in {Action.LIST, Action.CREATE}:
            return "generated-view"
        if facts.object is Object.TABLE and facts.action is not Action.LIST:
            return "generated-snapshot" if facts.commits else "generated-table"
        changes = self._operation_id == "updateProperties"
        return "generated-properties" if changes else "generated-namespace"

    def _make(self, catalog: Catalog, within: Namespace | None = None) -> _Ground:
        namespace = given_namespace(catalog) if within is None else within
        match self._kind():
            case "generated-properties":
                catalog.update_properties(namespace, updates=_PROPERTIES)
            case "generated-view":
                return _Ground(namespace, given_view(catalog, namespace))
            case "generated-table":
                return _Ground(namespace, given_table(catalog, namespace))
            case "generated-snapshot":
                table = _with_snapshot(catalog, given_table(catalog, namespace))
                return _Ground(namespace, table)
        return _Ground(namespace, None)


def _token_of_a_list(catalog: Catalog) -> str | None:
    """Return the token after the first of three tables, None if the catalog gives none."""
    try:
        tables = shared_tables(catalog)
        asked = catalog.list_tables(tables.path, [("pageToken", ""), ("pageSize", "1")])
        return next_page_token(asked) if asked.ok else None
    except (Blocked, NotOffered, Violation):
        return None


def _with_snapshot(catalog: Catalog, table: Table) -> Table:
    """Add the snapshot that generated commits name, if the catalog accepts it."""
    try:
        return given_snapshot(catalog, table)
    except Blocked:
        return table  # the requests then name an unknown snapshot and are refused too


def _commits_to_table(facts: Facts) -> bool:
    return facts.object is Object.TABLE and facts.commits


def visible(catalog: Catalog, operation_id: str, place: Place) -> Any:
    """Return the state that a request of this operation could change, as one read shows it."""
    shown = _shown(catalog, operation_id, place)
    if shown is None:
        return None
    reply, member = shown
    try:
        seen = reply.json()[member] if reply.ok else None
    except (Violation, TypeError, KeyError):
        return None  # the check of that operation judges its answers
    if operation_id == "updateProperties" and isinstance(seen, dict):
        return {key: seen.get(key) for key in _PROPERTIES}
    facts = catalog.contract.operations[operation_id].facts
    if _commits_to_table(facts) and isinstance(seen, dict):
        return view.settled(seen, *_PROPERTIES)
    if operation_id == "replaceView" and isinstance(seen, dict):
        return settled_view(seen, *_PROPERTIES)
    return sorted(seen, key=repr) if isinstance(seen, list) else seen


def _shown(catalog: Catalog, operation_id: str, place: Place) -> tuple[Reply, str] | None:
    """Send the read that shows the state; return the answer and the name of its relevant member."""
    facts = catalog.contract.operations[operation_id].facts
    match facts.action, facts.object:
        case Action.CREATE, Object.NAMESPACE:
            return catalog.list_namespaces(place.namespace), "namespaces"
        case Action.SET_PROPERTIES, Object.NAMESPACE:
            return catalog.load_namespace_metadata(place.namespace), "properties"
        case ((Action.CREATE | Action.REGISTER | Action.RENAME), Object.TABLE):
            return catalog.list_tables(place.namespace), "identifiers"
        case ((Action.CREATE | Action.REGISTER | Action.RENAME), Object.VIEW):
            return catalog.list_views(place.namespace), "identifiers"
        case Action.COMMIT, Object.VIEW:
            return catalog.load_view(place.namespace, place.table), "metadata"
        case ((Action.COMMIT | Action.COMMIT_TOGETHER), Object.TABLE):
            return catalog.load_table(place.namespace, place.table), "metadata"
    return None


def expect_unchanged(catalog: Catalog, operation_id: str, place: Place, before: Any) -> None:
    """Raise Violation if a read shows another state than it has shown before refused requests."""
    after = visible(catalog, operation_id, place)
    if after is not None and after != before:
        raise Violation(
            CHANGED_ALTHOUGH_REFUSED,
            "the state of before",
            "another state",
            detail=f"after refused requests to {operation_id}",
            exchange=catalog.exchanges[-1].ordinal,
        )
