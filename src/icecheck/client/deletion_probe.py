"""Finds out on one object, before a run makes many, whether the catalog deletes what it drops."""

from icecheck.client.adapting import FirstTable, first_table
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.isolation import exists_already
from icecheck.client.session import Session
from icecheck.contract import Action, Object
from icecheck.ownership.effects import effect_of
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.ill_shaped import IllShaped, ill_shaped_reads_named
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.exchange import Exchange
from icecheck.wire.retry import foreign_words
from icecheck.wire.unreachable import Unreachable

_HOW_TO_GO_ON = "; to let all of it stay on the catalog, add --accept-residue"


class DropIgnored(TargetUnusable):
    """The catalog says that it has dropped an object, and still shows it.

    A run judges this drop and nothing else: whatever it makes would stay.
    """


def require_deletion(session: Session) -> None:
    """Make one namespace and one table, drop them, and look whether they are gone.

    Source: verdict-rules 13. What the catalog needs to make them is found out on the way and
    remembered (rule 8). Objects that cannot be made show nothing.

    Raises DropIgnored when something is evidently still there whose drop was answered with success
    or 404, and TargetUnusable when the drop is refused otherwise, when the catalog does not claim
    to drop what a run makes, when the credentials may not create or are not accepted, when nothing
    can be made and no namespaces can be listed, when the run's first name is taken, or when nothing
    but the config is answered by a catalog.
    """
    catalog = Catalog(session, session.probe_id("deletion"))
    if session.target.read_only:
        _expect_a_catalog(catalog)
        return
    if not session.target.accept_residue:
        _expect_to_claim_drops(session)
    try:
        with ill_shaped_reads_named(catalog.handed_out):
            if session.target.accept_residue:
                made = first_table(catalog)
                _expect_a_catalog(catalog)
                _expect_to_be_made(made)
            else:
                _try_deleting(catalog)
    except (Blocked, IllShaped, NotOffered, Unreachable, Violation):
        _expect_a_catalog(catalog)
        _expect_to_be_first(catalog)
        _expect_to_be_allowed(catalog)
        _expect_a_way_in(catalog)  # the checks meet any other trouble too
    finally:
        catalog.undo()


def _expect_to_claim_drops(session: Session) -> None:
    """Raise TargetUnusable if the catalog claims to make something that it does not drop."""
    for kind in (Object.NAMESPACE, Object.TABLE, Object.VIEW):
        pair = (Action.CREATE, Action.DROP)
        creates, drops = (session.contract.operation_that(action, kind) for action in pair)
        claimed = [session.offer.claims(id_, session.contract) for id_ in (creates, drops)]
        if claimed == [True, False]:
            raise TargetUnusable(
                f"the catalog claims {creates} and not {drops}: what a run makes would stay, so "
                f"it stops before it creates more{_HOW_TO_GO_ON}"
            )


def _expect_to_be_made(made: FirstTable) -> None:
    """Raise Blocked if the first table was not made."""
    if not made.reply.ok:
        raise Blocked("createTable.200", f"createTable is answered {made.reply.status}")


def _expect_a_catalog(catalog: Catalog) -> None:
    """Raise TargetUnusable if nothing but the config is answered as a catalog answers it."""
    asked = catalog.exchanges[:1]
    if asked and not foreign_words(asked[0]):
        return
    for operation_id in ("listNamespaces", "loadNamespaceMetadata"):
        if catalog.claims(operation_id):
            missing = catalog.new_namespace_name()
            names = {} if operation_id == "listNamespaces" else {"namespace": missing}
            try:
                asked = [*asked, catalog.call(operation_id, names).exchange]
            except Unreachable:
                return
            if not foreign_words(asked[-1]):
                return
    if len(asked) < 2:
        return
    said: dict[str, list[str]] = {}
    for exchange in asked:
        # Secrets are replaced before the text is shortened.
        shown = foreign_words(catalog.session.connection.redactor.exchange(exchange))
        said.setdefault(shown, []).append(str(exchange.operation))
    words = "; ".join(f"{', '.join(ids)}: {answer}" for answer, ids in said.items())
    raise TargetUnusable(
        f"the config is there, and nothing that it leads to is answered by a catalog ({words}); "
        "look into the catalog's log, at the prefix, and at what stands before it (a login?)"
    )


def _expect_to_be_allowed(catalog: Catalog) -> None:
    """Raise TargetUnusable if the credentials may not create what a run is made of."""
    refused = _refused(catalog)
    if refused is not None and refused.status == 403:
        raise TargetUnusable(
            f"{refused.operation} is answered 403: give credentials that may create, name a "
            "namespace under which they may with --namespace, or look without writing with "
            "--read-only"
        )


