"""Checks of look-alike names in every operation that names objects in path, query or body.

Each check is made twice: for names that cause errors in addresses and for names that cause errors
in stores (``odd_names.FAMILIES``). Its objects are each other's bystanders.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_dropped, given_namespace, given_table
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.names.lookalike_names import (
    MARK,
    NAMESPACES,
    TABLES,
    VIEWS,
    Bearer,
    Kind,
    drops,
    expect_bearers,
    expect_itself,
    expect_listed,
    expect_paged,
    found,
    given_bearers,
    identified,
    is_made,
    made_as,
    properties_in,
    raise_if_none,
)
from icecheck.conformance.names.odd_names import FAMILIES, IN_BODIES, IN_PATHS, Names, apart
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import EFFECT_MISSING, EFFECT_ON_ANOTHER
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import require
from icecheck.objects.reading import supported
from icecheck.objects.requests_by_name import BESIDE, Ask
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

SECOND = "icecheck.second"
_WORDS = {"address": "with a meaning in addresses", "store": "that stores alter"}


def _home(catalog: Catalog, kind: Kind) -> Namespace:
    """Return the namespace for objects of a kind: a new one where possible."""
    if kind.word == "namespace" and not has_capability(catalog, "nested-namespaces"):
        return catalog.session.isolation.base
    return given_namespace(catalog)


# --------------------------------------------------------- made, found, listed, dropped


def _kept(catalog: Catalog, kind: Kind, names: Names) -> None:
    """Judge that each object is found and listed by its name, and that a drop removes only it."""
    home = _home(catalog, kind)
    made = given_bearers(catalog, kind, home, names)
    expect_bearers(catalog, kind, made)
    if catalog.claims(f"{kind.word}Exists"):
        for each in made[1::2]:
            found(kind.exists(catalog, each), each)
    beside = _found_beside(catalog, kind, made)
    lists = catalog.claims(catalog.contract.operation_that(Action.LIST, kind.word))
    if lists:
        expect_listed(catalog, kind, made, made)
    if lists and (kind.word != "namespace" or home != catalog.session.isolation.base):
        expect_paged(catalog, kind, made)
    if not drops(catalog, kind):
        return
    for each in made[::2]:
        found(kind.drop(catalog, each), each)
    if lists:
        expect_listed(catalog, kind, made, made[1::2])
    expect_bearers(catalog, kind, made[1::2])
    _expect_beside(catalog, beside, made[1::2])


def _found_beside(catalog: Catalog, kind: Kind, made: Sequence[Bearer]) -> list[Ask]:
    """Return the requests other than loads that find a table with a plain name."""
    plain = next((each for each in made if not each.odd), None)
    if kind is not TABLES or plain is None:
        return []
    place = (plain.namespace, plain.name)
    asks = [ask for operation_id, ask in BESIDE.items() if catalog.claims(operation_id)]
    return [ask for ask in asks if ask(catalog, place, "").ok]


def _expect_beside(catalog: Catalog, asks: Sequence[Ask], left: Sequence[Bearer]) -> None:
    """Judge that these requests find the remaining objects after similar names were dropped.

    The objects take turns: each request is sent for one of them.
    """
    for turn, ask in enumerate(asks if left else ()):
        each = left[turn % len(left)]
        found(ask(catalog, (each.namespace, each.name), ""), each)


def namespaces_kept(catalog: Catalog, names: Names) -> None:
    """Namespaces with names {words} are each found, listed and dropped by their own name."""
    _kept(catalog, NAMESPACES, names)


def tables_kept(catalog: Catalog, names: Names) -> None:
    """Tables with names {words} are each found, listed and dropped by their own name."""
    _kept(catalog, TABLES, names)


def views_kept(catalog: Catalog, names: Names) -> None:
    """Views with names {words} are each found, listed and dropped by their own name."""
    offered_views(catalog)
    _kept(catalog, VIEWS, names)


def offered_views(catalog: Catalog) -> None:
    """Find out whether the catalog makes views."""
    name = Bearer(given_home(catalog), catalog.new_name("_"), "a", "nothing odd", "0")
    supported(VIEWS.create(catalog, name))


# ----------------------------------------------------------------------------- renamed

Rename = Callable[[Catalog, Bearer, Bearer], Reply]


def _rename_table(catalog: Catalog, source: Bearer, target: Bearer) -> Reply:
    ends = (source.namespace, source.name), (target.namespace, target.name)
    return supported(catalog.rename_table(*ends))


def _rename_view(catalog: Catalog, source: Bearer, target: Bearer) -> Reply:
    ends = (source.namespace, source.name), (target.namespace, target.name)
    return supported(catalog.rename_view(*ends))


def _moved(catalog: Catalog, kind: Kind, names: Names, rename: Rename) -> None:
    """Judge that an object renamed to and from such a name is found under its new name only."""
    namespace = given_namespace(catalog)

    def moved(each: Bearer) -> Bearer | None:
        plain = _plain(catalog, each)
        reply = supported(kind.create(catalog, plain)).expect(200)
        return identified(reply, each) if is_made(rename(catalog, plain, each), each) else None

    there = given_bearers(catalog, kind, namespace, names, moved)
    expect_bearers(catalog, kind, there)
    lists = catalog.claims(catalog.contract.operation_that(Action.LIST, kind.word))
    if lists:
        expect_listed(catalog, kind, there, there)
    back = [(each, _plain(catalog, each)) for each in there[::2]]
    for each, plain in back:
        found(rename(catalog, each, plain), each)
    if lists:
        expect_listed(catalog, kind, there, there[1::2])
    expect_bearers(catalog, kind, [plain for _, plain in back])


def _plain(catalog: Catalog, it: Bearer) -> Bearer:
    return replace(it, stem=catalog.new_name("_"), ending="a", beginning="")


def tables_renamed(catalog: Catalog, names: Names) -> None:
    """Tables that are renamed to and from names {words} bear just these names."""
    require(catalog, "createTable", "loadTable")
    _moved(catalog, TABLES, names, _rename_table)


def views_renamed(catalog: Catalog, names: Names) -> None:
    """Views that are renamed to and from names {words} bear just these names."""
    require(catalog, "createView", "loadView")
    _moved(catalog, VIEWS, names, _rename_view)


# --------------------------------------------------------------------- changed by name


def _marking(it: Bearer) -> dict[str, object]:
    return {"action": "set-properties", "updates": {SECOND: it.mark}}


def _expect_changed(catalog: Catalog, kind: Kind, bearers: Sequence[Bearer]) -> None:
    """Judge that each object shows its own change."""
    seen = [(each, expect_itself(catalog, kind, each)) for each in bearers]
    changes = [properties_in(reply).get(SECOND, ABSENT) for _, reply in seen]
    # Where no object has changed, nothing was taken for something else.
    mixed = any(change is not ABSENT for change in changes)
    symptom = EFFECT_ON_ANOTHER.of("name") if mixed else EFFECT_MISSING.of("properties")
    for (each, reply), change in zip(seen, changes, strict=True):
        if change != each.mark:
            raise reply.violation(
                symptom,
                "the change that was sent to this name",
                "none" if change is ABSENT else "the change that was sent to another one",
                detail=f"{show(each.name)}, a name with {each.what}",
            )


def _committed(catalog: Catalog, kind: Kind, names: Names) -> None:
    """Judge that a commit to each object changes only that object."""
    made = given_bearers(catalog, kind, given_home(catalog), names)
    operation = catalog.contract.operation_that(Action.COMMIT, kind.word)
    for each in made:
        place: dict[str, str | Namespace] = {"namespace": each.namespace, kind.word: each.name}
        body = {"identifier": each.identifier, "requirements": [], "updates": [_marking(each)]}
        found(catalog.call(operation, place, body=body), each)
    _expect_changed(catalog, kind, made)


def tables_committed(catalog: Catalog, names: Names) -> None:
    """Commits to tables with names {words} reach just the table that they name."""
    require(catalog, "createTable", "loadTable")
    _committed(catalog, TABLES, names)


def views_committed(catalog: Catalog, names: Names) -> None:
    """Commits to views with names {words} reach just the view that they name."""
    require(catalog, "createView", "loadView")
    offered_views(catalog)
    _committed(catalog, VIEWS, names)


def transaction_committed(catalog: Catalog, names: Names) -> None:
    """A transaction over tables with names {words} changes each of them as it says."""
    require(catalog, "createTable", "loadTable")
    made = given_bearers(catalog, TABLES, given_home(catalog), names)
    changes = [
        {"identifier": each.identifier, "requirements": [], "updates": [_marking(each)]}
        for each in made
    ]
    reply = catalog.commit_transaction(changes)
    if 400 <= reply.status < 500 and reply.status != 404:
        why = f"the catalog refuses a transaction over these tables with {reply.status}"
        raise NotOffered(why, SkipKind.NOT_APPLICABLE)
    found(reply, made[0])
    _expect_changed(catalog, TABLES, made)


def properties_updated(catalog: Catalog, names: Names) -> None:
    """Properties of namespaces with names {words} change in just the one that is named."""
    require(catalog, "createNamespace", "loadNamespaceMetadata")
    made = given_bearers(catalog, NAMESPACES, _home(catalog, NAMESPACES), names)
    for each in made:
        found(catalog.update_properties(each.path, updates={SECOND: each.mark}), each)
    _expect_changed(catalog, NAMESPACES, made)


# ------------------------------------------------------------- registered, and one inside


def tables_registered(catalog: Catalog, names: Names) -> None:
    """Tables that are registered under names {words} are found by just these names."""
    require(catalog, "createTable", "dropTable", "loadTable")
    namespace = given_namespace(catalog)

    def registered(each: Bearer) -> Bearer | None:
        table = given_table(catalog, namespace, properties={MARK: each.mark})
        if table.metadata_location is None:
            raise NotOffered("the catalog tells no metadata location")
        given_dropped(catalog, namespace, table.name)
        reply = catalog.register_table(namespace, each.name, table.metadata_location)
        return made_as(reply, each)

    there = given_bearers(catalog, TABLES, namespace, names, registered)
    expect_bearers(catalog, TABLES, there)
    if catalog.claims("listTables"):
        expect_listed(catalog, TABLES, there, there)


def contents_of_namespaces(catalog: Catalog, names: Names) -> None:
    """Tables of one name, in namespaces with names {words}, are not taken for one another."""
    require(catalog, "createNamespace", "createTable", "loadTable", "dropTable")
    made = given_bearers(catalog, NAMESPACES, _home(catalog, NAMESPACES), names)
    stem = catalog.new_name("_")
    inside: list[Bearer] = []
    for each in made:
        table = Bearer(each.path, stem, "a", each.what, each.mark)
        if made_inside := made_as(TABLES.create(catalog, table), table):
            inside.append(made_inside)
    if len(inside) < len(made) and names != apart(names):
        contents_of_namespaces(catalog, apart(names))  # to see which oddity it refuses
        return
    raise_if_none(inside)
    expect_bearers(catalog, TABLES, inside)
    if catalog.claims("listTables"):
        for each in inside[::2]:
            expect_listed(catalog, TABLES, [each], [each])
    beside = _found_beside(catalog, TABLES, inside)
    if not drops(catalog, TABLES):
        return
    for each in inside[::2]:
        found(TABLES.drop(catalog, each), each)
    expect_bearers(catalog, TABLES, inside[1::2])
    _expect_beside(catalog, beside, inside[1::2])


# -------------------------------------------------------------------------- the checks

Judge = Callable[[Catalog, Names], None]

_JUDGES: dict[str, tuple[Judge, tuple[str, ...]]] = {
    "roundtrip.namespace-names": (namespaces_kept, ()),
    "roundtrip.table-names": (tables_kept, ()),
    "roundtrip.view-names": (views_kept, ()),
    "roundtrip.table-renames": (tables_renamed, ()),
    "roundtrip.view-renames": (views_renamed, ()),
    "roundtrip.table-commits-by-name": (tables_committed, ()),
    "roundtrip.view-commits-by-name": (views_committed, ()),
    "roundtrip.transaction-by-name": (transaction_committed, ()),
    "roundtrip.properties-by-name": (properties_updated, ("namespace-properties",)),
    "roundtrip.registered-names": (tables_registered, ()),
    "roundtrip.names-of-parents": (contents_of_namespaces, ()),
}


_FEWER: Mapping[str, Mapping[str, Names]] = {
    "roundtrip.table-renames": IN_BODIES,
    "roundtrip.view-renames": IN_BODIES,
    "roundtrip.transaction-by-name": IN_BODIES,
    "roundtrip.registered-names": IN_BODIES,
    "roundtrip.table-commits-by-name": IN_PATHS,
    "roundtrip.view-commits-by-name": IN_PATHS,
    "roundtrip.properties-by-name": IN_PATHS,
}
"""Requirements whose requests need not be sent for every name of a family."""


def _declare(requirement: str, judge: Judge, needs: tuple[str, ...], family: str) -> None:
    families = _FEWER.get(requirement, FAMILIES)

    def names(catalog: Catalog) -> None:
        try:
            judge(catalog, families[family])
        except Violation:
            # With one oddity in each name, the finding tells which one it is about.
            with suppress(NotOffered, Blocked):
                judge(catalog, apart(families[family]))
            raise

    snake = re.sub("[^a-z]", "_", requirement.partition(".")[2])
    names.__name__ = names.__qualname__ = f"test_{snake}_{family}"
    names.__doc__ = str(judge.__doc__).format(words=_WORDS[family])
    declared = generated_check(f"{requirement}.{family}", proves=requirement, needs=needs)(names)
    globals()[names.__name__] = declared


for _requirement, (_judge, _needs) in _JUDGES.items():
    for _family in FAMILIES:
        _declare(_requirement, _judge, _needs, _family)
