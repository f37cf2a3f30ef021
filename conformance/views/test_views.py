"""Checks of views: create, load, exists, list, drop."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.given import arrange, given_namespace, shared_empty_namespace
from icecheck.client.given import shared_namespace as given_home
from icecheck.client.given import some_shared_namespace as some_home
from icecheck.findings.shared_symptoms import EFFECT_MISSING, FIRST_LIFE_SHOWS
from icecheck.findings.symptoms import ANOTHER_THING, Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability, is_declined, offered
from icecheck.objects import metadata_view
from icecheck.objects.arranging import given_namespace_at
from icecheck.objects.comparing import expect_answer
from icecheck.objects.reading import (
    DANGLING_CURRENT_ID,
    EXISTENCE_CONTRADICTS_LOAD,
    LIST_LEFT_OUT,
    LISTING,
    expect_gone,
    object_in,
    supported,
    tables_in,
)
from icecheck.objects.views import (
    FIRST_SQL,
    MARK,
    VIEW_SCHEMA,
    VIEW_VERSION_WITHOUT_SCHEMA,
    View,
    create_view_body,
    current_versions,
    definition_of,
    expect_view_unchanged,
    given_view,
    in_dialects,
    loaded_view,
    shared_table_and_view,
    shared_view,
    shared_views,
    some_view,
    version_with,
    view_version,
)
from icecheck.replies.expect import NotOffered, Reply, equal
from icecheck.replies.matching import ABSENT, ANY_OBJECT, ANY_STRING, show
from icecheck.targets.target import Namespace

_DROPPED_VIEW_REVIVED = declare(
    "dropped-view-revived",
    "Creating a view under the name of a dropped one brings the dropped one back",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    family=FIRST_LIFE_SHOWS,
)

_FIELD = bodies.struct_field
_EFFECT = EFFECT_MISSING.of("view-definition")


# ------------------------------------------------------------------------- creation


@check("createView.succeeds", proves="createView.200")
def test_create_view(catalog: Catalog) -> None:
    """Creating a view succeeds and answers its metadata."""
    namespace = given_home(catalog)
    body = create_view_body(catalog.new_name(), namespace)
    reply = supported(catalog.create_view(namespace, body)).expect(200)
    reply.expect_json({"metadata": ANY_OBJECT})


@check("createView.exists-at-once", proves="createView.immediate")
def test_created_view_exists(catalog: Catalog) -> None:
    """A created view loads at once."""
    view = given_view(catalog)
    catalog.load_view(view.namespace, view.name).expect(200)


@check("createView.answer-agrees-with-load", proves="createView.answer-is-the-view")
def test_answer_is_what_load_returns(catalog: Catalog) -> None:
    """The answer to the creation of a view is what a load returns right after it."""
    namespace, name = given_home(catalog), catalog.new_name()
    body = create_view_body(name, namespace, properties={MARK: "first"})
    reply = arrange(catalog, "createView", lambda: catalog.create_view(namespace, body))
    view = View(namespace, name, {}, None)
    expect_answer(reply, loaded_view(catalog, view), "a new view")


@check("createView.malformed-refused", proves="createView.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """The creation of a view with an unusable body is refused with 400."""
    namespace = given_home(catalog)
    name = catalog.new_name()
    whole = create_view_body(name, namespace)
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b'{"name": ',
        "no object": [whole],
        "no name": {k: v for k, v in whole.items() if k != "name"},
        "no schema": {k: v for k, v in whole.items() if k != "schema"},
        "no version": {k: v for k, v in whole.items() if k != "view-version"},
        "a version that is a string": {**whole, "view-version": FIRST_SQL},
    }
    for what, body in wrong.items():
        supported(catalog.create_view(namespace, body)).expect(400, detail=f"sent {what}")
    catalog.load_view(namespace, name).expect(404, detail="a refused view must not exist")


@check("createView.missing-namespace", proves="createView.404")
def test_missing_namespace(catalog: Catalog) -> None:
    """Creating a view in a namespace that does not exist is refused."""
    missing, name = catalog.new_namespace_name(), catalog.new_name()
    body = create_view_body(name, given_home(catalog))
    supported(catalog.create_view(missing, body)).expect(404)
    catalog.load_view(missing, name).expect(404, detail="a refused view must not exist")


@check(
    "createView.already-exists", proves=("createView.409", "createView.conflict-changes-nothing")
)
def test_existing_view(catalog: Catalog) -> None:
    """Creating a view that exists is refused and leaves it as it was."""
    view = shared_view(catalog)
    body = create_view_body(
        view.name,
        view.namespace,
        schema=bodies.schema(_FIELD(1, "other", "string")),
        version=view_version("SELECT 'b' AS other", namespace=view.namespace),
        properties={MARK: "second"},
    )
    supported(catalog.create_view(view.namespace, body)).expect(409)
    expect_view_unchanged(catalog, view)


@check("createView.keeps-schema", proves="createView.schema-kept")
def test_schema_kept(catalog: Catalog) -> None:
    """The view has the columns that were sent."""
    struct = {"type": "struct", "fields": [_FIELD(4, "Inner", "decimal(9,2)", required=True)]}
    sent = bodies.schema(
        _FIELD(1, "Id", "long", required=True, doc="the key"),
        _FIELD(2, "at", "timestamptz"),
        _FIELD(3, "nested", struct),
    )
    metadata = loaded_view(catalog, given_view(catalog, schema=sent)).metadata
    shapes = [metadata_view.shape(each) for each in metadata.get("schemas") or ()]
    equal(shapes, [metadata_view.shape(sent)], symptom=EFFECT_MISSING.of("view-schema"))


@check("createView.assigns-schema-id", proves="createView.schema-id-assigned")
def test_schema_id_assigned(catalog: Catalog) -> None:
    """The version refers to the schema of the request, whatever schema id it was sent with."""
    home = given_home(catalog)
    sent = view_version(namespace=home, schema_id=17)
    metadata = loaded_view(catalog, given_view(catalog, home, version=sent)).metadata
    version = version_with(metadata, FIRST_SQL)
    named = [
        metadata_view.shape(schema)
        for schema in metadata.get("schemas") or ()
        if schema.get("schema-id", 0) == version.get("schema-id", ABSENT)
    ]
    equal(named, [metadata_view.shape(VIEW_SCHEMA)], symptom=VIEW_VERSION_WITHOUT_SCHEMA)


@check("createView.keeps-version", proves="createView.version-kept")
def test_version_kept(catalog: Catalog) -> None:
    """The view has the queries and the default catalog and namespace that were sent."""
    namespace, name = given_home(catalog), catalog.new_name()
    # Line breaks, quotes and an accent, which a server may alter.
    sql = "SELECT 1 AS id,\r\n  'it''s \"é\"'\n AS data"
    plain, odd = (
        view_version(each, namespace=namespace, dialects=("spark", "trino"))
        for each in (FIRST_SQL, sql)
    )
    # The last level contains a dot: a name must not be split or joined.
    odd |= {"default-catalog": "Prod", "default-namespace": [*namespace, "a.b"]}

    def send(version: dict[str, Any]) -> Reply:
        body = create_view_body(name, namespace, version=version)
        return catalog.create_view(namespace, body)

    kept, reply = in_dialects(catalog, odd, send)
    if is_declined(reply):  # nothing has these names, and not every query can be stored
        kept, reply = in_dialects(catalog, plain, send)
    reply.expect(200)
    metadata = metadata_view.metadata_in(catalog.load_view(namespace, name).expect(200))
    found = [definition_of(version) for version in current_versions(metadata)]
    equal(found, [definition_of(kept)], symptom=_EFFECT)


@check("createView.keeps-location", proves="createView.location-kept")
def test_location_kept(catalog: Catalog) -> None:
    """A view created with a location has that location."""
    sibling = given_view(catalog)
    beside = str(sibling.metadata.get("location") or "").rstrip("/").rpartition("/")[0]
    if not beside:
        raise NotOffered("the catalog tells no location beside which a view could be put")
    name = catalog.new_name()
    wanted = f"{beside}/{name}_elsewhere"
    body = {**create_view_body(name, sibling.namespace), "location": wanted}
    reply = catalog.create_view(sibling.namespace, body)
    offered(catalog, "client-view-location", reply, is_declined).expect(200)
    loaded = catalog.load_view(sibling.namespace, name).expect(200)
    found = metadata_view.place(metadata_view.metadata_in(loaded).get("location"))
    equal(found, metadata_view.place(wanted), symptom=EFFECT_MISSING.of("client-location"))


@check("createView.keeps-properties", proves="createView.properties-kept")
def test_properties_kept(catalog: Catalog) -> None:
    """The view has the properties that were sent."""
    plain, odd = {"icecheck.First": "one"}, {"icecheck.second": " two ", "icecheck.third": ""}
    home, name, sent = given_home(catalog), catalog.new_name(), plain | odd
    # A catalog may refuse values that it cannot store, but may not store others instead.
    if is_declined(catalog.create_view(home, create_view_body(name, home, properties=sent))):
        name, sent = given_view(catalog, home, properties=plain).name, plain
    reply = catalog.load_view(home, name).expect(200)
    reply.expect_json(
        {"metadata": {"properties": sent}}, symptom=EFFECT_MISSING.of("view-properties")
    )


# ------------------------------------------------------------------ loading, existence


@check("loadView.succeeds", proves="loadView.200")
def test_load_view(catalog: Catalog) -> None:
    """Loading a view answers its metadata and where it is."""
    view = some_view(catalog) if catalog.target.read_only else given_view(catalog)
    reply = catalog.load_view(view.namespace, view.name).expect(200)
    reply.expect_json({"metadata": {"view-uuid": ANY_STRING}, "metadata-location": ANY_STRING})


@check("loadView.missing", proves="loadView.404")
def test_load_missing_view(catalog: Catalog) -> None:
    """Loading a view that does not exist is refused, in a namespace that exists or not."""
    catalog.load_view(some_home(catalog), catalog.new_name()).expect(404)
    catalog.load_view(catalog.new_namespace_name(), catalog.new_name()).expect(404)


@check("viewExists.succeeds", proves="viewExists.204")
def test_view_exists(catalog: Catalog) -> None:
    """The existence check of an existing view is answered 204."""
    view = some_view(catalog)
    catalog.view_exists(view.namespace, view.name).expect(204)


@check("viewExists.missing", proves="viewExists.404")
def test_missing_view_does_not_exist(catalog: Catalog) -> None:
    """The existence check of a missing view is answered 404."""
    catalog.view_exists(some_home(catalog), catalog.new_name()).expect(404)


@check("loadView.complete", proves="loadView.full-metadata")
def test_full_metadata(catalog: Catalog) -> None:
    """The current version of a view is in its metadata, and the schema of each version too."""
    view = some_view(catalog)
    reply = catalog.load_view(view.namespace, view.name).expect(200)
    metadata = metadata_view.metadata_in(reply)
    versions = [each for each in metadata.get("versions") or () if isinstance(each, dict)]
    schemas = {each.get("schema-id", 0) for each in metadata.get("schemas") or ()}
    current = metadata.get("current-version-id")
    found = current in {each.get("version-id") for each in versions}
    equal(found, True, symptom=DANGLING_CURRENT_ID, detail="current-version-id among versions")
    dangling = [each.get("version-id") for each in versions if each.get("schema-id") not in schemas]
    equal(dangling, [], symptom=VIEW_VERSION_WITHOUT_SCHEMA, detail="versions without a schema")


@check("viewExists.agrees", proves="viewExists.agrees-with-load")
def test_existence_agrees_with_load(catalog: Catalog) -> None:
    """The existence check agrees with loading, after a creation and after a drop."""
    view = given_view(catalog)
    _agrees(catalog, view.namespace, view.name, "created")
    catalog.drop_view(view.namespace, view.name).expect(200, 204)
    _agrees(catalog, view.namespace, view.name, "dropped")


def _agrees(catalog: Catalog, namespace: Namespace, name: str, stage: str) -> None:
    loads = catalog.load_view(namespace, name).expect(200, 404).ok
    exists = catalog.view_exists(namespace, name).expect(200, 204, 404).ok
    equal(exists, loads, symptom=EXISTENCE_CONTRADICTS_LOAD, detail=f"a view {stage}")


# --------------------------------------------------------------------------- listing


@check("listViews.all", proves=("listViews.200", "listViews.all", "listViews.unique"))
def test_every_view_is_listed_once(catalog: Catalog) -> None:
    """Every view of a namespace is listed once, with its namespace and name."""
    views = shared_views(catalog)
    _expect_views(catalog.list_views(views.path), views.path, [*views.holds])


@check("listViews.this-namespace-only")
def test_views_of_other_namespaces_are_not_listed(catalog: Catalog) -> None:
    """Views of other namespaces are not listed, not even of those below this one."""
    namespace = given_namespace(catalog)
    view = given_view(catalog, namespace)
    lookalike = (*namespace[:-1], f"{namespace[-1]}x")
    given_view(catalog, given_namespace_at(catalog, lookalike))
    if has_capability(catalog, "nested-namespaces"):
        given_view(catalog, given_namespace(catalog, under=namespace))
    _expect_views(catalog.list_views(namespace), namespace, [view.name])


@check("listViews.no-tables")
def test_tables_are_not_among_the_views(catalog: Catalog) -> None:
    """Tables are not listed among the views."""
    both = shared_table_and_view(catalog)
    _expect_views(catalog.list_views(both.path), both.path, [both.holds[1]])


@check("listTables.no-views")
def test_views_are_not_among_the_tables(catalog: Catalog) -> None:
    """Views are not listed among the tables."""
    both = shared_table_and_view(catalog)
    _expect_views(catalog.list_tables(both.path), both.path, [both.holds[0]])


@check("listViews.list-present")
def test_an_empty_list_of_views_is_there(catalog: Catalog) -> None:
    """The answer holds the list of views even when it is empty."""
    reply = catalog.list_views(shared_empty_namespace(catalog)).expect(200)
    found = object_in(reply).get("identifiers", ABSENT)
    if not isinstance(found, list):
        raise reply.violation(LIST_LEFT_OUT, "a list", show(found), pointer="/identifiers")


@check("listViews.no-such-namespace", proves="listViews.404")
def test_views_of_a_missing_namespace_are_refused(catalog: Catalog) -> None:
    """Listing the views of a namespace that does not exist is refused with 404."""
    catalog.list_views(catalog.new_namespace_name()).expect(404)


# -------------------------------------------------------------------------- dropping


@check("dropView.succeeds", proves="dropView.204")
def test_drop_view(catalog: Catalog) -> None:
    """Dropping a view is answered 204."""
    view = given_view(catalog)
    catalog.drop_view(view.namespace, view.name).expect(204)


@check("dropView.missing", proves="dropView.404")
def test_drop_missing_view(catalog: Catalog) -> None:
    """Dropping a view that does not exist is refused, and so is dropping one twice."""
    catalog.drop_view(given_home(catalog), catalog.new_name()).expect(404)
    view = given_view(catalog)
    catalog.drop_view(view.namespace, view.name).expect(200, 204)
    catalog.drop_view(view.namespace, view.name).expect(404, detail="after it was dropped")


@check("dropView.removes-view", proves="dropView.gone")
def test_dropped_view_is_gone(catalog: Catalog) -> None:
    """A dropped view neither loads nor is listed, while its neighbour stays."""
    view = given_view(catalog, given_namespace(catalog))
    neighbour = given_view(catalog, view.namespace)
    catalog.drop_view(view.namespace, view.name).expect(200, 204)
    expect_gone(catalog.load_view(view.namespace, view.name), "drop-view", "the dropped view")
    catalog.load_view(view.namespace, neighbour.name).expect(200, detail="the neighbour")
    if catalog.claims("listViews"):
        reply = catalog.list_views(view.namespace)
        if (view.namespace, view.name) in tables_in(reply):
            raise reply.violation(
                EFFECT_MISSING.of("drop-view"), "a list without it", "one with it"
            )


@check("dropView.frees-name", proves="dropView.name-free")
def test_name_of_a_dropped_view_is_free(catalog: Catalog) -> None:
    """After a drop another view can be created under the name, with nothing of the first one."""
    view = given_view(catalog, properties={MARK: "first"})
    catalog.drop_view(view.namespace, view.name).expect(200, 204)
    supported(
        catalog.create_view(view.namespace, create_view_body(view.name, view.namespace))
    ).expect(200)
    reply = catalog.load_view(view.namespace, view.name).expect(200)
    found = metadata_view.metadata_in(reply)
    revived = str(found.get("view-uuid")).lower() == view.uuid.lower()
    if revived or (found.get("properties") or {}).get(MARK) is not None:
        raise reply.violation(_DROPPED_VIEW_REVIVED, "another view", "the one that was dropped")


def _expect_views(reply: Reply, namespace: Namespace, names: list[str]) -> None:
    listed = tables_in(reply)
    due = sorted((namespace, name) for name in names)
    if listed != due:
        detail = f"it is {show(listed)}, due is {show(due)}"
        raise reply.violation(LISTING, "a list of what is there", "another list", detail=detail)
