"""Checks of view names: renames, and the name space shared with tables."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    another_shared_namespace,
    given_dropped,
    given_namespace,
    given_table,
    shared_table,
)
from icecheck.client.given import (
    shared_namespace as given_home,
)
from icecheck.conformance.names.name_reuse import reused, unusable_renames
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, EFFECT_MISSING
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import has_capability, is_refusal, saw
from icecheck.objects import metadata_view
from icecheck.objects.committing import creation_updates
from icecheck.objects.reading import (
    expect_gone,
    expect_there,
    not_applicable,
    supported,
    tables_in,
)
from icecheck.objects.registering import due, file_of
from icecheck.objects.views import (
    MARK,
    RENAME_CHANGED_THE_VIEW,
    View,
    create_view_body,
    expect_view_unchanged,
    given_view,
    loaded_view,
    settled_view,
    shared_view,
    shared_views,
)
from icecheck.replies.expect import Reply, equal
from icecheck.targets.target import Namespace

_LOST_WITH_ITS_NAMESPACE = declare(
    "view-lost-with-its-namespace",
    "Dropping a namespace takes along the views in it",
    Severity.FALSE_OR_LOST,
    "everybody: views vanish, and nobody is told",
)
_ASSERT_CREATE = {"type": "assert-create"}

_Way = tuple[str, Callable[[], Reply]]


def _renamed(catalog: Catalog, namespace: Namespace | None = None) -> tuple[View, str]:
    """Make a view, rename it in its namespace, and return its former state with the new name."""
    view = loaded_view(catalog, given_view(catalog, namespace, properties={MARK: "first"}))
    name = catalog.new_name()
    supported(catalog.rename_view((view.namespace, view.name), (view.namespace, name))).expect(
        200, 204
    )
    return view, name


def _expect_table_stays(catalog: Catalog, table: Table) -> None:
    reply = catalog.load_table(table.namespace, table.name).expect_there_or_gone()
    found = str(metadata_view.metadata_in(reply).get("table-uuid")) if reply.ok else "no table"
    if found.lower() != table.uuid.lower():
        raise reply.violation(CHANGED_ALTHOUGH_REFUSED, "the table as it was", "no such table")


# -------------------------------------------------------------------------- renaming


@check("renameView.succeeds", proves="renameView.204")
def test_rename_view(catalog: Catalog) -> None:
    """Renaming a view is answered 204."""
    view = given_view(catalog)
    target = (view.namespace, catalog.new_name())
    supported(catalog.rename_view((view.namespace, view.name), target)).expect(204)


@check("renameView.malformed-refused", proves="renameView.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """The rename of a view with an unusable body is refused with 400."""
    view = shared_view(catalog)
    for what, body in unusable_renames(catalog, view.identifier).items():
        supported(catalog.call("renameView", body=body)).expect(400, detail=f"sent {what}")
    catalog.load_view(view.namespace, view.name).expect(200, detail="the view must stay")


@check("renameView.missing-source", proves="renameView.404")
def test_missing_source(catalog: Catalog) -> None:
    """Renaming a view that does not exist is refused."""
    namespace = given_home(catalog)
    source, target = catalog.new_name(), catalog.new_name()
    supported(catalog.rename_view((namespace, source), (namespace, target))).expect(404)
    nowhere = catalog.new_namespace_name()
    reply = supported(catalog.rename_view((nowhere, source), (nowhere, target)))
    reply.expect(404, detail="from a missing namespace")
    catalog.load_view(namespace, target).expect(404, detail="nothing may come of it")


@check("renameView.missing-target-namespace", proves="renameView.target-namespace-missing")
def test_missing_target_namespace(catalog: Catalog) -> None:
    """Renaming a view into a namespace that does not exist is refused, and the view stays."""
    view = shared_view(catalog)
    target = (catalog.new_namespace_name(), catalog.new_name())
    supported(catalog.rename_view((view.namespace, view.name), target)).expect(404)
    catalog.load_view(view.namespace, view.name).expect(200, detail="the view must stay")


@check("renameView.target-exists", proves=("renameView.409", "renameView.conflict-changes-nothing"))
def test_existing_target(catalog: Catalog) -> None:
    """Renaming a view to the name of another one is refused, and both stay as they were."""
    namespace = given_home(catalog)
    one, other = shared_view(catalog), loaded_view(catalog, given_view(catalog, namespace))
    supported(catalog.rename_view((namespace, one.name), (namespace, other.name))).expect(409)
    for view in (one, other):
        expect_view_unchanged(catalog, view)


@check("renameView.moves-view", proves="renameView.moves")
def test_renamed_view_moves(catalog: Catalog) -> None:
    """A renamed view loads and is listed under the new name, and not under the old one."""
    view, name = _renamed(catalog, given_namespace(catalog))
    expect_there(catalog.load_view(view.namespace, name), "rename", "under the new name")
    expect_gone(catalog.load_view(view.namespace, view.name), "rename", "under the old name")
    if catalog.claims("listViews"):
        reply = catalog.list_views(view.namespace)
        listed = [found for namespace, found in tables_in(reply) if namespace == view.namespace]
        if name not in listed or view.name in listed:
            due = "the new name in the list, and not the old one"
            raise reply.violation(EFFECT_MISSING.of("rename"), due, "another list")


@check("renameView.frees-old-name", proves="renameView.old-name-free")
def test_old_name_is_free(catalog: Catalog) -> None:
    """After a rename the old name can be used for another view."""
    view, name = _renamed(catalog)
    reply = supported(
        catalog.create_view(view.namespace, create_view_body(view.name, view.namespace))
    )
    reused(reply, "a view under the old name")
    expect_view_unchanged(catalog, replace(view, name=name))


@check("renameView.keeps-view", proves="renameView.same-view")
def test_renamed_view_is_the_same(catalog: Catalog) -> None:
    """A renamed view keeps its uuid, schemas, versions and properties."""
    view, name = _renamed(catalog)
    reply = catalog.load_view(view.namespace, name).expect(200)
    before = settled_view(view.metadata, MARK)
    after = settled_view(metadata_view.metadata_in(reply), MARK)
    for kept in (before, after):
        del kept["location"]  # a catalog may move the files with the rename
    equal(after, before, symptom=RENAME_CHANGED_THE_VIEW)


@check("renameView.unsupported", proves="renameView.406")
def test_unsupported_rename(catalog: Catalog) -> None:
    """A rename of a view across namespaces is done, or refused as not supported."""
    view = given_view(catalog)
    target = (another_shared_namespace(catalog), catalog.new_name())
    ends = {
        "source": view.identifier,
        "destination": {"namespace": [*target[0]], "name": target[1]},
    }
    reply = catalog.call("renameView", body=ends).expect(200, 204, 406)
    saw(catalog, "cross-namespace-view-rename", present=reply.ok)
    where = target if reply.ok else (view.namespace, view.name)
    catalog.load_view(*where).expect(200, detail=f"after an answer of {reply.status}")


@check("renameView.into-another-namespace", proves="renameView.across-namespaces")
def test_rename_across_namespaces(catalog: Catalog) -> None:
    """A view can be renamed into another namespace."""
    view = given_view(catalog)
    new = (another_shared_namespace(catalog), catalog.new_name())
    supported(catalog.rename_view((view.namespace, view.name), new)).expect(200, 204)
    moved = expect_there(catalog.load_view(*new), "rename", "in the other namespace")
    uuid = metadata_view.same_uuid(view.uuid)
    moved.expect_json({"metadata": {"view-uuid": uuid}}, symptom=RENAME_CHANGED_THE_VIEW)
    after = metadata_view.metadata_in(moved)
    definitions = [settled_view(each, MARK)["versions"] for each in (after, view.metadata)]
    equal(*definitions, symptom=RENAME_CHANGED_THE_VIEW)  # unqualified names keep their meaning
    expect_gone(catalog.load_view(view.namespace, view.name), "rename", "under the old name")


# ------------------------------------------------------------- one name space with tables


@check("createView.table-in-the-way", proves="createView.name-of-a-table-refused")
def test_view_over_a_table(catalog: Catalog) -> None:
    """Creating a view under the name of a table is refused, and the table stays."""
    table = shared_table(catalog)
    supported(
        catalog.create_view(table.namespace, create_view_body(table.name, table.namespace))
    ).expect(409)
    _expect_table_stays(catalog, table)


@check("createTable.view-in-the-way", proves="createTable.name-of-a-view-refused")
def test_table_over_a_view(catalog: Catalog) -> None:
    """Creating a table under the name of a view is refused, and the view stays."""
    view = shared_view(catalog)
    catalog.create_table(view.namespace, bodies.create_table_body(view.name)).expect(409)
    expect_view_unchanged(catalog, view)


@check("renameView.table-in-the-way", proves="renameView.name-of-a-table-refused")
def test_rename_view_over_a_table(catalog: Catalog) -> None:
    """Renaming a view to the name of a table is refused, and both stay."""
    table = shared_table(catalog)
    view = shared_view(catalog)
    taken = (table.namespace, table.name)
    supported(catalog.rename_view((view.namespace, view.name), taken)).expect(409)
    away = loaded_view(catalog, given_view(catalog, another_shared_namespace(catalog)))
    _expect_taken(catalog.rename_view((away.namespace, away.name), taken))
    _expect_table_stays(catalog, table)
    for each in (view, away):
        expect_view_unchanged(catalog, each)


def _expect_taken(reply: Reply) -> None:
    """Judge a rename from another namespace to a taken name; catalogs may refuse all of these."""
    if not is_refusal(reply):
        reply.expect(409, detail="from another namespace")


@check("renameTable.view-in-the-way", proves="renameTable.name-of-a-view-refused")
def test_rename_table_over_a_view(catalog: Catalog) -> None:
    """Renaming a table to the name of a view is refused, and both stay."""
    table = shared_table(catalog)
    view = shared_view(catalog)
    taken = (view.namespace, view.name)
    supported(catalog.rename_table((table.namespace, table.name), taken)).expect(409)
    away = given_table(catalog, another_shared_namespace(catalog))
    _expect_taken(catalog.rename_table((away.namespace, away.name), taken))
    for each in (table, away):
        _expect_table_stays(catalog, each)
    expect_view_unchanged(catalog, view)


@check("registerView.table-in-the-way", proves="registerView.name-of-a-table-refused")
def test_register_view_over_a_table(catalog: Catalog) -> None:
    """Registering a view under the name of a table is refused, and the table stays."""
    table, view = shared_table(catalog), given_view(catalog)
    reply = catalog.register_view(table.namespace, table.name, file_of(view))
    _expect_table_stays(catalog, table)
    due(catalog, reply, view, 409)


@check("registerTable.view-in-the-way", proves="registerTable.name-of-a-view-refused")
def test_register_table_over_a_view(catalog: Catalog) -> None:
    """Registering a table under the name of a view is refused, and the view stays."""
    view, table = shared_view(catalog), given_table(catalog)
    if (file := table.metadata_location) is None:
        raise not_applicable("the catalog tells no metadata location")
    given_dropped(catalog, table.namespace, table.name)
    reply = catalog.register_table(view.namespace, view.name, file)
    expect_view_unchanged(catalog, view)
    if 400 <= reply.status < 500 and reply.status != 409:
        plain = catalog.register_table(view.namespace, catalog.new_name(), file)
        if 400 <= plain.status < 500:
            raise not_applicable(f"a file of the catalog's own is answered with {plain.status}")
    reply.expect(409)


def _ways(catalog: Catalog, view: View) -> Iterator[_Way]:
    """Yield what makes a table of an existing view's name, but for a plain creation."""
    where = (view.namespace, view.name)
    if has_capability(catalog, "stage-create"):
        staged = given_table(catalog, stage_create=True)
        sent = (creation_updates(staged.metadata), [_ASSERT_CREATE])
        change = {"identifier": view.identifier, "requirements": sent[1], "updates": sent[0]}
        yield "a commit that creates it", partial(catalog.update_table, *where, *sent)
        if catalog.claims("commitTransaction"):
            yield "a transaction", partial(catalog.commit_transaction, [change])
    if not catalog.claims("registerTable"):
        return
    table = given_table(catalog)
    if (file := table.metadata_location) is not None:
        given_dropped(catalog, table.namespace, table.name)
        register = partial(catalog.register_table, *where, file)
        yield "a registration", register
        yield "a registration with overwrite", partial(register, overwrite=True)


