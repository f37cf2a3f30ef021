"""Checks of loads that name the views which lead to what is loaded (1.11.0, L2054-L2078).

The views are there, and lead there: a catalog may look. What it makes of them no sentence says;
who may load a table may load it through a view of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded, given_table, shared_object
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_declined
from icecheck.objects.reading import LOAD_IS_NOT_REPEATABLE, not_applicable, object_in
from icecheck.objects.views import View, create_view_body, given_view, view_version
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

_CREDENTIALS_WITHHELD = declare(
    "credentials-withheld-through-views",
    "Gives no credentials for a table to who names the views which lead to it",
    Severity.REFUSED,
)

Names = Mapping[str, str | Namespace]


@dataclass(frozen=True, slots=True)
class _Chain:
    """A table, a view of it, and a view of that view."""

    table: Table
    inner: View
    outer: View

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name


@check("loadTable.referenced-by")
def test_a_table_that_views_lead_to(catalog: Catalog) -> None:
    """A table is loaded through a view of a view of it as it is loaded by itself."""
    chain = _chain(catalog)
    _expect_same_table(catalog, chain.table, chain.outer, chain.inner)


@check("loadView.referenced-by")
def test_a_view_that_a_view_leads_to(catalog: Catalog) -> None:
    """A view is loaded through a view of it as it is loaded by itself."""
    chain = _chain(catalog)
    names: Names = {"namespace": chain.inner.namespace, "view": chain.inner.name}
    reply = _through(catalog, "loadView", names, chain.outer).expect(200, detail="through a view")
    _expect_member(reply, "view-uuid", chain.inner.uuid)


@check("loadCredentials.referenced-by")
def test_credentials_of_a_table_that_views_lead_to(catalog: Catalog) -> None:
    """Credentials for a table are given through a view of a view of it too."""
    chain = _chain(catalog)
    table = chain.table
    alone = catalog.load_credentials(table.namespace, table.name).expect(200)
    if not object_in(alone).get("storage-credentials"):
        raise not_applicable("the catalog vends no credentials for an ordinary table")
    names: Names = {"namespace": table.namespace, "table": table.name}
    reply = _through(catalog, "loadCredentials", names, chain.outer, chain.inner)
    reply.expect(200, detail="through views")
    if not object_in(reply).get("storage-credentials"):
        raise reply.violation(
            _CREDENTIALS_WITHHELD,
            "credentials, as without the views",
            "none",
            pointer="/storage-credentials",
        )


@check("loadTable.referenced-by-a-comma", proves="loadTable.referenced-by")
def test_a_view_with_a_comma_in_its_name(catalog: Catalog) -> None:
    """A table is loaded through a view whose name has a comma, which is sent as %2C."""
    table = _chain(catalog).table
    namespace, name = table.namespace, catalog.new_name(",b")
    if catalog.session.offer.separates(","):
        raise not_applicable("the catalog announces a comma as the end of a level")
    queried = _query(table.name, namespace)
    made = catalog.create_view(namespace, create_view_body(name, namespace, version=queried))
    if is_declined(made):
        raise not_applicable(f"the catalog refuses a view with a comma in its name ({made.status})")
    made.expect(200)
    _expect_same_table(catalog, table, View(namespace, name, {}, None))


def _chain(catalog: Catalog) -> _Chain:
    def make(maker: Catalog, namespace: Namespace) -> _Chain:
        table = given_loaded(maker, given_table(maker, namespace))
        inner = given_view(maker, namespace, version=_query(table.name, namespace))
        outer = given_view(maker, namespace, version=_query(inner.name, namespace))
        return _Chain(table, inner, outer)

    return shared_object(catalog, "table under views", make)


def _query(name: str, namespace: Namespace) -> dict[str, object]:
    sql = f"SELECT id, data FROM {name}"  # noqa: S608 - a view's own query, of our own names
    return view_version(sql, namespace=namespace)


def _expect_same_table(catalog: Catalog, table: Table, *views: View) -> None:
    names: Names = {"namespace": table.namespace, "table": table.name}
    alone = catalog.load_table(table.namespace, table.name).expect(200)
    reply = _through(catalog, "loadTable", names, *views).expect(200, detail="through views")
    _expect_member(reply, "table-uuid", str(table.metadata.get("table-uuid")))
    before, now = (object_in(each).get("metadata-location") for each in (alone, reply))
    if None in {before, now} or before == now:
        return
    # A catalog that maintains its tables may have made another version meanwhile.
    again = object_in(catalog.load_table(table.namespace, table.name).expect(200))
    if again.get("metadata-location") == before:
        raise reply.violation(
            LOAD_IS_NOT_REPEATABLE,
            "the same version as without the views",
            "another one",
            pointer="/metadata-location",
        )


def _expect_member(reply: Reply, member: str, due: str) -> None:
    found = str(reply.member("metadata", member))
    if found.lower() != due.lower():
        raise reply.violation(
            LOAD_IS_NOT_REPEATABLE,
            "what is loaded without the views",
            "something else",
            pointer=f"/metadata/{member}",
            detail=f"{show(found)} in place of {show(due)}",
        )


def _through(catalog: Catalog, operation_id: str, names: Names, *views: View) -> Reply:
    """Send a load with the views that lead there, the outermost first.

    The commas between them are sent as they are, those in names encoded (1.11.0, L2071-L2072).
    """
    offer = catalog.session.offer
    told = (offer.parent_parameter((*each.namespace, each.name)) for each in views)
    chain = ",".join(quote(each, safe="") for each in told)
    path = offer.path(catalog.contract.operations[operation_id].path, names)
    return catalog.call(operation_id, path=f"{path}?referenced-by={chain}")
