"""Objects whose names a careless server confuses.

Each object has its own mark, so that an answer tells which object was found. Names that the catalog
refuses, in a body or in a path, are left out: a catalog may refuse them.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import shared_namespace
from icecheck.client.shared_setup import lent_object
from icecheck.conformance.names.odd_names import PLAIN, Names
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import EFFECT_MISSING, NAME_ALTERED
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import (
    ANOTHER_THING,
    NOT_AS_ACKNOWLEDGED,
    Severity,
    Symptom,
    declare,
)
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import (
    entries_in_pages,
    expect_levels,
    namespaces_in,
    not_applicable,
    object_in,
    tables_in,
)
from icecheck.objects.views import (
    create_view_body,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace
from icecheck.wire.retry import is_stopped_on_the_way

NAME_NOT_FOUND = declare(
    "name-not-found",
    "Does not find something under the name with which it was created",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)
ANOTHER_OBJECT = declare(
    "another-object",
    "Under a name is another object than the one created with it",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)

_MARK_LOST = EFFECT_MISSING.of("properties")
MARK = "icecheck.mark"
PAGE_SIZE = 3


@dataclass(frozen=True, slots=True)
class Bearer:
    """An object with a name, what is odd about the name, and what identifies the object.

    ``mark`` is the value of a property, which no other object has. ``uuid`` is from the answer that
    made the object; it is empty for namespaces. ``shows_mark``: that answer had the property too.
    """

    namespace: Namespace
    stem: str
    ending: str
    what: str
    mark: str
    beginning: str = ""
    uuid: str = ""
    shows_mark: bool = True

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.beginning}{self.stem}{self.ending}"

    @property
    def path(self) -> Namespace:
        """The path of the object if it is a namespace."""
        return (*self.namespace, self.name)

    @property
    def odd(self) -> bool:
        """Whether the name is odd."""
        return self.what != PLAIN.what

    @property
    def identifier(self) -> dict[str, Any]:
        """The object in the form that request bodies use."""
        return {"namespace": [*self.namespace], "name": self.name}


@dataclass(frozen=True, slots=True)
class Kind:
    """Functions that make, load, look for, drop and list objects of one kind."""

    word: str
    create: Callable[[Catalog, Bearer], Reply]
    load: Callable[[Catalog, Bearer], Reply]
    exists: Callable[[Catalog, Bearer], Reply]
    drop: Callable[[Catalog, Bearer], Reply]
    list: Callable[[Catalog, Namespace, Query], Reply]
    listed: Callable[[Reply], Sequence[tuple[Namespace, str]]]


def _create_table(catalog: Catalog, it: Bearer) -> Reply:
    body = bodies.create_table_body(it.name, properties={MARK: it.mark})
    return catalog.create_table(it.namespace, body)


def _create_view(catalog: Catalog, it: Bearer) -> Reply:
    body = create_view_body(it.name, it.namespace, properties={MARK: it.mark})
    return catalog.create_view(it.namespace, body)


def _namespaces(reply: Reply) -> Sequence[tuple[Namespace, str]]:
    return [(each[:-1], each[-1]) for each in namespaces_in(reply) if each]


TABLES = Kind(
    "table",
    _create_table,
    lambda catalog, it: catalog.load_table(it.namespace, it.name),
    lambda catalog, it: catalog.table_exists(it.namespace, it.name),
    lambda catalog, it: catalog.drop_table(it.namespace, it.name),
    lambda catalog, namespace, query: catalog.list_tables(namespace, query),
    tables_in,
)
VIEWS = Kind(
    "view",
    _create_view,
    lambda catalog, it: catalog.load_view(it.namespace, it.name),
    lambda catalog, it: catalog.view_exists(it.namespace, it.name),
    lambda catalog, it: catalog.drop_view(it.namespace, it.name),
    lambda catalog, namespace, query: catalog.list_views(namespace, query),
    tables_in,
)
NAMESPACES = Kind(
    "namespace",
    lambda catalog, it: catalog.create_namespace(it.path, {MARK: it.mark}),
    lambda catalog, it: catalog.load_namespace_metadata(it.path),
    lambda catalog, it: catalog.namespace_exists(it.path),
    lambda catalog, it: catalog.drop_namespace(it.path),
    lambda catalog, namespace, query: catalog.list_namespaces(namespace or None, query),
    _namespaces,
)


# ----------------------------------------------------------------------- arrange steps


def given_bearers(
    catalog: Catalog,
    kind: Kind,
    namespace: Namespace,
    names: Names,
    make: Callable[[Bearer], Bearer | None] | None = None,
) -> list[Bearer]:
    """Make an object under each name, and return those that the catalog accepts.

    If a name is refused, each of its oddities gets a name for itself. A name has a beginning only
    in a namespace that the check has for itself, and a namespace none with the announced separator
    in it. ``make`` creates the object if not left out.
    """
    stem = catalog.new_name("_")
    its_own = namespace != catalog.session.isolation.base
    make = make or (lambda it: made_as(kind.create(catalog, it), it))
    offer = catalog.session.offer
    possible = (
        [
            odd
            for odd in odds
            if (its_own or not odd.beginning)
            and not (kind.word == "namespace" and offer.separates(odd.beginning + odd.ending))
        ]
        for odds in names
    )
    waiting = deque(filter(None, possible))
    addressed = _addressed(catalog, kind, waiting)
    made: list[Bearer] = []
    while waiting:
        odds = waiting.popleft()
        beginning, ending = "".join(o.beginning for o in odds), "".join(o.ending for o in odds)
        what = ", ".join(odd.what for odd in odds)
        it = Bearer(namespace, stem, ending, what, str(len(made)), beginning)
        known = what in addressed.whats
        if bearer := make(it) if known or is_free(catalog, kind, it) else None:
            made.append(bearer)
        elif len(odds) > 1:
            waiting.extendleft([odd] for odd in reversed(odds))
    raise_if_none(made)
    return made


@dataclass(frozen=True, slots=True)
class _Addressed:
    """What is odd about names that can be addressed, and the stem of the names that showed it."""

    name: str
    whats: frozenset[str]


def _addressed(catalog: Catalog, kind: Kind, names: Names) -> _Addressed:
    """Find out, once for many checks, which of these names can be addressed."""

    def look(maker: Catalog) -> _Addressed:
        nests = kind.word != "namespace" or has_capability(maker, "nested-namespaces")
        home = shared_namespace(maker) if nests else maker.session.isolation.base
        stem, whats = maker.new_name("_"), set[str]()
        for odds in names:
            beginning, ending = "".join(o.beginning for o in odds), "".join(o.ending for o in odds)
            what = ", ".join(odd.what for odd in odds)
            reply = kind.load(maker, Bearer(home, stem, ending, what, "", beginning))
            # Any other answer is judged by the check, which looks for the name itself.
            if reply.status == 404 and not is_stopped_on_the_way(reply.exchange):
                whats.add(what)
        return _Addressed(stem, frozenset(whats))

    told = " ".join(odd.what for odds in names for odd in odds)
    return lent_object(catalog, f"{kind.word} names with {told}", look)


def made_as(reply: Reply, it: Bearer) -> Bearer | None:
    """Return an object as the answer to its creation identifies it, or None if it was refused."""
    return identified(reply, it) if is_made(reply, it) else None


def identified(reply: Reply, it: Bearer) -> Bearer:
    """Return an object with its uuid, and whether the answer that made it shows its mark.

    A catalog that has lost the mark is judged by other checks; the uuid tells the object as well.
    """
    uuid = _uuid_in(reply)
    return replace(it, uuid=uuid, shows_mark=MARK in properties_in(reply)) if uuid else it


def is_free(catalog: Catalog, kind: Kind, it: Bearer) -> bool:
    """Return whether a name can be addressed: an object that could not be dropped is never made."""
    reply = kind.load(catalog, it)
    if is_stopped_on_the_way(reply.exchange):
        return False
    return reply.ok or is_refused_as(reply, it, 404)


def is_made(reply: Reply, it: Bearer) -> bool:
    """Return whether an object was made or moved under a name, and not refused."""
    return not is_refused_as(reply, it) and reply.ok


def is_refused_as(reply: Reply, it: Bearer, *statuses: int) -> bool:
    """Return whether a request was refused, with one of the statuses if any are given.

    Raises Violation for a server error other than 501.
    """
    if reply.status >= 500 and reply.status != 501:
        detail = f"{reply.exchange.operation} of {_named(it)}"
        raise reply.wrong_status(ANY_SUCCESS_OR_4XX, detail=detail)
    return reply.status in statuses if statuses else not reply.ok


def drops(catalog: Catalog, kind: Kind) -> bool:
    """Return whether a check may drop objects of a kind: names can be judged without drops."""
    return catalog.serves(catalog.contract.operation_that(Action.DROP, kind.word))


def renames(catalog: Catalog, kind: Kind) -> bool:
    """Return whether a check may rename objects of a kind; so can they without renames."""
    return catalog.serves(catalog.contract.operation_that(Action.RENAME, kind.word))


def raise_if_none(bearers: Sequence[Bearer]) -> None:
    """End the check if the catalog accepted none of the odd names."""
    if not any(each.odd for each in bearers):
        raise not_applicable("the catalog takes none of these names")


# -------------------------------------------------------------------------- judgement


def found(reply: Reply, it: Bearer) -> Reply:
    """Judge that an object is reached under the name with which it was made."""
    if not reply.ok:
        raise reply.violation(
            NAME_NOT_FOUND,
            "the object created under this name",
            reply.status,
            detail=_named(it),
        )
    return reply


def expect_itself(
    catalog: Catalog, kind: Kind, it: Bearer, *, otherwise: Symptom = _MARK_LOST
) -> Reply:
    """Judge that a name leads to the object that was made under it; return the answer.

    ``otherwise`` is the symptom of this object with another mark than its own.
    """
    reply = found(kind.load(catalog, it), it)
    if kind.word == "namespace":
        expect_levels(reply, it.path)
        if not _marks_namespaces(catalog):
            return reply
    mark = properties_in(reply).get(MARK, ABSENT)
    is_same = bool(it.uuid) and _uuid_in(reply).lower() == it.uuid.lower()
    if mark == it.mark or (is_same and not it.shows_mark):
        return reply
    if is_same or (mark is ABSENT and not it.uuid):
        due = f"the mark of the {kind.word}"
        actual = "none" if mark is ABSENT else "another value"
        symptom = _MARK_LOST if mark is ABSENT else otherwise
        holder = "" if kind.word == "namespace" else "/metadata"
        place = f"{holder}/properties/{MARK}"
        raise reply.violation(symptom, due, actual, detail=_named(it), pointer=place)
    raise reply.violation(
        ANOTHER_OBJECT,
        f"the {kind.word} created under this name",
        f"another {kind.word}",
        detail=_named(it),
    )


def _marks_namespaces(catalog: Catalog) -> bool:
    """Return whether namespaces show their marks; their levels can be judged without."""
    return has_capability(catalog, "namespace-properties") and catalog.keeps(
        "createNamespace.properties-stored"
    )


def expect_bearers(
    catalog: Catalog, kind: Kind, bearers: Sequence[Bearer], *, otherwise: Symptom = _MARK_LOST
) -> None:
    """Judge that each of these objects exists under its name, with its own mark."""
    for each in bearers:
        expect_itself(catalog, kind, each, otherwise=otherwise)


def expect_listed(
    catalog: Catalog, kind: Kind, family: Sequence[Bearer], present: Sequence[Bearer]
) -> None:
    """Judge that exactly those present of the names with this stem are listed, verbatim."""
    reply = kind.list(catalog, family[0].namespace, ())
    _expect_these(reply, kind.listed(reply), family[0], present)


def expect_paged(catalog: Catalog, kind: Kind, bearers: Sequence[Bearer]) -> None:
    """Judge the same of a list in pages; a whole list counts as one page."""
    ask = partial(kind.list, catalog, bearers[0].namespace)
    reply, listed = entries_in_pages(ask, kind.listed, PAGE_SIZE)
    _expect_these(reply, listed, bearers[0], bearers)


def _expect_these(
    reply: Reply,
    listed: Sequence[tuple[Namespace, str]],
    relative: Bearer,
    present: Sequence[Bearer],
) -> None:
    due = sorted((each.namespace, each.name) for each in present)
    names = sorted(each for each in listed if relative.stem in each[-1])
    if names != due:
        raise reply.violation(
            NAME_ALTERED,
            "a list with the names as they were created",
            "another list",
            detail=f"it has {show(names)}, due is {show(due)}",
        )


def _uuid_in(reply: Reply) -> str:
    metadata = object_in(reply).get("metadata")
    members = metadata if isinstance(metadata, dict) else {}
    return str(members.get("table-uuid") or members.get("view-uuid") or "")


def properties_in(reply: Reply) -> dict[str, Any]:
    """Return the properties of a namespace, a table or a view in an answer, or none."""
    body = object_in(reply)
    metadata = body.get("metadata")
    holder = metadata if isinstance(metadata, dict) else body
    properties = holder.get("properties")
    return properties if isinstance(properties, dict) else {}


def _named(it: Bearer) -> str:
    return f"{show(it.name)}, a name with {it.what}"
