"""Checks of names in paths, bodies and lists: encoding, separators, letter case."""

from collections.abc import Sequence
from http import HTTPStatus

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, shared_namespace, shared_namespaces
from icecheck.conformance.names.lookalike_names import (
    ANOTHER_OBJECT,
    NAME_NOT_FOUND,
    TABLES,
    Bearer,
    given_bearers,
    made_as,
)
from icecheck.conformance.names.odd_names import PLAIN, Odd
from icecheck.findings.shared_symptoms import NAME_ALTERED, NAMES_RUN_TOGETHER
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import is_declined, offered, saw
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.reading import (
    expect_levels,
    namespaces_in,
    not_applicable,
    object_in,
    supported,
    tables_in,
)
from icecheck.objects.views import (
    create_view_body,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace
from icecheck.wire.retry import is_stopped_on_the_way

_NESTED = ("nested-namespaces",)
# Web servers refuse paths with these characters encoded, before the catalog sees them.
_STOPPED_ON_THE_WAY = ("%", "/")
_ROUND_TRIP = ("createTable", "loadTable", "listTables", "dropTable")
# Longer than many database columns allow, shorter than the limit of a directory name.
_LONG = 140
_PLUS_KEPT = declare(
    "plus-is-no-space",
    "Reads a plus sign in a path as itself, where Java clients send it for a space",
    Severity.REFUSED,
    answer_in_id=False,
)
_LOCATION_SHARED = declare(
    "location-shared",
    "Puts two tables into one location",
    Severity.FALSE_OR_LOST,
    "every engine: what cleans up after one table deletes the files of the other",
)
_WRITTEN_ALIKE = (
    (Odd("a capital letter", "_A"),),
    (PLAIN,),
    (Odd("a small letter", "_a"),),
    (Odd("a blank at the end", "a "),),
    (Odd("a space", "a b"),),
    (Odd("a plus sign", "a+b"),),
)
"""Names of which a store of paths without case, trimmed or encoded like forms makes one."""
# The user agent of Java clients; some catalogs decode paths depending on it.
_JAVA = {"X-Client-Version": "Apache Iceberg 1.10.0"}


@check("names.space")
def test_a_space_in_a_name(catalog: Catalog) -> None:
    """A name with a space is found under %20, wherever it was accepted."""
    _expect_round_trip(catalog, " b", "a space", "names-with-space")


@check("names.plus")
def test_a_plus_sign_in_a_name(catalog: Catalog) -> None:
    """A name with a plus sign is found under %2B, wherever it was accepted."""
    _expect_round_trip(catalog, "+b", "a plus sign", "names-with-plus")


@check("names.percent")
def test_a_percent_sign_in_a_name(catalog: Catalog) -> None:
    """A name with a percent sign is decoded once, and found, wherever it was accepted."""
    _expect_round_trip(catalog, "%41", "a percent sign", "names-with-percent")


@check("names.unicode")
def test_characters_beyond_ascii_in_a_name(catalog: Catalog) -> None:
    """A name with characters beyond ASCII is found and listed as it was created."""
    _expect_round_trip(catalog, "_ü東", "characters beyond ASCII", "names-with-unicode")


@check("names.long")
def test_a_long_name_of_a_table(catalog: Catalog) -> None:
    """A table with a long name is found and listed as it was created, wherever it was accepted."""
    require(catalog, *_ROUND_TRIP)
    ending = f"_{_LONG * 'x'}"
    _expect_table_round_trip(catalog, given_namespace(catalog), ending, f"{_LONG} letters x")


@check("names.dot")
def test_a_dot_in_a_name(catalog: Catalog) -> None:
    """A dot inside a name is an ordinary character and splits nothing."""
    _expect_round_trip(catalog, ".b", "a dot", "names-with-dot")


@check("names.slash")
def test_a_slash_in_a_name(catalog: Catalog) -> None:
    """A name with a slash is found under %2F, wherever it was accepted."""
    _expect_round_trip(catalog, "/b", "a slash", "names-with-slash")


@check("names.case")
def test_a_name_keeps_its_case(catalog: Catalog) -> None:
    """A name in mixed case is found and listed as it was created."""
    _expect_round_trip(catalog, "_MiXed", "capital letters", "mixed-case-names")


@check("names.case-distinct", proves="names.case")
def test_names_that_differ_in_case_only(catalog: Catalog) -> None:
    """Names that differ in case only are one name or two, and neither is taken for the other."""
    require(catalog, "createNamespace", "loadNamespaceMetadata")
    mixed = catalog.new_namespace_name("_MiXed")
    _expect_case_kept(catalog, catalog.create_namespace(mixed), mixed)
    lower = _lowered(mixed)
    reply = catalog.create_namespace(lower)
    if reply.status == 409:
        saw(catalog, "case-distinct-names", present=False)
        return
    reply = offered(catalog, "case-distinct-names", reply, is_declined).expect(200)
    for namespace in (lower, mixed):
        expect_levels(catalog.load_namespace_metadata(namespace).expect(200), namespace)


@generated_check("names.locations")
def test_no_two_tables_share_a_location(catalog: Catalog) -> None:
    """Tables whose names a store writes alike have each a location of their own."""
    require(catalog, *_ROUND_TRIP)
    namespace = shared_namespace(catalog)
    if catalog.location_for(namespace, "") is not None:
        raise not_applicable("the catalog leaves the choice of locations to clients")
    names: dict[str, str] = {}

    def make(it: Bearer) -> Bearer | None:
        reply = TABLES.create(catalog, it)
        bearer = made_as(reply, it)
        if bearer:
            _expect_own_location(reply, names, it.name)
        return bearer

    first, *_ = given_bearers(catalog, TABLES, namespace, _WRITTEN_ALIKE, make)
    if not catalog.claims("renameTable"):
        return
    # The next table of a name that was renamed away must not meet the files of the renamed one.
    new = catalog.new_name()
    if catalog.rename_table((namespace, first.name), (namespace, new)).ok:
        moved = catalog.load_table(namespace, new).expect(200)
        left = _location_in(moved)
        names = {} if left is None else {left: new}
        reply = TABLES.create(catalog, first)
        if reply.ok:
            _expect_own_location(reply, names, first.name)


def _expect_own_location(reply: Reply, names: dict[str, str], name: str) -> None:
    """Judge that a new table lies where no other one does; ``names`` are those by location."""
    location = _location_in(reply)
    if location is None:
        return  # what an answer leaves untold, nobody knows to be shared
    if location in names:
        raise reply.violation(
            _LOCATION_SHARED,
            "a location of its own",
            "that of another table",
            detail=f"{show(name)} lies where {show(names[location])} does",
            pointer="/metadata/location",
        )
    names[location] = name


def _location_in(reply: Reply) -> str | None:
    location = reply.member("metadata", "location")
    return location.rstrip("/") if isinstance(location, str) else None


@check("names.views")
def test_the_name_of_a_view(catalog: Catalog) -> None:
    """A view with a space, a plus sign, a percent sign and an umlaut in its name is found by it."""
    what = "a space, a plus sign, a percent sign and an umlaut"
    namespace = given_namespace(catalog)
    name = catalog.new_name(" +%41ü")
    reply = catalog.load_view(namespace, name)
    offered(catalog, "names-with-percent", reply, _is_stopped)
    made = supported(catalog.create_view(namespace, create_view_body(name, namespace)))
    made = _accepted(made, f"a view with {what} in its name")
    loaded = _found(catalog.load_view(namespace, name), what)
    uuids = [str(each.member("metadata", "view-uuid")).lower() for each in (made, loaded)]
    if uuids[0] != uuids[1]:
        raise loaded.violation(ANOTHER_OBJECT, "the view created", "another one", detail=what)
    if catalog.claims("listViews"):
        reply = catalog.list_views(namespace)
        _expect_listed(reply, (namespace, name), tables_in(reply), what)
    _found(catalog.drop_view(namespace, name), what)


@check("names.space-as-plus")
def test_a_space_sent_as_a_plus_sign(catalog: Catalog) -> None:
    """A name with a space is also found when the path spells the space as a plus sign."""
    require(catalog, "createNamespace")
    _require_no_separator(catalog, " b")
    namespace = catalog.new_namespace_name(" b")
    made = catalog.create_namespace(namespace)
    offered(catalog, "names-with-space", made, is_declined).expect(200)
    template = catalog.session.contract.operations["loadNamespaceMetadata"].path
    path = catalog.session.offer.path(template, {"namespace": namespace}).replace("%20", "+")
    reply = catalog.call("loadNamespaceMetadata", path=path, headers=_JAVA)
    if reply.status == HTTPStatus.NOT_FOUND:
        raise reply.violation(_PLUS_KEPT, "the namespace with a space", "404")
    reply.expect(200, detail="as Java clients encode paths")
    expect_levels(reply, namespace)


@check("names.unit-separator", needs=_NESTED)
def test_levels_are_separated_by_the_unit_separator(catalog: Catalog) -> None:
    """In a path the levels of a namespace are separated by %1F."""
    _expect_found_under_separator(catalog, "%1F")


@check("names.separator-letter-case", needs=_NESTED)
def test_the_separator_may_be_written_in_lower_case(catalog: Catalog) -> None:
    """The separator between levels is the same byte when it is written %1f."""
    _expect_found_under_separator(catalog, "%1f")


@check("names.distinct", needs=_NESTED)
def test_levels_are_not_joined(catalog: Catalog) -> None:
    """Namespaces that differ only in where a level ends are different namespaces."""
    _require_no_separator(catalog, ".")
    parent = given_namespace(catalog)
    outer = given_namespace(catalog, under=parent)
    two_levels = (*outer, "b")
    one_level = (*parent, f"{outer[-1]}.b")
    given_namespace_at(catalog, two_levels)
    reply = catalog.create_namespace(one_level)
    if reply.status == 409 and catalog.create_namespace((*parent, f"{outer[-1]}.c")).ok:
        raise reply.violation(
            NAMES_RUN_TOGETHER, "200", "409", detail="a.b as one level was taken for a, b"
        )
    offered(catalog, "names-with-dot", reply, is_declined).expect(200)
    catalog.drop_namespace(one_level).expect(200, 202, 204)
    reply = catalog.load_namespace_metadata(two_levels)
    if reply.status == 404:
        raise reply.violation(
            NAMES_RUN_TOGETHER, "200", "404", detail="a, b went when a.b was dropped"
        )
    expect_levels(reply.expect(200), two_levels)


def _require_no_separator(catalog: Catalog, text: str) -> None:
    """End the check if what separates the levels of namespaces in paths is in this text."""
    if catalog.session.offer.separates(text):
        raise not_applicable(f"the catalog announces what is in {text!r} as the end of a level")


def _expect_found_under_separator(catalog: Catalog, separator: str) -> None:
    if catalog.session.offer.separator.upper() != "%1F":
        raise not_applicable("the catalog announces a separator of its own")
    outer = shared_namespaces(catalog)
    namespace = (*outer.path, outer.holds[0])
    template = catalog.session.contract.operations["loadNamespaceMetadata"].path
    path = catalog.session.offer.path(template, {"namespace": namespace})
    path = path.replace("%1F", separator).replace("%1f", separator)
    reply = catalog.call("loadNamespaceMetadata", path=path)
    reply.expect(200, detail=f"{separator} between the levels")
    expect_levels(reply, namespace)


def _expect_round_trip(catalog: Catalog, ending: str, what: str, capability: str) -> None:
    """Judge that a namespace and a table with such a name are found, listed and dropped by it.

    Names can be judged without drops, where the catalog does not carry any out.
    """
    require(catalog, "createNamespace", "loadNamespaceMetadata", "dropNamespace")
    _require_no_separator(catalog, ending)
    namespace = catalog.new_namespace_name(ending)
    if ending.startswith(_STOPPED_ON_THE_WAY):
        # An object that was made by a body and cannot be addressed in a path could not be dropped.
        offered(catalog, capability, catalog.load_namespace_metadata(namespace), _is_stopped)
    made = catalog.create_namespace(namespace)
    reply = offered(catalog, capability, made, is_declined).expect(200)
    if capability == "mixed-case-names":
        _expect_case_kept(catalog, reply, namespace)
    expect_levels(reply, namespace)
    expect_levels(_found(catalog.load_namespace_metadata(namespace), what), namespace)
    base = catalog.session.isolation.base
    reply = catalog.list_namespaces(base or None)
    _expect_listed(reply, namespace, namespaces_in(reply), what)
    if all(map(catalog.claims, _ROUND_TRIP)):
        _expect_table_round_trip(catalog, namespace, ending, what)
    if catalog.serves("dropTable") and catalog.serves("dropNamespace"):
        _found(catalog.drop_namespace(namespace), what)


def _expect_table_round_trip(
    catalog: Catalog, namespace: Namespace, ending: str, what: str
) -> None:
    """Judge the same of a table; the catalog may still refuse such a name for tables."""
    name = catalog.new_name(ending)
    reply = catalog.create_table(namespace, bodies.create_table_body(name))
    if is_declined(reply) and (reply.status != 404 or _takes_tables(catalog, namespace)):
        return
    created = str(_found(reply, what).member("metadata", "table-uuid"))
    reply = _found(catalog.load_table(namespace, name), what)
    if str(reply.member("metadata", "table-uuid")).lower() != created.lower():
        raise reply.violation(
            ANOTHER_OBJECT,
            "the table created under this name",
            "another table",
            detail=f"a name with {what}",
        )
    reply = catalog.list_tables(namespace)
    _expect_listed(reply, (namespace, name), tables_in(reply), what)
    if catalog.serves("dropTable"):
        _found(catalog.drop_table(namespace, name), what)


def _takes_tables(catalog: Catalog, namespace: Namespace) -> bool:
    """Return whether a table with an ordinary name is created in a namespace."""
    return catalog.create_table(namespace, bodies.create_table_body(catalog.new_name())).ok


def _is_stopped(reply: Reply) -> bool:
    """Return whether no answer of the catalog says that nothing has this name yet."""
    if is_stopped_on_the_way(reply.exchange):
        return True
    return is_declined(reply) and reply.status != 404


def _expect_case_kept(catalog: Catalog, reply: Reply, namespace: Namespace) -> None:
    """End the check if the catalog's answer shows the name in lower case."""
    reply = offered(catalog, "mixed-case-names", reply, is_declined).expect(200)
    made = object_in(reply).get("namespace")
    if made == [*_lowered(namespace)]:
        saw(catalog, "mixed-case-names", present=False)
        raise not_applicable("the catalog makes names in lower case")


def _lowered(namespace: Namespace) -> Namespace:
    return (*namespace[:-1], namespace[-1].lower())


def _accepted(reply: Reply, what: str) -> Reply:
    """Return the answer to a creation; a catalog may refuse the name."""
    if is_declined(reply):
        raise not_applicable(f"the catalog refuses {what} ({reply.status})")
    return reply.expect(200)


def _found(reply: Reply, what: str) -> Reply:
    """Judge that an object is reached under the name with which it was created."""
    if not reply.ok:
        raise reply.violation(
            NAME_NOT_FOUND,
            "the object created under this name",
            reply.status,
            detail=f"a name with {what}",
        )
    return reply


def _expect_listed(reply: Reply, entry: object, listed: Sequence[object], what: str) -> None:
    if entry not in listed:
        raise reply.violation(
            NAME_ALTERED,
            "a list with the name as it was created",
            "a list without it",
            detail=f"{show(entry)}, a name with {what}",
        )
