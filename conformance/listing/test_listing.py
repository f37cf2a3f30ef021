"""Checks of lists of namespaces and of tables in one answer."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    given_namespace,
    given_table,
    shared_empty_namespace,
    shared_namespaces,
    shared_tables,
)
from icecheck.findings.shared_symptoms import LISTED_TWICE
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import given_namespace_at
from icecheck.objects.reading import (
    LIST_LEFT_OUT,
    LISTING,
    namespaces_in,
    not_applicable,
    object_in,
    tables_in,
)
from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

_NESTED = ("nested-namespaces",)

# ------------------------------------------------------------------- listNamespaces


@check("listNamespaces.succeeds", proves="listNamespaces.200")
def test_namespaces_are_listed(catalog: Catalog) -> None:
    """Listing namespaces is answered 200, with a list of namespaces."""
    _expect_list(catalog.list_namespaces().expect(200), "namespaces")


@check("listNamespaces.top-level", proves="listNamespaces.top-level")
def test_without_a_parent_the_top_level_is_listed(catalog: Catalog) -> None:
    """Without a parent the top-level namespaces are listed, and nothing below them."""
    own = _own_tree(catalog)
    _expect_top_level(catalog.list_namespaces(), own)


@check("listNamespaces.empty-parent")
def test_an_empty_parent_is_the_top_level(catalog: Catalog) -> None:
    """An empty parent parameter means the top level."""
    own = _own_tree(catalog)
    _expect_top_level(catalog.list_namespaces(query=[("parent", "")]), own)


@check("listNamespaces.children-only", needs=_NESTED)
def test_a_parent_lists_its_children_only(catalog: Catalog) -> None:
    """With a parent its direct children are listed by their full path, and no grandchildren."""
    tree = shared_namespaces(catalog)
    # In SQL's LIKE an underscore matches any character.
    lookalike = (*tree.path[:-1], f"{tree.name.removesuffix('_a')}xa")
    given_namespace(catalog, under=given_namespace_at(catalog, lookalike))
    children = [(*tree.path, name) for name in tree.holds[:3]]
    _expect_children(catalog.list_namespaces(tree.path), children)


@check("listNamespaces.multipart-parent", needs=_NESTED)
def test_a_parent_may_have_several_levels(catalog: Catalog) -> None:
    """A parent of several levels, joined by the unit separator, lists the children of that one."""
    tree = shared_namespaces(catalog)
    outer = (*tree.path, tree.holds[0])
    _expect_children(catalog.list_namespaces(outer), [(*outer, tree.holds[3])])


@check("listNamespaces.no-children")
def test_a_parent_without_children_lists_nothing(catalog: Catalog) -> None:
    """A parent without children yields an empty list, not an error."""
    _expect_children(_below_an_empty_one(catalog), [])


@check("listNamespaces.list-present")
def test_an_empty_list_of_namespaces_is_there(catalog: Catalog) -> None:
    """The answer holds the list of namespaces even when it is empty."""
    _expect_list(_below_an_empty_one(catalog).expect(200), "namespaces")


def _below_an_empty_one(catalog: Catalog) -> Reply:
    """Return the list below an empty namespace, which a catalog of one level may refuse."""
    reply = catalog.list_namespaces(shared_empty_namespace(catalog))
    if 400 <= reply.status < 500 and not has_capability(catalog, *_NESTED):
        raise not_applicable("the catalog has one level of namespaces, and lists none below it")
    return reply


@check("listNamespaces.unique")
def test_no_namespace_is_listed_twice(catalog: Catalog) -> None:
    """No namespace is listed twice, not even one that holds several others."""
    own = _own_tree(catalog)
    for parent in (None, *(own[:depth] for depth in range(1, len(own)))):
        reply = catalog.list_namespaces(parent)
        listed = namespaces_in(reply)
        if listed.count(own[: len(parent or ()) + 1]) > 1:
            raise reply.violation(LISTED_TWICE, "each entry once", "an entry twice")


@check("listNamespaces.no-such-parent", proves="listNamespaces.404")
def test_a_missing_parent_is_refused(catalog: Catalog) -> None:
    """Listing below a namespace that does not exist is refused with 404."""
    catalog.list_namespaces(catalog.new_namespace_name()).expect(404)


# ----------------------------------------------------------------------- listTables


@check("listTables.all", proves=("listTables.200", "listTables.all", "listTables.unique"))
def test_every_table_is_listed_once(catalog: Catalog) -> None:
    """Every table of a namespace is listed once, with its namespace and name."""
    tables = shared_tables(catalog)
    _expect_tables(catalog.list_tables(tables.path), tables.path, [*tables.holds])


@check("listTables.this-namespace-only")
def test_tables_of_other_namespaces_are_not_listed(catalog: Catalog) -> None:
    """Tables of other namespaces are not listed, not even of those below this one."""
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    lookalike = (*namespace[:-1], f"{namespace[-1]}x")
    given_table(catalog, given_namespace_at(catalog, lookalike))
    if has_capability(catalog, "nested-namespaces"):
        given_table(catalog, given_namespace(catalog, under=namespace))
    _expect_tables(catalog.list_tables(namespace), namespace, [table.name])


@check("listTables.list-present")
def test_an_empty_list_of_tables_is_there(catalog: Catalog) -> None:
    """The answer holds the list of tables even when it is empty."""
    reply = catalog.list_tables(shared_empty_namespace(catalog)).expect(200)
    _expect_list(reply, "identifiers")


@check("listTables.no-such-namespace", proves="listTables.404")
def test_tables_of_a_missing_namespace_are_refused(catalog: Catalog) -> None:
    """Listing the tables of a namespace that does not exist is refused with 404."""
    catalog.list_tables(catalog.new_namespace_name()).expect(404)


def _own_tree(catalog: Catalog) -> Namespace:
    """Return a namespace of the run, which holds others where namespaces nest."""
    nested = has_capability(catalog, "nested-namespaces")
    return shared_namespaces(catalog).path if nested else shared_empty_namespace(catalog)


def _expect_top_level(reply: Reply, own: Namespace) -> None:
    listed = namespaces_in(reply)
    if own[:1] not in listed:
        raise _listing(reply, f"{show([*own[:1]])} is not in it")
    below = [each for each in listed if len(each) > 1 and each[:1] == own[:1]]
    if below:
        raise _listing(reply, f"{show([*below[0]])} is in it, which is not at the top level")


def _expect_children(reply: Reply, children: list[Namespace]) -> None:
    listed = namespaces_in(reply)
    if listed != sorted(children):
        due = [[*child] for child in sorted(children)]
        raise _listing(reply, f"it is {show([[*each] for each in listed])}, due is {show(due)}")


def _expect_tables(reply: Reply, namespace: Namespace, names: list[str]) -> None:
    listed = tables_in(reply)
    due = sorted((namespace, name) for name in names)
    if listed != due:
        raise _listing(reply, f"it is {show(listed)}, due is {show(due)}")


def _listing(reply: Reply, detail: str) -> Violation:
    return reply.violation(LISTING, "a list of what is there", "another list", detail=detail)


def _expect_list(reply: Reply, member: str) -> None:
    found = object_in(reply).get(member, ABSENT)
    if not isinstance(found, list):
        raise reply.violation(LIST_LEFT_OUT, "a list", show(found), pointer=f"/{member}")
