"""The stages of a view: commits that are each made for its current state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.conformance.states.stages import Stage
from icecheck.objects import metadata_view
from icecheck.objects.after_updates import LAST_ADDED
from icecheck.objects.views import (
    MARK,
    View,
    add_version,
    set_current_version,
    version_with,
)
from icecheck.targets.target import Namespace

Json = dict[str, Any]
Metadata = Mapping[str, Any]
Updates = Sequence[Json]

# Catalogs on Iceberg's own code refuse a version that lacks a dialect of the version before.
PROPERTIES = {
    MARK: "first", "icecheck.kept": "1", "icecheck.Kept": "01",
    "replace.drop-dialect.allowed": "true",
}  # fmt: skip
_UNKNOWN_ID = 7919
_FIELD = bodies.struct_field
_SPOT = {
    "type": "struct",
    "fields": [_FIELD(11, "lat", "double", required=True), _FIELD(12, "lon", "double", doc="east")],
}
_LISTED = {"type": "list", "element-id": 14, "element": _SPOT, "element-required": True}


def schema_of(doc: str = "what it is", *more: Json, required: bool = True) -> Json:
    """Return a schema that differs from the other ones in one respect."""
    data = _FIELD(9, "data", "decimal(9,2)", doc=doc)
    return bodies.schema(_FIELD(5, "id", "long", required=required), data, *more)


FIRST_SCHEMA = schema_of()
UNUSED = schema_of("what it is", _FIELD(13, "spots", _LISTED))
OTHER_DOC = schema_of("what it was")
_OTHER_NEED = schema_of(required=False)
_MORE = schema_of("what it is", _FIELD(10, "more", "string", doc=""))
SQL = [f'SELECT {n} AS id, {n} AS data -- it\'s "{n}"' for n in range(9)]


def _added(view: View, schema: Json, *, later: int = 0) -> Json:
    """Return the update that adds a schema; clients count its id on from the highest one."""
    schema_id = metadata_view.next_id(view.metadata, "schemas", "schema-id") + later
    numbered = {**schema, "schema-id": schema_id}
    return {"action": "add-schema", "schema": numbered, "last-column-id": 14}


def _version(
    view: View, sql: str, schema_id: Any, members: Json | None = None, *, later: int = 0
) -> Json:
    """Return the update that adds a version; ``later`` is added to its id and its time."""
    update = add_version(view, sql, schema_id=schema_id)
    made = update["view-version"]
    ids = {member: made[member] + later for member in ("version-id", "timestamp-ms")}
    return {**update, "view-version": {**made, **ids, **(members or {})}}


def _schema_id(view: View, schema: Json) -> Any:
    """Return the id of the schema with these columns; raise KeyError if the view shows none."""
    wanted = metadata_view.shape(schema)
    for each in view.metadata.get("schemas") or ():
        if metadata_view.shape(each) == wanted:
            return each.get("schema-id", 0)
    raise KeyError("schema")


def _version_id(view: View, number: int) -> Any:
    """Return the id of the version with a query; raise KeyError if the catalog expired it."""
    found = version_with(view.metadata, SQL[number]).get("version-id")
    if found is None:
        raise KeyError("version")
    return found


# ---- the commits


def _properties(_: View) -> Updates:
    return [
        bodies.set_properties({"icecheck.added": "", "icecheck.turn": "1"}),
        {"action": "remove-properties", "removals": ["icecheck.kept"]},
    ]


def _with_the_unused(view: View) -> Updates:
    return [*_properties(view), _added(view, UNUSED)]


_CONTEXT = {"default-namespace": ["Other", "ns"], "default-catalog": "Prod"}


def _of_the_first(view: View) -> Updates:
    return [_version(view, SQL[1], _schema_id(view, FIRST_SCHEMA), _CONTEXT)]


def _replaced(view: View) -> Updates:
    made = _version(view, SQL[2], LAST_ADDED)
    return [_added(view, OTHER_DOC), made, set_current_version(LAST_ADDED)]


def _last_of_two(view: View) -> Updates:
    return [
        _added(view, _OTHER_NEED),
        _version(view, SQL[3], LAST_ADDED),
        _added(view, _MORE, later=1),
        _version(view, SQL[4], LAST_ADDED, later=1),
    ]


def _of_the_unused(view: View) -> Updates:
    summary = {"engine-name": "icecheck", "icecheck.why": "another one", "empty": ""}
    members = {"representations": _in_two(5), "summary": summary}
    made = _version(view, SQL[5], _schema_id(view, UNUSED), members)
    return _amid_properties([made, set_current_version(LAST_ADDED)])


def _in_two(number: int) -> list[Json]:
    """Return a query in two dialects, with a different text in each."""
    queries = {"spark": SQL[number], "trino": f"SELECT {number}"}
    return [{"type": "sql", "sql": sql, "dialect": each} for each, sql in queries.items()]


def _other_queries(view: View) -> Updates:
    """Add a version with the id of another one, as a client does that has an old version."""
    taken = min(each["version-id"] for each in view.metadata["versions"])
    members = {"representations": _in_two(8), "version-id": taken}
    made = _version(view, SQL[8], _schema_id(view, UNUSED), members)
    return [made, set_current_version(LAST_ADDED)]


def _amid_properties(updates: Updates) -> Updates:
    """Set and remove properties before and after the updates: the last change of each counts."""
    removal = {"action": "remove-properties", "removals": ["icecheck.added"]}
    return [*_set_anew("before", MARK), *updates, *_set_anew("after"), removal]


def _set_anew(value: str, *removed: str) -> Updates:
    changed = {"icecheck.turn": value, "icecheck.kept": value, "icecheck.added": value}
    return [
        {"action": "remove-properties", "removals": ["icecheck.turn", *removed]},
        bodies.set_properties(changed),
    ]


def _alike(view: View) -> Updates:
    """Add versions with the query of an earlier one and one other member changed."""
    _version_id(view, 1)
    return [
        *_properties(view),
        _version(view, SQL[1], _schema_id(view, _MORE), _CONTEXT),
        set_current_version(LAST_ADDED),
        _version(
            view,
            SQL[1],
            _schema_id(view, FIRST_SCHEMA),
            {**_CONTEXT, "default-namespace": ["b", "a"]},
            later=1,
        ),
    ]


def _back_to(number: int) -> Callable[[View], Updates]:
    return lambda view: [set_current_version(_version_id(view, number))]


def _everything(view: View) -> Updates:
    return [
        {"action": "assign-uuid", "uuid": view.uuid},
        {"action": "upgrade-format-version", "format-version": 1},
        set_current_version(_version_id(view, 3)),
        bodies.set_properties({"icecheck.turn": "2"}),
        set_current_version(_version_id(view, 1)),
        {"action": "remove-properties", "removals": ["icecheck.Kept"]},
    ]


def _moved(view: View) -> Updates:
    """Move the view twice, with a new version between the moves."""
    home = str(view.metadata.get("location", "")).rstrip("/")
    on_the_way, there = (
        {"action": "set-location", "location": f"{home}{end}"} for end in ("_moving", "_moved")
    )
    made = _version(view, SQL[7], _schema_id(view, FIRST_SCHEMA))
    return [on_the_way, made, set_current_version(LAST_ADDED), there]


_STAGES: Sequence[tuple[str, Callable[[View], Updates]]] = (
    ("properties, and a schema that no version uses", _with_the_unused),
    ("a version of the first schema, not the current one", _of_the_first),
    ("a replacement with a schema of its own", _replaced),
    ("an earlier version made current", _back_to(1)),
    ("two schemas with a version each, neither of them current", _last_of_two),
    ("the version before made current", _back_to(3)),
    ("a version of the schema that none used, amid properties", _of_the_unused),
    ("other queries in both dialects, under an id that is taken", _other_queries),
    ("the first version made current", _back_to(0)),
    ("the last version made current", _back_to(8)),
    ("the first version made current once more", _back_to(0)),
    ("another location, and a version on the way", _moved),
    ("properties, and the current version moved twice", _everything),
    ("the same properties, versions with the query of an earlier one", _alike),
)
RENAMED_AFTER = (3, 9, 13)


def stages_of_views(namespace: Namespace) -> Iterator[Stage]:
    """Yield the stages, in order; new versions have this default namespace."""

    def made_by(make: Callable[[View], Updates]) -> Callable[[Metadata], Updates]:
        return lambda metadata: make(View(namespace, "", dict(metadata), None))

    for what, make in _STAGES:
        yield Stage(what, made_by(make))


def unwanted(view: View) -> list[Json]:
    """Return valid updates of every kind."""
    return [
        bodies.set_properties({MARK: "unwanted", "icecheck.turn": "unwanted"}),
        {"action": "remove-properties", "removals": ["icecheck.Kept"]},
        _added(view, schema_of("unwanted")),
        _version(view, "SELECT 'unwanted'", LAST_ADDED),
        set_current_version(LAST_ADDED),
    ]


def refusals(view: View, other: View) -> Iterator[tuple[str, Updates, Updates, tuple[int, ...]]]:
    """Yield endlessly (what is wrong, requirements, updates, statuses) of commits to refuse.

    Without statuses any 4xx will do: the document has none for an update that cannot be applied.
    """
    while True:
        for requirements in ([other.same], [other.same, view.same], [view.same, other.same]):
            yield "the uuid of another view", requirements, (), (409,)
        nowhere = set_current_version(_UNKNOWN_ID)
        yield "a current version that is not there", [view.same], [nowhere], ()
        without = _version(view, "SELECT 'unwanted too'", _UNKNOWN_ID, later=1)
        yield "a version of no schema", [view.same], [without], ()