@generated_check("createTable.view-in-every-way", proves="createTable.name-of-a-view-refused")
def test_no_table_comes_over_a_view(catalog: Catalog) -> None:
    """No commit and no registration makes a table under the name of a view."""
    for how, send in _ways(catalog, given_view(catalog)):
        reply = send()
        if reply.ok:
            raise reply.wrong_status(Statuses.of(409), detail=how)


@generated_check(
    "createTable.spares-views", proves=("createTable.spares-views", "createView.spares-tables")
)
def test_what_has_the_name_stays(catalog: Catalog) -> None:
    """Whatever makes a table of a view's name, or a view of a table's, leaves what has the name."""
    view, table = loaded_view(catalog, given_view(catalog)), shared_table(catalog)
    where = (view.namespace, view.name)
    body = bodies.create_table_body(view.name)
    create: _Way = ("a creation", partial(catalog.create_table, view.namespace, body))
    taken = False
    for how, send in [create, *_ways(catalog, view)]:
        taken = send().ok or taken
        expect_view_unchanged(catalog, view, how)
    if not taken:
        catalog.load_table(*where).expect(404, detail="after every way to make it was refused")
    catalog.create_view(table.namespace, create_view_body(table.name, table.namespace))
    _expect_table_stays(catalog, table)


@check("loadView.of-a-table", proves="loadView.table-is-no-view")
def test_table_is_no_view(catalog: Catalog) -> None:
    """Loading a table as a view is refused with 404."""
    table = shared_table(catalog)
    catalog.load_view(table.namespace, table.name).expect(404)


