"""One view, many states: all its versions and schemas after every commit, rename and refusal."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck import bodies
from icecheck.check import check
from icecheck.client import Catalog
from icecheck.conformance import metadata_view
from icecheck.conformance.arranging import require
from icecheck.conformance.kept import refused
from icecheck.conformance.reading import not_applicable
from icecheck.conformance.view_states import (
    LAST_ADDED,
    ViewState,
    after_commit,
    expect_history,
    expect_state,
    first_state,
    history_of,
    state_of,
)
from icecheck.conformance.viewing import (
    MARK,
    View,
    add_version,
    create_view_body,
    drop_view,
    given_view,
    load_view,
    loaded_view,
    replace_view,
    set_current_version,
    version_with,
    view_version,
)
from icecheck.expect import Reply
from icecheck.probes import has_capability
from icecheck.verdict import Group

Json = dict[str, Any]
Updates = Sequence[Json]

_KEYS = (MARK, "icecheck.kept", "icecheck.Kept", "icecheck.added", "icecheck.turn")
# Catalogs that run Iceberg's own code refuse a version without a dialect of the one before it.
_PROPERTIES = {
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


def _schema(doc: str = "what it is", *more: Json, required: bool = True) -> Json:
    """Return columns that differ from those of another such schema in one respect."""
    data = _FIELD(9, "data", "decimal(9,2)", doc=doc)
    return bodies.schema(_FIELD(5, "id", "long", required=required), data, *more)


_FIRST = _schema()
_UNUSED = _schema("what it is", _FIELD(13, "spots", _LISTED))
_OTHER_DOC = _schema("what it was")
_OTHER_NEED = _schema(required=False)
_MORE = _schema("what it is", _FIELD(10, "more", "string", doc=""))
_SQL = [f'SELECT {n} AS id, {n} AS data -- it\'s "{n}"' for n in range(7)]


def _added(schema: Json) -> Json:
    return {"action": "add-schema", "schema": schema, "last-column-id": 14}


def _version(
    view: View, sql: str, schema_id: Any, members: Json | None = None, *, later: int = 0
) -> Json:
    """Return the update that adds a version; ``later`` are those added before it in the commit."""
    update = add_version(view, sql, schema_id=schema_id)
    made = update["view-version"]
    ids = {member: made[member] + later for member in ("version-id", "timestamp-ms")}
    return {**update, "view-version": {**made, **ids, **(members or {})}}


def _schema_id(view: View, schema: Json) -> Any:
    """Return the id of the schema with these columns; LookupError if the view shows none."""
    wanted = metadata_view.shape(schema)
    for each in view.metadata.get("schemas") or ():
        if metadata_view.shape(each) == wanted:
            return each.get("schema-id", 0)
    raise LookupError("schema")


def _version_id(view: View, number: int) -> Any:
    """Return the id of the version with a query; LookupError if the catalog has let it go."""
    found = version_with(view.metadata, _SQL[number]).get("version-id")
    if found is None:
        raise LookupError("version")
    return found


# ---- what a view goes through


@dataclass(frozen=True, slots=True)
class _Stage:
    """One commit, made for the view as it then is; LookupError where what it needs is gone."""

    what: str
    make: Callable[[View], Updates]


def _properties(_: View) -> Updates:
    return [
        {"action": "set-properties", "updates": {"icecheck.added": "", "icecheck.turn": "1"}},
        {"action": "remove-properties", "removals": ["icecheck.kept"]},
    ]


def _of_the_first(view: View) -> Updates:
    context = {"default-namespace": ["Other", "ns"], "default-catalog": "Prod"}
    return [_version(view, _SQL[1], _schema_id(view, _FIRST), context)]


def _replaced(view: View) -> Updates:
    made = _version(view, _SQL[2], LAST_ADDED, {"default-namespace": []})
    return [_added(_OTHER_DOC), made, set_current_version(LAST_ADDED)]


def _last_of_two(view: View) -> Updates:
    return [
        _added(_OTHER_NEED),
        _version(view, _SQL[3], LAST_ADDED),
        _added(_MORE),
        _version(view, _SQL[4], LAST_ADDED, later=1),
    ]


def _of_the_unused(view: View) -> Updates:
    summary = {"engine-name": "icecheck", "icecheck.why": "another one", "empty": ""}
    in_two = [
        {"type": "sql", "sql": _SQL[5], "dialect": "spark"},
        {"type": "sql", "sql": "SELECT 5", "dialect": "trino"},
    ]
    members = {"representations": in_two, "summary": summary}
    made = _version(view, _SQL[5], _schema_id(view, _UNUSED), members)
    return [made, set_current_version(LAST_ADDED)]


def _alike(view: View) -> Updates:
    """Add versions with one query, which differ in one other member each; the second is current."""
    schema_ids = [_schema_id(view, schema) for schema in (_FIRST, _MORE)]
    here = {"default-namespace": [*view.namespace]}
    return [
        _version(view, _SQL[6], schema_ids[0], here),
        _version(view, _SQL[6], schema_ids[1], here, later=1),
        set_current_version(LAST_ADDED),
        _version(view, _SQL[6], schema_ids[0], {"default-namespace": ["b", "a"]}, later=2),
    ]


def _back_to(number: int) -> Callable[[View], Updates]:
    return lambda view: [set_current_version(_version_id(view, number))]


def _everything(view: View) -> Updates:
    return [
        {"action": "assign-uuid", "uuid": view.uuid},
        {"action": "upgrade-format-version", "format-version": 1},
        set_current_version(_version_id(view, 3)),
        {"action": "set-properties", "updates": {"icecheck.turn": "2"}},
        set_current_version(_version_id(view, 1)),
        {"action": "remove-properties", "removals": ["icecheck.added", "icecheck.never"]},
    ]


def _moved(view: View) -> Updates:
    location = f"{str(view.metadata.get('location', '')).rstrip('/')}_moved"
    return [{"action": "set-location", "location": location}]


_STAGES = (
    _Stage("properties set and removed", _properties),
    _Stage("a schema that no version uses", lambda _: [_added(_UNUSED)]),
    _Stage("a version of the first schema, not the current one", _of_the_first),
    _Stage("a replacement with a schema of its own", _replaced),
    _Stage("an earlier version made current", _back_to(1)),
    _Stage("two schemas with a version each, neither of them current", _last_of_two),
    _Stage("the version before made current", _back_to(3)),
    _Stage("a version of the schema that none used", _of_the_unused),
    _Stage("the first version made current", _back_to(0)),
    _Stage("the last version made current", _back_to(5)),
    _Stage("the first version made current once more", _back_to(0)),
    _Stage("another location", _moved),
    _Stage("properties, and the current version moved twice", _everything),
    _Stage("versions with one query", _alike),
    _Stage("the same properties again", _properties),
)
_RENAMED_AFTER = (4, 9, 13)


def _unwanted(view: View) -> list[Json]:
    """Return updates of everything, which are all in order."""
    return [
        {"action": "set-properties", "updates": {MARK: "unwanted", "icecheck.turn": "unwanted"}},
        {"action": "remove-properties", "removals": ["icecheck.Kept"]},
        _added(_schema("unwanted")),
        _version(view, "SELECT 'unwanted'", LAST_ADDED),
        set_current_version(LAST_ADDED),
    ]


def _refusals(view: View, other: View) -> Iterator[tuple[str, Updates, Updates, int]]:
    """Yield, without an end, commits to refuse: what is wrong, requirements, updates, status."""
    while True:
        for requirements in ([other.same], [other.same, view.same], [view.same, other.same]):
            yield "the uuid of another view", requirements, (), 409
        nowhere = set_current_version(_UNKNOWN_ID)
        yield "a current version that is not there", [view.same], [nowhere], 400
        without = _version(view, "SELECT 'unwanted too'", _UNKNOWN_ID, later=1)
        yield "a version of no schema", [view.same], [without], 400


# ---- the walk


class _Walk:
    """Leads one view through its stages; ``before`` is what the last load showed of it."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        namespace = catalog.given_home()
        version = view_version(_SQL[0], namespace=namespace)
        version["default-catalog"] = "prod"
        members = {"version": version, "schema": _FIRST, "properties": _PROPERTIES}
        self.body = create_view_body("", **members)
        self.view = loaded_view(catalog, given_view(catalog, namespace, **members))
        self.other = loaded_view(catalog, given_view(catalog, namespace, properties=_PROPERTIES))
        self.homes = [namespace]
        if has_capability(catalog, "nested-namespaces"):
            self.homes.append(catalog.given_namespace())
        self.before: ViewState = state_of(self.view.metadata, _KEYS)
        self.refusals = _refusals(self.view, self.other)
        self.taken = 0

    def load(self) -> Reply:
        return load_view(self.catalog, self.view.namespace, self.view.name).expect(200)

    def expect_first(self) -> None:
        """Judge that the view is at first what it was created as."""
        due = first_state(self.view, self.body, _KEYS)
        expect_state(self.load(), due, due, "a new view", symptom="effect-missing:view-definition")

    def go_on(self, reply: Reply, state: ViewState) -> None:
        location = reply.json().get("metadata-location")
        metadata = metadata_view.metadata_in(reply)
        self.view = replace(self.view, metadata=metadata, metadata_location=location)
        self.before = state

    def commit(self, stage: _Stage) -> Updates:
        """Send a stage under the view's uuid; nothing where it cannot be sent, or is refused."""
        try:
            updates = stage.make(self.view)
        except LookupError:
            return ()
        # To assert nothing, or what is so twice, is no other commit.
        requirements = [self.view.same] * (1, 2, 0)[self.taken % 3]
        reply = replace_view(self.catalog, self.view, updates, requirements)
        if refused(reply, stage.what):
            self.expect_same("changed-although-refused", stage.what)
            return ()
        self.taken += 1
        due = after_commit(self.before, updates)
        loaded = self.load()
        # How long a view keeps old versions is another check's business.
        state = expect_state(loaded, self.before, due, stage.what, may_expire=True)
        symptom = "answer-differs-from-load"
        expect_state(reply, state, state, stage.what, symptom=symptom)
        location = loaded.json().get("metadata-location")
        if location != reply.json().get("metadata-location"):
            due_location = "the metadata location that a load shows"
            raise reply.violation(symptom, due_location, "another one", detail=stage.what)
        self.go_on(loaded, state)
        return updates

    def expect_same(self, symptom: str, what: str) -> None:
        expect_state(self.load(), self.before, self.before, what, symptom=symptom)

    def refuse(self, what: str) -> None:
        """Judge that a commit that is not in order changes nothing of the view as it now is."""
        wrong, requirements, updates, status = next(self.refusals)
        sent = [*_unwanted(self.view), *updates]
        detail = f"{wrong}, after {what}"
        replace_view(self.catalog, self.view, sent, requirements).expect(status, detail=detail)
        self.expect_same("changed-although-refused", detail)

    def rename(self, what: str) -> None:
        """Rename the view, by turns to another namespace; it may lie elsewhere then."""
        if not self.catalog.claims("renameView"):
            return
        homes = [each for each in self.homes if each != self.view.namespace] or self.homes
        new = replace(self.view, namespace=homes[0], name=self.catalog.new_name())
        ends = {"source": self.view.identifier, "destination": new.identifier}
        if refused(self.catalog.call("renameView", body=ends), f"a rename after {what}"):
            return
        self.view = new
        loaded = self.load()
        location = metadata_view.place(metadata_view.metadata_in(loaded).get("location"))
        due = {**self.before, "location": location}
        symptom = "rename-changed-the-view"
        state = expect_state(loaded, self.before, due, f"renamed after {what}", symptom=symptom)
        self.go_on(loaded, state)

    def create_again(self) -> None:
        """Drop the view and create it anew under its name: nothing of what it was is left."""
        if not self.catalog.claims("dropView"):
            return
        where = (self.view.namespace, self.view.name)
        drop_view(self.catalog, *where).expect(200, 204)
        schema = _schema("of a second life")
        version = view_version("SELECT 'again'", namespace=self.homes[0])
        body = create_view_body(
            self.view.name, version=version, schema=schema, properties={"icecheck.turn": "0"}
        )
        reply = self.catalog.call("createView", {"namespace": where[0]}, body=body)
        if reply.status in {400, 403, 422}:
            return  # what was renamed still lies where the catalog would put the next one
        reply.expect(200)
        self.view = loaded_view(self.catalog, self.view)
        due = first_state(self.view, body, _KEYS)
        expect_state(self.load(), due, due, "created again", symptom="something-of-the-first-life")

    def expect_other(self) -> None:
        state = state_of(self.other.metadata, _KEYS)
        reply = load_view(self.catalog, self.other.namespace, self.other.name).expect(200)
        what = "a view that no commit named"
        expect_state(reply, state, state, what, symptom="changed-beside:another-view")


