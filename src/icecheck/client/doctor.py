"""Sends a few requests that tell what would go wrong in a run, and which options would help."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from icecheck.client.adapting import first_table
from icecheck.client.catalog import Catalog
from icecheck.client.deletion_probe import try_deleting_table
from icecheck.client.opening import WITHOUT_WAREHOUSE, help_to_reach, open_session
from icecheck.client.session import Session
from icecheck.contract import DEFAULT_SPEC_VERSION, contract_for
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.offer import encode_segment
from icecheck.targets.target import Given, Namespace, Target, new_run_id
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.json_text import read_json
from icecheck.wire.redaction import Redactor
from icecheck.wire.unreachable import Unreachable

_CHECK = "doctor"
_PARENTS_SHOWN = 5
_GIVE_CREDENTIALS = "give --token, or --credential ID:SECRET"
_WITH_TOKEN = ("--token", "$CATALOG_TOKEN")
_WITH_WAREHOUSE = ("--warehouse", "NAME")
_ACCEPT_RESIDUE = "--accept-residue"
_OTHERWISE = "--location-root URI, if it shall be elsewhere"


@dataclass(frozen=True, slots=True)
class Advice:
    """The result of one look: whether it is well, what was found, and what would help.

    ``blocks``: as things are, a run could verify nothing. ``options`` are those that a run needs,
    where they are known whole: name, then value. ``ask`` are those with which to look again, where
    only the user knows their values.
    """

    well: bool
    what: str
    help: str = ""
    blocks: bool = False
    options: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


def examine(
    target: Target,
    transport: httpx.BaseTransport | None = None,
    redactor: Redactor | None = None,
    spec: str = DEFAULT_SPEC_VERSION,
) -> Iterator[Advice]:
    """Look at a catalog as a run would use it, and yield advice; a blocking problem comes last.

    What is made on the catalog (one namespace, one table) is removed again. Six requests are sent
    where all is well: the config (where is it, what does it claim), a list, without credentials if
    there are some (the prefix, access), a namespace (what credentials may do, where namespaces go),
    a table (what it needs, where its files are), and a drop of each (does it delete). One more is
    sent for a parent namespace, one more for a second principal, and others where something is
    wrong, to say what. ``redactor`` is told the secrets that come up: the advice may still contain
    some. ``spec`` is the release that the catalog is held to.
    """
    known = redactor or Redactor()
    # With names of its own, it never meets what an earlier look has left on a catalog.
    run_id = f"doctor{new_run_id()}"
    try:
        session = open_session(
            _unrooted(target), run_id=run_id, spec=spec, transport=transport, redactor=known
        )
    except TargetUnusable as unusable:
        other = unusable.other_url
        help_ = (
            f"give {other}"
            if other
            else help_to_reach(target, contract_for(spec), transport, known)
        )
        ask = _WITH_WAREHOUSE if help_ == WITHOUT_WAREHOUSE else ()
        if help_.startswith(_GIVE_CREDENTIALS) and not target.authenticates:
            ask = _WITH_TOKEN
        yield Advice(False, str(unusable), help_, blocks=True, ask=ask)
        return
    try:
        yield from _of_config(session)
        listed = yield from _of_entering(session)
        if listed is None:
            return
        yield from _of_second(session)
        yield from _of_given(session) if target.read_only else _of_writing(session, listed=listed)
    except Unreachable as trouble:
        words = "the catalog stopped answering: try --rate-limit"
        yield Advice(False, str(trouble), words, blocks=True)
    finally:
        session.close()


def _unrooted(target: Target) -> Target:
    """Return the same target in flat isolation, so that opening it makes nothing."""
    return target if target.namespace else replace(target, isolation="flat")


def _of_config(session: Session) -> Iterator[Advice]:
    offer = session.offer
    claimed = sum(offer.claims(id_, session.contract) for id_ in session.contract.operations)
    total = len(session.contract.operations)
    if offer.endpoints is None:
        yield Advice(
            False,
            "the config lists no endpoints: clients assume the "
            f"{len(offer.claimed_endpoints(session.contract))} default ones",
            "what else it serves is judged with --claim OPERATION",
        )
    else:
        yield Advice(True, f"the config claims {claimed} of {total} operations")
    if offer.prefix:
        yield Advice(True, f"the prefix is {offer.prefix}")
    if session.target.warehouse is None:
        yield Advice(True, "no --warehouse was given, and none was asked for")


def _of_entering(session: Session) -> Generator[Advice, None, bool | None]:
    """Check access, and return whether a list has shown that the routes are there.

    None if it has shown that they are not, or that nobody without credentials may use them. The
    credentials are tested later, by requests that make something or by a list.
    """
    catalog = Catalog(session, _CHECK)
    if not session.target.authenticates:
        listed = catalog.list_namespaces()
        yield from _of_listing(session, listed)
        return None if listed.status in {401, 404} else True
    if session.target.read_only:
        yield from _of_listing(session, catalog.list_namespaces())
    bare = catalog.call("listNamespaces", headers={"Authorization": ""})
    if bare.ok:
        yield Advice(True, "the catalog answers without credentials too")
    if session.target.read_only:
        return True
    if bare.status in {401, 403}:
        yield Advice(True, "the catalog wants credentials")
        return False
    listed = bare if bare.ok else catalog.list_namespaces()
    yield from _of_listing(session, listed)
    return None if listed.status == 404 else True


def _of_listing(session: Session, reply: Reply) -> Iterator[Advice]:
    match reply.status:
        case 200:
            yield Advice(True, "namespaces can be listed")
        case 401 | 403:
            yield Advice(
                False,
                f"listing namespaces is answered {reply.status}",
                "these credentials may not read: give others, or another --scope"
                if session.target.authenticates
                else _GIVE_CREDENTIALS,
                blocks=True,
                ask=() if session.target.authenticates else _WITH_TOKEN,
            )
        case 404:
            prefix = _prefix_that_works(session)
            yield Advice(
                False,
                "listing namespaces is answered 404",
                "the routes are under a prefix that the config does not announce: "
                f"--prefix {prefix or 'TEXT'}",
                blocks=True,
                options=("--prefix", prefix) if prefix else (),
                ask=() if prefix else ("--prefix", "TEXT"),
            )
        case status:
            what = f"listing namespaces is answered {status}{_words(session, reply)}"
            yield Advice(False, what, blocks=True)


def _of_second(session: Session) -> Iterator[Advice]:
    catalog = Catalog(session, _CHECK)
    if (token := session.connection.second_token()) is not None:
        second = catalog.call("listNamespaces", headers={"Authorization": f"Bearer {token}"})
        if second.status == 401:
            yield Advice(
                False,
                "the second principal is answered 401",
                "--second-token or --second-credential of somebody whom the catalog knows",
            )


def _prefix_that_works(session: Session) -> str | None:
    """Return a prefix under which namespaces are listed although the config announces none.

    None if there is no such prefix.
    """
    warehouse = session.target.warehouse
    if session.target.prefix is not None or session.offer.prefix or not warehouse:
        return None
    catalog = Catalog(session, _CHECK)
    for prefix in dict.fromkeys(
        (encode_segment(warehouse), f"catalogs/{encode_segment(warehouse)}")
    ):
        if catalog.call("listNamespaces", path=f"/v1/{prefix}/namespaces").status == 200:
            return prefix
    return None


def _of_given(session: Session) -> Iterator[Advice]:
    """Read the objects that the user named for a run that may only read."""
    catalog, given = Catalog(session, _CHECK), session.target.given
    yield Advice(True, "whether anything can be made was not tried, as a run may only read here")
    if given == Given():
        yield Advice(
            False,
            "nothing is given to read: tables and views are then not looked at",
            "--given-table A.B.T, and --given-view A.B.V",
        )
    looks: list[tuple[str, str, dict[str, str | Namespace]]] = []
    if given.namespace:
        looks.append(("namespace", "loadNamespaceMetadata", {"namespace": given.namespace}))
    for kind, operation_id, named in (
        ("table", "loadTable", given.table),
        ("view", "loadView", given.view),
    ):
        if named is not None:
            looks.append((kind, operation_id, {"namespace": named[0], kind: named[1]}))
    for kind, operation_id, names in looks:
        reply = catalog.call(operation_id, names)
        if reply.ok:
            yield Advice(True, f"the given {kind} can be read")
        else:
            what = f"the given {kind} is answered {reply.status}{_words(session, reply)}"
            help_ = f"--given-{kind} of one that these credentials may read"
            yield Advice(False, what, help_)


def _of_writing(session: Session, *, listed: bool) -> Iterator[Advice]:
    catalog = Catalog(session, _CHECK)
    try:
        yield from _of_first_table(session, catalog)
        made = catalog.exchanges and (catalog.exchanges[0].status or 0) < 400
        if not listed and not made:
            yield from _of_listing(session, catalog.list_namespaces())
    finally:
        catalog.undo()
        if session.residue:
            left = ", ".join(session.residue)
            yield _kept(session, f"dropped and still there: {left}")


def _of_first_table(session: Session, catalog: Catalog) -> Iterator[Advice]:
    try:
        made = first_table(catalog)
    except (Blocked, NotOffered) as refused:
        if not catalog.exchanges:
            yield Advice(
                False,
                refused.reason,
                "--claim createNamespace, if it is served all the same",
                blocks=True,
            )
            return
        reply = Reply(catalog.exchanges[-1], session.schemas)
        yield from _unmade(session, "namespace", reply, "if only some parents take any")
        return
    if made.namespace != session.adaptations.only_in:
        yield Advice(True, "a namespace can be created")
    if not made.reply.ok:
        why = "if tables live under given ones"
        yield from _unmade(session, "table", made.reply, why, places=True)
        return
    for words in session.adaptations.records:
        placed = session.adaptations.location_root is not None
        yield Advice(True, f"a run will make do: {words}", _OTHERWISE if placed else "")
    try:
        try_deleting_table(catalog, made)
    except TargetUnusable:
        pass  # what is left is told at the end
    except (Blocked, Unreachable, Violation) as trouble:
        yield Advice(False, f"whether a table can be dropped is not known: {trouble}")
    location = _location(made.reply)
    yield Advice(True, f"a table can be created; the catalog puts it at {location}")
    if not location.startswith("file:"):
        yield Advice(
            True,
            "its files are not on this machine: what scans contain is judged with --spark only",
        )


def _kept(session: Session, what: str) -> Advice:
    if session.target.accept_residue:
        return Advice(True, f"{what}, as {_ACCEPT_RESIDUE} allows")
    return Advice(False, what, _ACCEPT_RESIDUE, blocks=True, options=(_ACCEPT_RESIDUE,))


def _unmade(
    session: Session, kind: str, reply: Reply, because: str, *, places: bool = False
) -> Iterator[Advice]:
    """Yield the advice for the first object that cannot be made; ``places``: it has a location."""
    what = f"creating a {kind} is answered {reply.status}{_words(session, reply)}"
    if reply.status == 401 and not session.target.authenticates:
        yield Advice(False, what, _GIVE_CREDENTIALS, blocks=True, ask=_WITH_TOKEN)
        return
    parents, left = ([], []) if session.target.namespace else _parents(session)
    if left:
        yield Advice(False, f"earlier runs or looks seem to have left {_some_of(left)}")
    there = f" (there are {_some_of(parents)})" if parents else ""
    otherwise = f"--namespace PARENT, {because}{there}"
    if reply.status in {401, 403}:
        otherwise = f"these credentials may not write: give others; or {otherwise}"
    elif places:
        otherwise = f"{otherwise}; --location-root URI"
    options = ("--namespace", parents[0]) if parents else ()
    yield Advice(False, what, otherwise, blocks=True, options=options)


def _some_of(names: list[str]) -> str:
    more = len(names) - _PARENTS_SHOWN
    return ", ".join(names[:_PARENTS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _parents(session: Session) -> tuple[list[str], list[str]]:
    """Return the namespaces at the top that may be parents, and those that runs have left.

    Both as ``--namespace`` takes them. What this look itself has made is neither.
    """
    reply = Catalog(session, _CHECK).list_namespaces()
    try:
        listed = read_json(reply.exchange.response_body)["namespaces"] if reply.ok else []
        single = [each[0] for each in listed if len(each) == 1 and "." not in each[0]]
        others = [name for name in single if not name.startswith(session.owner)]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return [], []
    is_left = session.target.may_be_of_a_run
    return [n for n in others if not is_left(n)], [n for n in others if is_left(n)]


def _location(reply: Reply) -> str:
    try:
        told = read_json(reply.exchange.response_body)["metadata"]["location"]
    except (ValueError, KeyError, TypeError):
        told = None
    return told if isinstance(told, str) else "a place that it does not tell"


def _words(session: Session, reply: Reply) -> str:
    try:
        body: Any = read_json(reply.exchange.response_body)
        message = session.connection.redactor.text(str(body["error"]["message"]))
        return f" ({message[:160]})"
    except (ValueError, KeyError, TypeError):
        return ""
