"""Checks of the reuse of view names, by another view or by a table."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_dropped, given_namespace, given_table
from icecheck.conformance.names.name_reuse import (
    FIRST_LIFE,
    expect_listed_once,
    expect_no_table,
    expect_no_view,
    expect_nothing,
    expect_second_table,
    expect_second_view,
    reused,
    second_table,
    second_view,
    warm,
)
from icecheck.findings.shared_symptoms import REQUIREMENT_IGNORED
from icecheck.findings.statuses import Statuses
from icecheck.judging.check import generated_check
from icecheck.objects import metadata_view
from icecheck.objects.arranging import require
from icecheck.objects.reading import supported
from icecheck.objects.views import (
    RENAME_CHANGED_THE_VIEW,
    View,
    given_view,
    loaded_view,
    replace_view,
)

_TABLE = ("createTable", "loadTable", "dropTable")
_VIEW = ("createView", "loadView", "dropView")


# ----------------------------------------------------------------------------- views


def _given_first_view(catalog: Catalog) -> View:
    view = given_view(catalog, given_namespace(catalog), properties=FIRST_LIFE)
    replace_view(
        catalog, view, [{"action": "set-properties", "updates": {"icecheck.more": "1"}}]
    ).expect(200)
    if catalog.claims("viewExists"):
        catalog.view_exists(view.namespace, view.name)
    if catalog.claims("listViews"):
        catalog.list_views(view.namespace)
    return loaded_view(catalog, view)


def _expect_second_everywhere(catalog: Catalog, first: View) -> None:
    where = (first.namespace, first.name)
    expect_second_view(catalog.load_view(*where), first.uuid)
    if catalog.claims("viewExists"):
        catalog.view_exists(*where).expect(200, 204)
    if catalog.claims("listViews"):
        expect_listed_once(catalog.list_views(first.namespace), *where)
    marked = [{"action": "set-properties", "updates": {"icecheck.later": "1"}}]
    reply = replace_view(catalog, first, marked)  # it asserts the first one's uuid
    if reply.ok:
        raise reply.violation(
            REQUIREMENT_IGNORED,
            Statuses.of(409),
            reply.status,
            detail="a commit to the view that had the name before",
        )
    expect_second_view(replace_view(catalog, first, marked, []), first.uuid)
    expect_second_view(catalog.load_view(*where), first.uuid)


@generated_check("second-life.view")
def test_name_of_a_dropped_view(catalog: Catalog) -> None:
    """A view made under the name of a dropped one shows nothing of it."""
    require(catalog, *_VIEW, "replaceView")
    first = _given_first_view(catalog)
    where = (first.namespace, first.name)
    catalog.drop_view(*where).expect(200, 204)
    expect_no_view(catalog, *where)
    supported(
        catalog.create_view(first.namespace, second_view(first.namespace, first.name))
    ).expect(200)
    expect_second_view(catalog.load_view(*where), first.uuid)  # the first load may cache another
    _expect_second_everywhere(catalog, first)


@generated_check("second-life.view-renamed")
def test_name_of_a_renamed_view(catalog: Catalog) -> None:
    """A view made under the name that another one had is not that one, which keeps all it was."""
    require(catalog, *_VIEW, "replaceView")
    first = _given_first_view(catalog)
    namespace, new = first.namespace, catalog.new_name()
    expect_nothing(catalog.load_view(namespace, new), "view")  # a server may remember that
    supported(catalog.rename_view((namespace, first.name), (namespace, new))).expect(200, 204)
    expect_no_view(catalog, namespace, first.name)
    reused(supported(catalog.create_view(namespace, second_view(namespace, first.name))))
    _expect_second_everywhere(catalog, first)
    catalog.drop_view(namespace, first.name).expect(200, 204)
    reply = catalog.load_view(namespace, new).expect(200, detail="under the new name")
    found = str(metadata_view.metadata_in(reply).get("view-uuid")).lower()
    if found != first.uuid.lower():
        symptom, due = RENAME_CHANGED_THE_VIEW, "the view as it was before its rename"
        raise reply.violation(symptom, due, "another one")


# ------------------------------------------------------------------- one kind, then another


@generated_check("second-life.other-kind")
def test_name_of_another_kind(catalog: Catalog) -> None:
    """A view made under the name of a dropped table is no table, and the other way round."""
    require(catalog, *_VIEW, *_TABLE)
    first = given_table(catalog, given_namespace(catalog), properties=FIRST_LIFE)
    where = (first.namespace, first.name)
    catalog.load_table(*where)
    warm(catalog, *where)
    given_dropped(catalog, *where)
    expect_no_view(catalog, *where)
    supported(
        catalog.create_view(first.namespace, second_view(first.namespace, first.name))
    ).expect(200)
    expect_no_table(catalog, *where)
    expect_second_view(catalog.load_view(*where), first.uuid)
    if catalog.claims("listViews"):
        expect_listed_once(catalog.list_views(first.namespace), *where)
    catalog.drop_view(*where).expect(200, 204)
    catalog.create_table(first.namespace, second_table(first.name)).expect(200)
    expect_no_view(catalog, *where)
    expect_second_table(catalog.load_table(*where), first.uuid)
