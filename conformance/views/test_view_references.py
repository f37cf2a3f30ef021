"""Checks of views that name a schema, a version or a namespace that is not there."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace
from icecheck.judging.check import check
from icecheck.objects.reading import supported
from icecheck.objects.views import (
    MARK,
    add_version,
    create_view_body,
    expect_view_unchanged,
    replace_view,
    set_current_version,
    shared_view,
)

UNKNOWN_ID = 4711
SQL = "SELECT 2 AS id, 'b' AS data"
MARKED = {"action": "set-properties", "updates": {MARK: "changed"}}
"""An update that every catalog can apply: a refusal must not leave it behind."""


@check(
    "view-update.add-view-version.unknown-schema",
    proves="view-update.add-view-version.unknown-schema-refused",
)
def test_unknown_schema(catalog: Catalog) -> None:
    """A version that refers to a schema the view does not have is refused."""
    view = shared_view(catalog)
    added = add_version(view, SQL, schema_id=UNKNOWN_ID)
    replace_view(catalog, view, [MARKED, added]).expect_refused()
    expect_view_unchanged(catalog, view)


@check(
    "view-update.set-current-view-version.unknown-id",
    proves="view-update.set-current-view-version.unknown-id-refused",
)
def test_unknown_current_version(catalog: Catalog) -> None:
    """A version that a view does not have cannot be made the current one."""
    view = shared_view(catalog)
    replace_view(catalog, view, [MARKED, set_current_version(UNKNOWN_ID)]).expect_refused()
    expect_view_unchanged(catalog, view)


@check("createView.unknown-default-namespace")
def test_unknown_default_namespace(catalog: Catalog) -> None:
    """A view whose default namespace is not in the catalog is created."""
    namespace = shared_namespace(catalog)
    elsewhere = catalog.new_namespace_name()
    body = create_view_body(catalog.new_name(), elsewhere)
    supported(catalog.create_view(namespace, body)).expect(200)
