"""What of a program a catalog offers, and what is made before its clients begin."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    arrange,
    given_commit,
    given_dropped,
    given_loaded,
    given_namespace,
    given_table,
)
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import same_table
from icecheck.objects.moves import MARK
from icecheck.objects.views import View, given_view, view_version
from icecheck.scenarios.races.on_tables import mark_of_file
from icecheck.scenarios.races.programs import (
    GIVEN,
    SNAPSHOTS,
    Program,
    Request,
    home_of,
    kind_of,
    labels_of,
    operations_in,
    requests_of,
)
from icecheck.scenarios.races.scene import Scene, mark_of, query_with
from icecheck.targets.target import Namespace

_OF_SNAPSHOTS = frozenset({"move-main", "move-main-together"})
_CAPABILITIES = {
    **dict.fromkeys(_OF_SNAPSHOTS, "metadata-only-snapshots"),
    "create-by-commit": "stage-create",
}
_PROPERTIES = "namespace-properties"
_OF_KIND = {
    "table": ("createTable", "updateTable", "loadTable"),
    "view": ("createView", "loadView"),
    "namespace": ("createNamespace", "loadNamespaceMetadata"),
}
"""Kind -> the operations without which nothing of it is asked for."""

_NO_VIEW_QUERY = "0"


def arranged(catalog: Catalog, namespace: Namespace, program: Program) -> tuple[Scene, Program]:
    """Make what a program needs, and return it with what the catalog offers of the program."""
    program = offered(catalog, program)
    scene = _scene(catalog, namespace, program)
    # A catalog that tells no metadata location has nothing to register.
    told = _only(program, lambda each: each.name != "register" or each.values[0] in scene.files)
    return scene, told


# ------------------------------------------------------------------------ what is offered


def offered(catalog: Catalog, program: Program) -> Program:
    """Return a program without what the catalog does not offer, or claims and does not serve."""
    names = {each.name for each in requests_of(program)}
    lacking = {n for n, c in _CAPABILITIES.items() if n in names and not has_capability(catalog, c)}
    kinds = {kind for kind, needed in _OF_KIND.items() if all(map(catalog.claims, needed))}
    if catalog.session.adaptations.only_in is not None:
        kinds.discard("namespace")

    def is_offered(request: Request) -> bool:
        about = {label for on in request.on for label in (on, home_of(on)) if label}
        if not {*map(kind_of, about)} <= kinds or request.name in lacking:
            return False
        if "updateProperties" in operations_in(request) and not has_capability(
            catalog, _PROPERTIES
        ):
            return False
        return all(_is_served(catalog, each) for each in operations_in(request))

    return _only(program, is_offered)


def _is_served(catalog: Catalog, operation_id: str) -> bool:
    """Return whether an operation may be asked for: programs cannot do without some of them."""
    needed = any(operation_id in of_kind for of_kind in _OF_KIND.values())
    return catalog.claims(operation_id) if needed else catalog.serves(operation_id)


def _only(program: Program, fits: Callable[[Request], bool]) -> Program:
    return tuple(tuple(tuple(filter(fits, script)) for script in part) for part in program)


# -------------------------------------------------------------------------- what is given


def _scene(catalog: Catalog, namespace: Namespace, program: Program) -> Scene:
    """Make the given objects of a program, their snapshots, staged tables and metadata files."""
    labels, requests = labels_of(program), requests_of(program)
    asserted = {each.values[-1] for each in requests if each.name in {"set", "define"}}
    needed = [label for label in GIVEN if label in {*labels, *asserted}]
    of_namespaces = [label for label in labels if kind_of(label) == "namespace"]
    marked = bool(of_namespaces) and has_capability(catalog, _PROPERTIES)
    namespaces = {e: _namespace(catalog, e, marked=marked) for e in of_namespaces}
    moved = {each.on[0] for each in requests if each.name in _OF_SNAPSHOTS}
    tables: dict[str, Table] = {}
    for label in _of_kind("table", needed):
        tables[label] = given_table(catalog, namespace, properties={MARK: mark_of(label)})
        if label in moved:
            tables[label] = _with_snapshots(catalog, tables[label])
    views = {label: _view(catalog, namespace, label) for label in _of_kind("view", needed)}
    made = {**tables, **{e: Table(namespace, view.name, {}, None) for e, view in views.items()}}
    free = {
        label: Table(namespaces.get(home_of(label), namespace), catalog.new_name(), {}, None)
        for label in labels
        if label not in {*made, *namespaces}
    }
    places = {**made, **free}
    by_commit = dict.fromkeys(each.on[0] for each in requests if each.name == "create-by-commit")
    base = catalog.session.isolation.base
    return Scene(
        namespace=namespace,
        parent=catalog.session.offer.parent_parameter(base) if base else "",
        places={label: places[label] for label in labels if label in places} | made,
        namespaces=namespaces,
        tables=tables,
        views=views,
        given_namespaces=tuple(label for label in of_namespaces if label in GIVEN),
        staged={label: _staged(catalog, places[label]) for label in by_commit},
        files=_files(catalog, namespace, requests),
        marked=marked,
    )


def _of_kind(kind: str, labels: Iterable[str]) -> list[str]:
    return [label for label in labels if kind_of(label) == kind]


def _namespace(catalog: Catalog, label: str, *, marked: bool) -> Namespace:
    """Return the namespace of a label: made with a mark if it is given, or a free name."""
    if label not in GIVEN:
        return catalog.new_namespace_name()
    return given_namespace(catalog, {MARK: mark_of(label)} if marked else None)


def _view(catalog: Catalog, namespace: Namespace, label: str) -> View:
    version = view_version(query_with(_NO_VIEW_QUERY), namespace=namespace)
    return given_view(catalog, namespace, version=version, properties={MARK: mark_of(label)})


def _with_snapshots(catalog: Catalog, table: Table) -> Table:
    """Return a table as a load shows it after its snapshots were added, main at the first."""
    added = [bodies.snapshot(table.metadata, n) for n in range(1, SNAPSHOTS + 1)]
    updates = [{"action": "add-snapshot", "snapshot": snapshot} for snapshot in added]
    first = bodies.snapshot_ref(added[0]["snapshot-id"])
    given_commit(catalog, table, [*updates, first], [same_table(table)])
    return given_loaded(catalog, table)


def _staged(catalog: Catalog, place: Table) -> Table:
    """Return a table that is staged under a name; raise NotOffered or Blocked if it is refused."""
    body = bodies.create_table_body(place.name, stage_create=True)
    reply = arrange(catalog, "createTable", lambda: catalog.create_table(place.namespace, body))
    metadata = reply.json().get("metadata")
    return replace(place, metadata=metadata if isinstance(metadata, dict) else {})


def _files(catalog: Catalog, namespace: Namespace, requests: Iterable[Request]) -> dict[str, str]:
    """Return the metadata files to register, by number: of tables that were dropped again.

    Two tables of one file a catalog may refuse, and may delete the files of both with the first.
    """
    found: dict[str, str] = {}
    numbers = dict.fromkeys(each.values[0] for each in requests if each.name == "register")
    for number in numbers:
        table = given_table(catalog, namespace, properties={MARK: mark_of_file(number)})
        given_dropped(catalog, namespace, table.name)
        if table.metadata_location is not None:
            found[number] = table.metadata_location
    return found