def _refused(catalog: Catalog) -> Exchange | None:
    """Return the last attempt to make something if it was refused with a 4xx."""
    making = [e for e in catalog.exchanges if e.operation in {"createNamespace", "createTable"}]
    return making[-1] if making and 400 <= (making[-1].status or 0) < 500 else None


def _expect_a_way_in(catalog: Catalog) -> None:
    """Raise TargetUnusable if nothing can be made and namespaces cannot be listed either.

    Credentials are missing or refused, or the routes are somewhere else. A catalog in which nothing
    can be made, and whose list is answered with success, is judged.
    """
    refused = _refused(catalog)
    if refused is None or not catalog.claims("listNamespaces"):
        return
    listed = catalog.list_namespaces().status
    if listed not in {401, 403, 404}:
        return
    words = f"{refused.operation} is answered {refused.status} and listNamespaces {listed}"
    if 401 in {refused.status, listed}:
        given = catalog.target.authenticates
        what = "the credentials are not accepted, or have expired; give fresh ones"
        advice = f"{what if given else 'give some'} with --token or --credential"
    elif listed == 403:
        advice = "the credentials may neither write nor read; give others"
    else:
        advice = (
            "the routes may be under a prefix that the config does not announce (--prefix), or "
            "under another URL; `icecheck doctor` looks for it"
        )
    raise TargetUnusable(f"{words}: {advice}")


def _expect_to_be_first(catalog: Catalog) -> None:
    """Raise TargetUnusable if the run's first namespace exists already."""
    # What was throttled has not been carried out: its retry meets what was there before.
    asked = [each for each in catalog.exchanges if each.status != 429][:1]
    if not asked or (asked[0].operation, asked[0].status) != ("createNamespace", 409):
        return
    create = catalog.session.contract.operations["createNamespace"]
    (namespace,) = effect_of(create, {}, asked[0].request_body).creates
    if catalog.load_namespace_metadata(namespace.namespace).status == 200:
        raise TargetUnusable(exists_already(namespace.namespace))


def _try_deleting(catalog: Catalog) -> None:
    if catalog.claims("createTable"):
        made = first_table(catalog)
        _expect_to_be_made(made)
        namespace = made.namespace
        try_deleting_table(catalog, made)
        if namespace == catalog.session.adaptations.only_in:
            return  # the namespace is the user's
    else:
        namespace = given_namespace(catalog)
    dropped = catalog.drop_namespace(namespace)
    if catalog.claims("loadNamespaceMetadata"):
        again = catalog.load_namespace_metadata(namespace)
        if again.status == 200 and again.member("namespace") == [*namespace]:
            raise _still_there(catalog, Entry("namespace", namespace), dropped)


def try_deleting_table(catalog: Catalog, made: FirstTable) -> None:
    """Drop the run's first table.

    Its namespace is dropped before it: a catalog that refuses that never drops a namespace with
    other users' objects in it, and the session remembers this. Raises TargetUnusable if the table
    is still there.
    """
    refused = False
    if made.namespace != catalog.session.adaptations.only_in:
        refused = 400 <= catalog.drop_namespace(made.namespace).status < 500
    uuid = made.reply.member("metadata", "table-uuid")
    dropped = catalog.drop_table(made.namespace, made.name)
    if catalog.claims("loadTable"):
        again = catalog.load_table(made.namespace, made.name)
        if again.status == 200 and again.member("metadata", "table-uuid") == uuid:
            raise _still_there(catalog, Entry("table", made.namespace, made.name), dropped)
    # A table that can still be dropped was not dropped with its namespace.
    catalog.session.keeps_full_namespaces = refused and dropped.ok


def _still_there(catalog: Catalog, entry: Entry, dropped: Reply) -> TargetUnusable:
    """Return what to raise: a drop that was refused is no fault, and one that claims to be done is.

    A 404 claims that as well: the object is gone, it says. The object is entered again as residue.
    """
    what = f"the {entry} was made, its drop was answered {dropped.status}, and it is still there"
    if dropped.ok or dropped.status == 404:
        catalog.session.undropped.add(entry.kind)
        catalog.ledger.add(entry)
        return DropIgnored(f"{what}{_HOW_TO_GO_ON}")
    return TargetUnusable(f"{what}: the run stops before it creates more{_HOW_TO_GO_ON}")