@check("loadTable.of-a-view", proves="loadTable.view-is-no-table")
def test_view_is_no_table(catalog: Catalog) -> None:
    """Loading a view as a table is refused with 404."""
    view = shared_view(catalog)
    catalog.load_table(view.namespace, view.name).expect(404)


@check("viewExists.of-a-table", proves="viewExists.table-is-no-view")
def test_table_does_not_exist_as_a_view(catalog: Catalog) -> None:
    """The existence check of a view is answered 404 under the name of a table."""
    table = shared_table(catalog)
    catalog.view_exists(table.namespace, table.name).expect(404)


@check("tableExists.of-a-view", proves="tableExists.view-is-no-table")
def test_view_does_not_exist_as_a_table(catalog: Catalog) -> None:
    """The existence check of a table is answered 404 under the name of a view."""
    view = shared_view(catalog)
    catalog.table_exists(view.namespace, view.name).expect(404)


@check("dropView.of-a-table", proves="dropView.spares-tables")
def test_drop_view_spares_tables(catalog: Catalog) -> None:
    """Dropping a view under the name of a table is refused, and the table stays."""
    table = shared_table(catalog)
    catalog.drop_view(table.namespace, table.name).expect(404)
    _expect_table_stays(catalog, table)


@check("dropTable.of-a-view", proves="dropTable.spares-views")
def test_drop_table_spares_views(catalog: Catalog) -> None:
    """Dropping a table under the name of a view is refused, and the view stays."""
    view = shared_view(catalog)
    catalog.drop_table(view.namespace, view.name).expect(404)
    expect_view_unchanged(catalog, view)


@check("dropNamespace.holds-a-view", proves="dropNamespace.views-keep-it")
def test_namespace_with_a_view_is_not_empty(catalog: Catalog) -> None:
    """Dropping a namespace that holds nothing but a view is refused with 409."""
    catalog.drop_namespace(shared_views(catalog).path).expect(409)


@check("dropNamespace.view-kept", proves="dropNamespace.view-kept")
def test_a_view_in_a_dropped_namespace_is_not_lost(catalog: Catalog) -> None:
    """Dropping a namespace does not take along a view in it, refused or not."""
    views = shared_views(catalog)
    view = loaded_view(catalog, View(views.path, views.holds[0], {}, None))
    dropped = catalog.drop_namespace(view.namespace)
    if dropped.ok:
        reply = catalog.load_view(view.namespace, view.name)
        if reply.status == 404:
            raise reply.violation(
                _LOST_WITH_ITS_NAMESPACE, "200", "404", detail="the view went with the drop"
            )
    else:
        dropped.expect_refused()
    expect_view_unchanged(catalog, view)