def _begin(catalog: Catalog) -> _Walk:
    require(catalog, "createView", "loadView", "replaceView")
    return _Walk(catalog)


@check("states.view-life", proves="states.view-life", group=Group.GENERATED)
def test_a_life_of_a_view(catalog: Catalog) -> None:
    """In every state a commit to a view does its part, and all else of it stays as it was."""
    walk = _begin(catalog)
    walk.expect_first()
    for ordinal, stage in enumerate(_STAGES, 1):
        if walk.commit(stage):
            walk.refuse(stage.what)
        if ordinal in _RENAMED_AFTER:
            walk.rename(stage.what)
    if not walk.taken:
        raise not_applicable("the catalog refuses every one of these commits")
    walk.create_again()
    walk.expect_other()


@check("states.view-history", proves="states.view-history", group=Group.GENERATED)
def test_the_history_of_a_view(catalog: Catalog) -> None:
    """A view keeps its versions with their times and summaries, and a log of what was current."""
    walk = _begin(catalog)
    history = history_of(walk.view.metadata)
    for ordinal, stage in enumerate(_STAGES, 1):
        updates = walk.commit(stage)
        if ordinal in _RENAMED_AFTER:
            walk.rename(stage.what)
        history = expect_history(walk.load(), history, updates, stage.what)
