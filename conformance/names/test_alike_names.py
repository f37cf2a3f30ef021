"""Checks of names that share a beginning, or are equal in different namespaces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.conformance.kit.bisection import no_breakdown
from icecheck.conformance.names.lookalike_names import (
    ANOTHER_OBJECT,
    MARK,
    TABLES,
    VIEWS,
    Bearer,
    Kind,
    drops,
    expect_bearers,
    expect_itself,
    expect_listed,
    found,
    identified,
    made_as,
    properties_in,
    raise_if_none,
    renames,
)
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.reading import LISTING, namespaces_in, supported
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

SHORT = "a_b"
LONGER = ("a_bc", "a_b_1", "axb")
"""Names that begin with the short name, or that it matches as a pattern."""
SIBLINGS = (SHORT, *LONGER, "a")

Look: TypeAlias = Literal["load", "exists", "both"]


def _home(catalog: Catalog) -> Namespace:
    """Return the parent of the namespaces to make: a new one where namespaces nest."""
    if has_capability(catalog, "nested-namespaces"):
        return given_namespace(catalog)
    return catalog.session.isolation.base


def _kinds(catalog: Catalog) -> list[Kind]:
    """Return the kinds of objects that the catalog makes and loads in namespaces."""
    return [
        kind
        for kind in (TABLES, VIEWS)
        if all(catalog.claims(f"{verb}{kind.word.capitalize()}") for verb in ("create", "load"))
    ]


def _absent(catalog: Catalog, kind: Kind, it: Bearer, look: Look = "both") -> None:
    """Judge that nothing is found under an unused name that is similar to used ones.

    ``look``: by a load, by a request whether it exists (a load if there is none), or by both.
    """
    exists = catalog.claims(f"{kind.word}Exists")
    if look != "exists" or not exists:
        kind.load(catalog, it).expect(404, detail=f"{show(it.name)}, which is not there")
    if look != "load" and exists:
        kind.exists(catalog, it).expect(404, detail=f"{show(it.name)}, which is not there")


# ----------------------------------------------------- an empty namespace beside full ones


def _given_full(catalog: Catalog, paths: Sequence[Namespace]) -> dict[str, list[Bearer]]:
    """Make namespaces with a table and a view in turn, and return these objects by kind."""
    stem, kinds = catalog.new_name("_"), _kinds(catalog)
    inside: dict[str, list[Bearer]] = {}
    for number, path in enumerate(paths):
        given_namespace_at(catalog, path)
        for kind in kinds[number % 2 :][:1] or kinds:
            it = Bearer(path, stem, kind.word[0], "nothing odd", show(path[-1]))
            if made := made_as(kind.create(catalog, it), it):
                inside.setdefault(kind.word, []).append(made)
    return inside


def _expect_empty(catalog: Catalog, short: Namespace, inside: dict[str, list[Bearer]]) -> None:
    """Judge that a namespace lists and finds none of the objects in the others."""
    for kind in _kinds(catalog):
        if not inside.get(kind.word):
            continue
        it = replace(inside[kind.word][0], namespace=short)
        _absent(catalog, kind, it)
        if catalog.claims(catalog.contract.operation_that(Action.LIST, kind.word)):
            expect_listed(catalog, kind, [it], [])
    if has_capability(catalog, "nested-namespaces") and catalog.claims("listNamespaces"):
        reply = catalog.list_namespaces(short)
        if children := namespaces_in(reply):
            detail = f"in {show([*short])} is {show([*children[0]])}"
            raise reply.violation(LISTING, "an empty list", "another list", detail=detail)


def _expect_namespaces(catalog: Catalog, home: Namespace, paths: Sequence[Namespace]) -> None:
    """Judge that namespaces are there: in the list of a parent of their own, or by a load."""
    listed: list[Namespace] = []
    if has_capability(catalog, "nested-namespaces") and catalog.claims("listNamespaces"):
        listed = namespaces_in(catalog.list_namespaces(home))
    for path in paths:
        if path not in listed:
            catalog.load_namespace_metadata(path).expect(200)


@generated_check("alike.empty-namespace-beside-full-ones")
def test_an_empty_namespace_beside_full_ones(catalog: Catalog) -> None:
    """A namespace is empty, and can be dropped, whatever is in those with longer names."""
    require(catalog, "createNamespace", "dropNamespace", "loadNamespaceMetadata")
    home = _home(catalog)
    stem = catalog.new_name("_")
    short = (*home, f"{stem}{SHORT}")
    full = [(*home, f"{stem}{ending}") for ending in LONGER]
    if has_capability(catalog, "nested-namespaces"):
        # A namespace of the same name further down, and its parent.
        full += [(*home, f"{stem}z"), (*home, f"{stem}z", f"{stem}{SHORT}")]
    given_namespace_at(catalog, short)
    inside = _given_full(catalog, full)
    _expect_empty(catalog, short, inside)
    if catalog.serves("dropNamespace"):
        reply = catalog.drop_namespace(short)
        what = "an empty namespace, beside full ones with names like its own"
        reply.expect(200, 204, detail=what)
        catalog.load_namespace_metadata(short).expect(404)
    for kind in _kinds(catalog):
        expect_bearers(catalog, kind, inside.get(kind.word, []))
    _expect_namespaces(catalog, home, full)


# -------------------------------------------------------- tables and views with such names

Rename = Callable[[Catalog, Bearer, Bearer], Reply]


def _rename_table(catalog: Catalog, source: Bearer, target: Bearer) -> Reply:
    ends = (source.namespace, source.name), (target.namespace, target.name)
    return catalog.rename_table(*ends)


def _rename_view(catalog: Catalog, source: Bearer, target: Bearer) -> Reply:
    body = {"source": source.identifier, "destination": target.identifier}
    return catalog.call("renameView", body=body)


def _is_renamed(reply: Reply) -> bool:
    """Return whether a rename was done; a catalog may answer 406 if it does not rename."""
    return reply.status != 406 and reply.expect(200, 204).ok


def _expect_siblings(
    catalog: Catalog,
    kind: Kind,
    present: Sequence[Bearer],
    absent: Bearer,
    look: Look,
    looked_for: Sequence[Bearer],
) -> None:
    """Judge that a list has exactly these present; load those to be looked for, or all without."""
    lists = catalog.claims(catalog.contract.operation_that(Action.LIST, kind.word))
    expect_bearers(catalog, kind, looked_for if lists else present)
    _absent(catalog, kind, absent, look)
    if lists:
        expect_listed(catalog, kind, [absent], present)


def _siblings(catalog: Catalog, kind: Kind, rename: Rename) -> None:
    """Judge that objects whose names begin alike are dropped, made again and renamed separately.

    The others are loaded in turn, half of them after the drop and half after the rename; a list has
    them all, and so they are found where they are dropped in the end.
    """
    stem, namespace = catalog.new_name("_"), given_namespace(catalog)
    every = [Bearer(namespace, stem, ending, "a beginning", ending) for ending in SIBLINGS]
    made = [one for it in every if (one := made_as(supported(kind.create(catalog, it)), it))]
    raise_if_none(made)
    first, *others = made
    due = others
    if drops(catalog, kind):
        first = _made_again(catalog, kind, first, others)
        due = others[1::2]
    moved = replace(first, ending="b")
    if renames(catalog, kind) and _is_renamed(rename(catalog, first, moved)):
        present = [*others, moved]
        _expect_siblings(catalog, kind, present, first, "exists", [*due, moved])
    else:
        expect_bearers(catalog, kind, due)
    if drops(catalog, kind):
        for each in others:
            kind.drop(catalog, each).expect(200, 204)


def _made_again(catalog: Catalog, kind: Kind, it: Bearer, others: Sequence[Bearer]) -> Bearer:
    """Drop an object beside others with longer names, and make another one of its name."""
    kind.drop(catalog, it).expect(200, 204)
    _expect_siblings(catalog, kind, others, it, "load", others[::2])
    kind.drop(catalog, it).expect(404, detail="dropped before; others have longer names")
    again = replace(it, mark="again")
    reply = kind.create(catalog, again).expect(200, detail="a name that is free; others are longer")
    return identified(reply, again)


@generated_check("alike.tables-beside-longer-names", proves="alike.tables")
def test_tables_beside_longer_names(catalog: Catalog) -> None:
    """Tables whose names begin alike are dropped, made anew and renamed one by one."""
    require(catalog, "createTable", "loadTable", "dropTable")
    _siblings(catalog, TABLES, _rename_table)


@generated_check("alike.views-beside-longer-names", proves="alike.views")
def test_views_beside_longer_names(catalog: Catalog) -> None:
    """Views whose names begin alike are dropped, made anew and renamed one by one."""
    require(catalog, "createView", "loadView", "dropView")
    _siblings(catalog, VIEWS, _rename_view)


# ------------------------------------------------------- one name in several namespaces


def _marking(it: Bearer, mark: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    set_them = {"action": "set-properties", "updates": {MARK: mark, **(more or {})}}
    return {"identifier": it.identifier, "requirements": [], "updates": [set_them]}


def _of_its_own(number: int) -> dict[str, str]:
    """Return a property that only one of several objects is to have."""
    return {f"icecheck.only-{number}": "yes"}


def _changed(catalog: Catalog, kind: Kind, made: Sequence[Bearer]) -> list[Bearer]:
    """Change each of these objects by a commit, and judge that it has its own changes only."""
    operation = catalog.contract.operation_that(Action.COMMIT, kind.word)
    changed = [replace(it, mark=f"changed {number}") for number, it in enumerate(made)]
    for number, it in enumerate(changed):
        names: dict[str, str | Namespace] = {"namespace": it.namespace, kind.word: it.name}
        body = _marking(it, it.mark, _of_its_own(number))
        found(catalog.call(operation, names, body=body), it)
    _expect_own(catalog, kind, changed)
    return changed


def _expect_own(catalog: Catalog, kind: Kind, made: Sequence[Bearer]) -> None:
    """Judge that each of these objects has its mark, and nothing that is the others' own.

    So one change of each is enough: one that reaches another object too shows there, whichever of
    the two is changed last.
    """
    for number, it in enumerate(made):
        reply = expect_itself(catalog, kind, it)
        others = [key for n in range(len(made)) if n != number for key in _of_its_own(n)]
        if wrong := [key for key in others if key in properties_in(reply)]:
            raise reply.violation(
                ANOTHER_OBJECT,
                f"only what was changed of this {kind.word}",
                f"what was changed of another {kind.word}",
                detail=f"{show(it.name)}, {it.what}, has {show(wrong[0])}",
            )


def _namesakes(catalog: Catalog, kind: Kind) -> list[Bearer]:
    """Make objects of one name in two namespaces, and in a nested one if namespaces nest."""
    spaces = [given_namespace(catalog), given_namespace(catalog)]
    if has_capability(catalog, "nested-namespaces"):
        spaces.append(given_namespace(catalog, under=spaces[0]))
    stem = catalog.new_name("_")
    made = [Bearer(path, stem, "a", "a namesake", str(n)) for n, path in enumerate(spaces)]
    why = "a name used in another namespace"
    return [
        identified(supported(kind.create(catalog, each)).expect(200, detail=why), each)
        for each in made
    ]


def _expect_listed_apart(catalog: Catalog, kind: Kind, *present: Bearer) -> None:
    if catalog.claims(catalog.contract.operation_that(Action.LIST, kind.word)):
        for each in present:
            expect_listed(catalog, kind, [each], [each])


def _moved(
    catalog: Catalog, kind: Kind, rename: Rename, made: Sequence[Bearer], number: int
) -> Bearer:
    """Rename one of several objects of equal name and back if possible; return where it is then."""
    there, others = made[number], [*made[:number], *made[number + 1 :]]
    moved = replace(there, ending="b")
    if not _is_renamed(rename(catalog, there, moved)):
        _expect_listed_apart(catalog, kind, there, others[0])
        return there
    _absent(catalog, kind, there, "load")
    # The others are judged in the end, all of them; this one is what a wrong rename would take.
    expect_bearers(catalog, kind, [moved, others[0]])
    _expect_listed_apart(catalog, kind, moved, others[0])
    # A catalog need not move objects across namespaces.
    elsewhere = replace(moved, namespace=others[0].namespace)
    if no_breakdown(rename(catalog, moved, elsewhere)).ok:
        kind.load(catalog, moved).expect(404, detail=f"{show(moved.name)}, which was moved")
        moved = elsewhere
        expect_itself(catalog, kind, moved)
    if no_breakdown(rename(catalog, moved, there)).ok:
        moved = there
    if not drops(catalog, kind):  # otherwise these are judged after the drop
        expect_bearers(catalog, kind, [moved, *others])
    return moved


def _apart(catalog: Catalog, kind: Kind, rename: Rename) -> None:
    """Judge that a commit, a rename and a drop affect only the object that they name."""
    made = _namesakes(catalog, kind)
    # Lists of the first and the last are judged after the rename, if there is one.
    _expect_listed_apart(catalog, kind, *(made[1:-1] if renames(catalog, kind) else made))
    made = _changed(catalog, kind, made)
    if renames(catalog, kind):
        # The last one made: a rename that takes the first one of the name shows.
        made[-1] = _moved(catalog, kind, rename, made, len(made) - 1)
    if not drops(catalog, kind):
        return
    first, *others = made
    kind.drop(catalog, first).expect(200, 204)
    _absent(catalog, kind, first, "exists")
    kind.drop(catalog, first).expect(404, detail="dropped before; namesakes are elsewhere")
    expect_bearers(catalog, kind, others)


@generated_check("alike.tables-of-one-name")
def test_tables_of_one_name(catalog: Catalog) -> None:
    """Tables of one name in several namespaces change, move and go one by one."""
    require(catalog, "createTable", "loadTable", "updateTable", "dropTable")
    _apart(catalog, TABLES, _rename_table)


@generated_check("alike.views-of-one-name")
def test_views_of_one_name(catalog: Catalog) -> None:
    """Views of one name in several namespaces change, move and go one by one."""
    require(catalog, "createView", "loadView", "replaceView", "dropView")
    _apart(catalog, VIEWS, _rename_view)


@generated_check("alike.transaction-over-one-name")
def test_a_transaction_over_tables_of_one_name(catalog: Catalog) -> None:
    """Of tables of one name, a transaction changes each as it says, and looks at the right one."""
    require(catalog, "createTable", "loadTable")
    tables = _namesakes(catalog, TABLES)
    uuids = [it.uuid or _loaded_uuid(catalog, it) for it in tables]
    made = [replace(it, mark=f"changed {number}") for number, it in enumerate(tables)]
    changes = [
        {**_marking(it, it.mark, _of_its_own(number)), "requirements": [_same(uuid)]}
        for number, (it, uuid) in enumerate(zip(made, uuids, strict=True))
    ]
    supported(catalog.commit_transaction(changes)).expect(200, 204, detail="tables of one name")
    _expect_own(catalog, TABLES, made)
    last = len(made) - 1
    for wrong, other in ((0, last), (last, 0)):
        # The asserted values of one table are those of the other table of this name.
        changes = [
            {**_marking(it, "unwanted"), "requirements": [_same(uuids[other if n == wrong else n])]}
            for n, it in enumerate(made)
        ]
        catalog.commit_transaction(changes).expect(409, detail="true of a namesake only")
    left = [replace(it, what=f"{it.what}, after a refused transaction") for it in made]
    expect_bearers(catalog, TABLES, left, otherwise=CHANGED_ALTHOUGH_REFUSED)


def _loaded_uuid(catalog: Catalog, it: Bearer) -> str:
    return str(TABLES.load(catalog, it).expect(200).member("metadata", "table-uuid"))


def _same(uuid: str) -> dict[str, str]:
    return {"type": "assert-table-uuid", "uuid": uuid}
