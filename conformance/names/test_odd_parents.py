"""Checks that parents with odd names list their own children.

Beside each name that looks like a path stands the namespace of that path, so that a server that
splits names at another character than the unit separator lists the other's children.
"""

from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import given_namespace
from icecheck.conformance.names.lookalike_names import (
    NAMESPACES,
    Bearer,
    expect_listed,
    found,
    given_bearers,
    is_made,
    raise_if_none,
)
from icecheck.conformance.names.odd_names import PLAIN, Names, Odd
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import require
from icecheck.objects.reading import LISTING, entries_in_pages, namespaces_in
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

_NAMES: Names = (
    (
        Odd("a dot", "a.b"),  # how SQL writes a path
        Odd("a colon", "a:b"),
        Odd("a comma", "a,b"),
        Odd("an ampersand", "a&b=c"),
        Odd("letters beyond ASCII", "a\u00fc\u6771b"),
        Odd("the separator's picture", "a\u241fb"),
        Odd("the separator's escape", "a\\u001fb"),
    ),
    (Odd("a plus sign", "a+b"), Odd("a percent sign", "a%b")),  # a space in a form
    (Odd("a space", "a b"),),
    # Decoded twice. No capitals: a catalog may be case-insensitive.
    (Odd("the separator's code", "a%1fb"),),
    (Odd("a slash", "a/b"),),  # how stores write a path
    (PLAIN,),  # has a child b
)


def _given_parents(catalog: Catalog, home: Namespace) -> dict[Namespace, Bearer]:
    """Make the accepted namespaces with a child each; return them by the child's path."""
    inside: dict[Namespace, Bearer] = {}
    for it in given_bearers(catalog, NAMESPACES, home, _NAMES):
        # A server that splits the odd name finds the plain namespace and this child of it.
        child = Bearer(it.path, it.stem, it.mark, it.what, "")
        child = child if it.odd else Bearer(it.path, "", "b", it.what, "")
        if is_made(NAMESPACES.create(catalog, child), child):
            inside[child.path] = it
    raise_if_none([*inside.values()])
    return inside


def _expect_children(catalog: Catalog, it: Bearer, child: Namespace) -> None:
    """Judge that a namespace lists exactly one child, in the whole list or in pages."""

    def ask(query: Query) -> Reply:
        return found(catalog.list_namespaces(it.path, query), it)

    # The names take turns: what a list does to them it does to its pages.
    if int(it.mark) % 2 and has_capability(catalog, "pagination"):
        reply, listed = entries_in_pages(ask, namespaces_in, 2)
    else:
        reply = ask(())
        listed = namespaces_in(reply)
    if listed != [child]:
        raise reply.violation(
            LISTING,
            "the namespace's only child",
            "another list",
            detail=f"below {show(it.name)}, a name with {it.what}: {show([*listed])}",
        )


@generated_check("listNamespaces.odd-parents", needs=("nested-namespaces",))
def test_children_of_namespaces_with_odd_names(catalog: Catalog) -> None:
    """The children of a namespace are listed, whatever characters its name has."""
    require(catalog, "createNamespace", "listNamespaces", "loadNamespaceMetadata")
    home = given_namespace(catalog)
    inside = _given_parents(catalog, home)
    made = [*inside.values()]
    expect_listed(catalog, NAMESPACES, made, made)
    for child, it in inside.items():
        _expect_children(catalog, it, child)
    for child, it in [*inside.items()][::2]:
        reply = found(catalog.list_namespaces(child), it)
        if listed := namespaces_in(reply):
            detail = f"below {show([*child])} is {show([*listed[0]])}"
            raise reply.violation(LISTING, "an empty list", "another list", detail=detail)
