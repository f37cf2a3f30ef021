"""Checks of callers without permission on every route, and of the owner's answers after them."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import blake2b

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.every_route import (
    Asked,
    Names,
    Own,
    expect_own_unchanged,
    own_objects,
    reads,
    shared_own,
    writes,
)
from icecheck.conformance.kit.other_principals import bearer, reading_principal, second_principal
from icecheck.conformance.security.forged_tokens import forged_tokens, strangers
from icecheck.conformance.security.guarded_routes import NOBODY, is_altered, refused
from icecheck.conformance.security.second_warehouse import SecondWarehouse, second_warehouse
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import LEAK
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.judging.check import generated_check
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import NotOffered, Reply, Violation

_REFUSED_FOR_ANOTHER = declare(
    "refused-for-another",
    "Answers an authorized caller differently after others were refused",
    Severity.REFUSED,
)

_WAREHOUSES_MIXED = declare(
    "warehouses-mixed-up",
    "Shows or changes through one warehouse what is in another",
    Severity.EXPOSED,
    "every client: tenants that share a catalog read and change each other's tables",
)

Headers = Mapping[str, str]
Answers = dict[str, Reply]

# The configuration belongs to nobody: a catalog may show it to everybody.
_ANYBODYS = frozenset({"getConfig"})
_SHOWING_TABLES = frozenset({"listTables", "loadTable"})
_TOLD = frozenset({401, 419})
_NAMED_MAX = 4


def _shows(reply: Reply) -> bool:
    """Return whether an answer shows that the object exists."""
    return reply.ok or reply.status == 304


def _leak(symptom: Symptom, due: str, leaks: list[tuple[str, Reply]], who: str) -> Violation:
    """Return the Violation for answers that a caller should not have got."""
    names = list(dict.fromkeys(name for name, _ in leaks))
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    detail = f"answered {who}: {', '.join(names[:_NAMED_MAX])}{more}"
    return leaks[0][1].violation(symptom, due, "a success", detail=detail)


def _answered(catalog: Catalog, every: list[Asked], headers: Headers | None = None) -> Answers:
    return {str(each): each.send(catalog, headers) for each in every}


def _expect_owner_served(catalog: Catalog, every: list[Asked], before: Answers) -> None:
    """Judge that own requests, one of each operation, are answered as before the refusals."""
    for each in {each.operation_id: each for each in every}.values():
        was, reply = before[str(each)], each.send(catalog)
        if reply.status != was.status or is_altered(reply, was):
            raise reply.violation(
                _REFUSED_FOR_ANOTHER,
                "the answer from before others were refused",
                f"{reply.status}, and less" if reply.status == was.status else reply.status,
                detail=f"{each} with the run's own credentials",
            )


# --------------------------------------------------------------------------- no credentials


@generated_check(
    "auth.strangers-on-every-route",
    proves=("auth.no-success-without-credentials", "auth.callers-kept-apart"),
)
def test_strangers_are_shown_nothing_on_any_route(catalog: Catalog) -> None:
    """On every route, a request without credentials or with forged ones is refused."""
    if not catalog.target.authenticates:
        raise not_applicable("the run was given no credentials")
    own = shared_own(catalog)
    looks = reads(catalog, own)
    before = _answered(catalog, looks)
    looks = [each for each in looks if _shows(before[str(each)])]
    changes = writes(catalog, own)
    unnamed = _answered(catalog, [*looks, *changes], NOBODY)
    hidden = any(refused(unnamed[str(each)]) for each in looks)
    if not hidden and not any(reply.status in {401, 403} for reply in unnamed.values()):
        raise not_applicable("the catalog answers requests without credentials: it needs none")
    _expect_forms_agree(looks, unnamed, before)
    leaks = [(str(each), unnamed[str(each)]) for each in changes if unnamed[str(each)].ok]
    if leaks:
        raise _leak(LEAK.of("without-credentials"), "401 or 403", leaks, "without credentials")
    closed = [each for each in (*looks, *changes) if refused(unnamed[str(each)])]
    _expect_no_forgery(catalog, closed)
    _expect_owner_served(catalog, looks, before)
    expect_own_unchanged(catalog, own)


def _expect_forms_agree(looks: list[Asked], unnamed: Answers, before: Answers) -> None:
    """Judge that a closed operation is closed in every form, and an open one shows everything."""
    closed = {each.operation_id for each in looks if refused(unnamed[str(each)])}
    open_to_all = [each for each in looks if not refused(unnamed[str(each)])]
    leaks = [
        (str(each), unnamed[str(each)])
        for each in open_to_all
        if each.operation_id in closed and _shows(unnamed[str(each)])
    ]
    if leaks:
        raise _leak(LEAK.of("without-credentials"), "401 or 403", leaks, "without credentials")
    for each in open_to_all:
        reply, due = unnamed[str(each)], before[str(each)]
        if each.operation_id in _ANYBODYS or not reply.ok or not due.ok:
            continue
        if is_altered(reply, due) or (each.lists_it(due) and not each.lists_it(reply)):
            raise reply.violation(
                LEAK.of("altered-success"),
                "401 or 403, or the same answer as with credentials",
                "a success without what is there",
                detail=f"{each} without credentials",
            )


def _expect_no_forgery(catalog: Catalog, closed: list[Asked]) -> None:
    """Judge that forged credentials are refused by one form of each closed operation."""
    forms: dict[str, Asked] = {}
    for each in closed:
        forms.setdefault(each.operation_id, each)
    forged = strangers(catalog)
    for what, asked in in_turn([*forms.values()], forged).items():
        leaks = [
            (name, reply)
            for name, reply in _answered(catalog, asked, forged[what]).items()
            if _shows(reply)
        ]
        if leaks:
            raise _leak(LEAK.of("forged-token"), "401", leaks, f"to {what}")


def in_turn(every: list[Asked], credentials: Iterable[str]) -> dict[str, list[Asked]]:
    """Return for each of several credentials its requests: each request gets one of them.

    A catalog reads a token in one place, and lets callers pass by route: a pair of both that fails
    by itself is not worth a request. Which credential a request gets depends on the two names
    only: a new operation changes no other pair. What no request gets is sent with one of them too.
    """
    turns: dict[str, list[Asked]] = {what: [] for what in credentials}
    for each in every if turns else ():
        turns[max(turns, key=partial(_rank, asked=each))].append(each)
    for what, mine in turns.items():
        if every and not mine:
            mine.append(max(every, key=partial(_rank, what)))
    return turns


def _rank(what: str, asked: Asked) -> bytes:
    return blake2b(f"{what} to {asked}".encode()).digest()


@generated_check("auth.strangers-are-told", proves="auth.bad-token-refused")
def test_a_forged_token_is_refused_as_one(catalog: Catalog) -> None:
    """On every route, a request with an invalid token is refused with 401."""
    if not (catalog.target.token or catalog.target.credential) or catalog.target.sigv4:
        raise not_applicable("the run was given no token, and none to get one with")
    own = shared_own(catalog)
    asked = [*_few(reads(catalog, own)), *_few(writes(catalog, own)), *_missing(catalog, own)]
    forged, closed = forged_tokens(catalog), False
    for what, mine in in_turn(asked, forged).items():
        for each in mine:
            reply = each.send(catalog, bearer(forged[what]))
            if reply.status in _TOLD:
                closed = True
            elif each.send(catalog, NOBODY).status in {401, 403}:
                closed = True
                reply.expect(401, detail=f"{each} with {what}")
    if not closed:
        raise not_applicable("the catalog answers requests without credentials: it needs none")


def _few(every: list[Asked]) -> list[Asked]:
    chosen = {
        "getConfig", "listNamespaces", "namespaceExists", "createNamespace", "createTable",
        "updateTable", "commitTransaction",
    }  # fmt: skip
    return [e for e in every if e.operation_id in chosen or e.form == "If-None-Match"]


def _missing(catalog: Catalog, own: Own) -> list[Asked]:
    names: Names = {"namespace": own.namespace, "table": catalog.new_name()}
    return [Asked("loadTable", names, "of a missing table")]


# --------------------------------------------------------------------------- principals


@generated_check(
    "auth.second-principal-after-the-first",
    proves=("auth.other-principal-reads-nothing", "auth.callers-kept-apart"),
)
def test_a_second_principal_is_shown_nothing_of_what_the_first_has_just_read(
    catalog: Catalog,
) -> None:
    """What one principal has read is refused to the other, and then shown to the first again."""
    theirs = second_principal(catalog)
    own = shared_own(catalog)
    looks = [each for each in reads(catalog, own) if each.operation_id not in _ANYBODYS]
    before = _answered(catalog, looks)
    looks = [each for each in looks if _shows(before[str(each)])]
    leaks = []
    for each in _within(looks, own):
        reply = each.send(catalog, theirs)
        if _shows(reply):
            leaks.append((str(each), reply))
    whole = [(name, reply) for name, reply in leaks if _holds(looks, name)(reply)]
    if whole:
        raise _leak(LEAK.of("other-principal"), "403 or 404", whole, "to a second principal")
    if leaks:
        name, reply = leaks[0]
        raise reply.violation(
            LEAK.of("altered-success"),
            "401 or 403, or the same answer as with the right",
            "a success without what is there",
            detail=f"{name} by a second principal",
        )
    _expect_owner_served(catalog, looks, before)


def _within(looks: list[Asked], own: Own) -> list[Asked]:
    """Leave out top-level namespaces: a caller who sees some of them may not see all."""
    top = [each for each in looks if each.shows == own.namespace[-1]]
    return [each for each in looks if each not in top]


def _holds(looks: list[Asked], name: str) -> Callable[[Reply], bool]:
    asked = next(each for each in looks if str(each) == name)
    return lambda reply: reply.status == 304 or asked.lists_it(reply)


@generated_check(
    "auth.second-principal-on-every-route", proves="auth.other-principal-changes-nothing"
)
def test_a_second_principal_changes_nothing_on_any_route(catalog: Catalog) -> None:
    """On every route, a write by a principal without the right to it is refused."""
    theirs = second_principal(catalog)
    own = shared_own(catalog)
    sent = {str(each): each.send(catalog, theirs) for each in _inside(writes(catalog, own))}
    leaks = [(name, reply) for name, reply in sent.items() if reply.ok]
    if leaks:
        raise _leak(LEAK.of("other-principal-writes"), "403 or 404", leaks, "to a second principal")
    expect_own_unchanged(catalog, own)


def _inside(every: list[Asked]) -> list[Asked]:
    """Leave out new top-level namespaces, which everybody may be allowed to create."""
    return [each for each in every if each.operation_id != "createNamespace" or each.form]


@generated_check("auth.reader-on-every-route", proves="auth.reader-changes-nothing")
def test_a_principal_who_may_read_changes_nothing_on_any_route(catalog: Catalog) -> None:
    """On every route, a write by a principal who may only read is refused."""
    theirs = reading_principal(catalog)
    own = shared_own(catalog)
    looks = [e for e in reads(catalog, own) if e.operation_id in _SHOWING_TABLES and not e.form]
    shown = any(_shows(each.send(catalog, theirs)) for each in looks)
    # Staging a table makes nothing (L560-L561): who may read may do it.
    changing = [each for each in _inside(writes(catalog, own)) if each.form != "staged"]
    sent = {str(each): each.send(catalog, theirs) for each in changing}
    leaks = [(name, reply) for name, reply in sent.items() if reply.ok]
    if leaks:
        raise _leak(LEAK.of("reader-writes"), "403", leaks, "to a principal who may only read")
    if not shown:
        raise NotOffered("the principal who should read is refused what the run has made")
    expect_own_unchanged(catalog, own)


# --------------------------------------------------------------------------- warehouses


@generated_check(
    "auth.second-warehouse-on-every-route",
    proves=("auth.other-warehouse-shows-nothing", "auth.other-warehouse-changes-nothing"),
)
def test_what_is_in_one_warehouse_is_not_in_another(catalog: Catalog) -> None:
    """What is made in one warehouse is neither shown nor changed through another."""
    other = second_warehouse(catalog)
    own = own_objects(catalog)
    leaks = []
    for each in reads(catalog, own):
        if each.operation_id not in _ANYBODYS and not each.form:
            reply = other.send(catalog, each)
            if _shows(reply) and (reply.status == 304 or each.lists_it(reply)):
                leaks.append((str(each), reply))
    accepted = _changed_through(catalog, other, own)
    try:
        expect_own_unchanged(catalog, own)
    except Violation:
        if not accepted:
            raise
        leaks += accepted  # an answer alone proves nothing: a drop of what is not there may be ok
    if leaks:
        raise _leak(_WAREHOUSES_MIXED, "404", leaks, "through another warehouse")


def _changed_through(catalog: Catalog, other: SecondWarehouse, own: Own) -> list[tuple[str, Reply]]:
    """Ask for changes of own objects in another warehouse; return what was answered with success.

    Nothing is made or renamed: what would be there then would be in no ledger.
    """
    accepted = []
    operations = catalog.contract.operations
    making = {Action.CREATE, Action.REGISTER, Action.RENAME}
    try:
        for each in writes(catalog, own):
            if operations[each.operation_id].facts.action not in making and not each.form:
                reply = other.send(catalog, each)
                if reply.ok:
                    accepted.append((str(each), reply))
    finally:
        for entry in () if catalog.target.read_only else own.entries:
            catalog.ledger.add(entry)  # what was dropped there may still be here
    return accepted
