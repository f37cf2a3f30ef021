"""Makes the run's first table as Spark would, or in another way where that is refused.

The session remembers what the catalog needs (verdict-rules 8): the rest of the run sends that, the
report lists it, and one check of the plain request reports what is wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.session import Session
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.ill_shaped import IllShaped, ill_shaped_reads_named
from icecheck.targets.adaptations import Adaptations
from icecheck.targets.target import Namespace
from icecheck.wire.unreachable import Unreachable

# These statuses tell nothing about the body: access, throttling, or an operation not served.
_NO_REFUSALS = frozenset({401, 404, 406, 409, 429, 503})


@dataclass(frozen=True, slots=True)
class FirstTable:
    """The attempt to make a table, successful or not: its namespace, its name, and the answer."""

    namespace: Namespace
    name: str
    reply: Reply


def adapt(session: Session) -> None:
    """Make one table and remove it, only to learn what the catalog needs; never raises for that."""
    catalog = Catalog(session, session.probe_id("accommodation"))
    try:
        with ill_shaped_reads_named(catalog.handed_out):
            first_table(catalog)
    except (Blocked, IllShaped, NotOffered, Unreachable, Violation):
        pass  # the checks meet the same trouble and report it
    finally:
        catalog.undo()


def first_table(catalog: Catalog) -> FirstTable:
    """Create a table in a namespace of its own and return it, made in the way that works.

    A table that cannot be made in any way is returned with its refusal. No other table is left.
    Raises NotOffered or Blocked, as ``given_namespace`` does, where there is no namespace for it.
    """
    session = catalog.session
    try:
        namespace = given_namespace(catalog)
    except (Blocked, NotOffered):
        found = _in_parent(catalog, "creates no namespaces here")
        if found is None:
            raise
        return found
    made = _attempt(catalog, namespace)
    if not _is_refused(made.reply):
        return made
    ordinary = session.adaptations
    status = made.reply.status
    for candidate in () if status == 403 else _candidates(catalog, namespace, status):
        session.adaptations = candidate
        again = _attempt(catalog, namespace)
        if again.reply.ok:
            return _confirmed(catalog, again, ordinary)
        session.adaptations = ordinary
    return _in_parent(catalog, "takes no tables in namespaces of the run's own") or made


def _confirmed(catalog: Catalog, made: FirstTable, ordinary: Adaptations) -> FirstTable:
    """Try the ordinary request once more: after a passing error no adaptation is needed."""
    session = catalog.session
    needed, session.adaptations = session.adaptations, ordinary
    once_more = _attempt(catalog, made.namespace)
    if not once_more.reply.ok:
        session.adaptations = needed
        return made
    catalog.drop_table(made.namespace, made.name)
    return once_more


def _attempt(catalog: Catalog, namespace: Namespace) -> FirstTable:
    name = catalog.new_name()
    with catalog.arranging():
        reply = catalog.create_table(namespace, bodies.create_table_body(name))
    return FirstTable(namespace, name, reply)


def _is_refused(reply: Reply) -> bool:
    return reply.status >= 400 and reply.status not in _NO_REFUSALS


def _candidates(catalog: Catalog, namespace: Namespace, status: int) -> Iterator[Adaptations]:
    """Yield the adaptations to try, the smallest change first.

    A refused location is removed; a missing one is added below a root that the catalog names.
    """
    ordinary = catalog.session.adaptations
    if ordinary.location_root is not None:
        said = f"createTable with a location is refused with {status}: it is sent without"
        yield replace(ordinary, location_root=None, records=(*ordinary.records, said))
        said = f"createTable with a location, even null, is refused with {status}: it is left out"
        without = replace(ordinary, location_root=None, drops_location=True)
        yield replace(without, records=(*ordinary.records, said))
        return
    said = f"createTable with a null location is refused with {status}: the member is left out"
    yield replace(ordinary, drops_location=True, records=(*ordinary.records, said))
    said = f"createTable with null members is refused with {status}: they are left out"
    yield replace(ordinary, drops_nulls=True, records=(*ordinary.records, said))
    for root in _roots(catalog, namespace):
        said = (
            f"createTable without a location is refused with {status}: tables and views are put "
            f"below {root}"
        )
        yield replace(ordinary, location_root=root, records=(*ordinary.records, said))


def _roots(catalog: Catalog, namespace: Namespace) -> Iterator[str]:
    """Yield locations that the catalog itself names: the namespace's, then the warehouse's."""
    found = []
    if catalog.claims("loadNamespaceMetadata"):
        reply = catalog.load_namespace_metadata(namespace)
        try:
            location = reply.member("properties", "location") if reply.ok else None
        except (Blocked, Violation):
            location = None
        if isinstance(location, str) and _is_uri(location):
            levels = "/".join(namespace)
            found.append(location.rstrip("/").removesuffix(levels))
    offer = catalog.session.offer
    found.append(offer.overrides.get("warehouse", offer.defaults.get("warehouse")))
    for root in dict.fromkeys(each for each in found if _is_uri(each)):
        yield root.rstrip("/")


def _is_uri(value: Any) -> bool:
    return isinstance(value, str) and bool(value.partition("://")[2].strip("/"))


def _in_parent(catalog: Catalog, because: str) -> FirstTable | None:
    """Make the table in the namespace that the user named; return None if that is not possible."""
    session, parent = catalog.session, catalog.target.namespace
    if not parent or not catalog.claims("createTable"):
        return None
    ordinary = session.adaptations
    made = _attempt(catalog, parent)
    if not made.reply.ok:
        return None
    said = f"the catalog {because}: tables and views are made in {'.'.join(parent)} itself"
    session.adaptations = replace(ordinary, only_in=parent, records=(*ordinary.records, said))
    return made
