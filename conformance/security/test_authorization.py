"""Checks of a catalog that needs credentials: requests without any, or with false ones."""

from collections.abc import Callable
from functools import partial

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_table, reloaded
from icecheck.conformance.kit.every_route import reads, shared_own, writes
from icecheck.conformance.security.guarded_routes import (
    FALSE_TOKEN,
    NOBODY,
    REQUESTS,
    Send,
    is_altered,
    of_table,
    refused,
)
from icecheck.contract import Changes
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, LEAK
from icecheck.judging.check import check, generated_check
from icecheck.objects.arranging import require
from icecheck.objects.committing import expect_unchanged, set_property
from icecheck.objects.reading import (
    expect_envelope,
    expect_json,
    namespaces_in,
    not_applicable,
    tables_in,
)
from icecheck.replies.expect import Reply, Violation


def _require_credentials(catalog: Catalog) -> None:
    if not catalog.target.token and not catalog.target.credential:
        raise not_applicable("the run was given no credentials")


# --------------------------------------------------------------------- false credentials


@check("auth.bad-token-refused")
def test_a_false_token_is_refused(catalog: Catalog) -> None:
    """A request with an invalid token is refused with 401."""
    _require_credentials(catalog)
    # A catalog may let everybody read, but not write.
    operation_id = "createNamespace" if catalog.claims("createNamespace") else "listNamespaces"
    _expect_false_token_refused(catalog, operation_id, REQUESTS[operation_id])


@generated_check("auth.refusals-are-json", proves=("http.json-content-type", "error.envelope"))
def test_refusals_of_strangers_are_json(catalog: Catalog) -> None:
    """A refusal of an invalid token says application/json, and is an error, on every route."""
    _require_credentials(catalog)
    own = shared_own(catalog)
    plain = [each for each in (*reads(catalog, own), *writes(catalog, own)) if not each.form]
    operations = catalog.contract.operations
    asked = {each.operation_id: partial(each.send, catalog, FALSE_TOKEN) for each in plain}
    for operation_id, send in REQUESTS.items():
        if operation_id not in asked and catalog.claims(operation_id):
            asked[operation_id] = partial(send, catalog, FALSE_TOKEN)
    for operation_id, ask in asked.items():
        if operations[operation_id].method == "HEAD":
            continue  # its answers have no body
        reply = ask()
        if reply.status in {401, 403}:
            expect_json(reply)
            if reply.exchange.claims_json:
                expect_envelope(reply)


@check("auth.refused-changes-nothing")
def test_a_write_refused_for_its_credentials_changes_nothing(catalog: Catalog) -> None:
    """A write that is refused for an invalid token leaves everything as it was."""
    _require_credentials(catalog)
    # A table of its own, because other checks would miss a shared one if it were dropped.
    table = reloaded(catalog, given_table(catalog))
    name = catalog.new_name()
    body = bodies.create_table_body(name)
    change = {"requirements": [], "updates": [set_property("1")]}
    made = catalog.create_table(table.namespace, body, FALSE_TOKEN)
    changed = of_table(catalog, "updateTable", table, FALSE_TOKEN, change)
    dropped = of_table(catalog, "dropTable", table, FALSE_TOKEN)
    if made.ok and changed.ok and dropped.ok:
        raise not_applicable("the catalog accepts a made-up token")
    # A success on one of these routes does not prove the refusals on the others.
    if not dropped.ok:
        _expect_kept(catalog, table, changed=changed.ok)
    if made.ok:
        return
    reply = catalog.load_table(table.namespace, name)
    if reply.ok:
        catalog.ledger_table(table.namespace, name)
        raise _changed(reply, "no table", "a table")


def _expect_kept(catalog: Catalog, table: Table, *, changed: bool) -> None:
    if not changed:
        expect_unchanged(catalog, table)
        return
    reply = catalog.load_table(table.namespace, table.name)
    if reply.status == 404:
        raise _changed(reply, "a table", "no table")


def _changed(reply: Reply, due: str, found: str) -> Violation:
    detail = "with a made-up token"
    return reply.violation(CHANGED_ALTHOUGH_REFUSED, due, found, detail=detail)


def _expect_unauthorized(reply: Reply) -> None:
    if reply.ok:
        detail = f"{reply.exchange.operation} answered {reply.status} to a made-up token"
        raise reply.violation(LEAK.of("false-token"), "401", "a success", detail=detail)
    reply.expect(401, detail="with a made-up token")


def _declare(operation_id: str, send: Send) -> Callable[[Catalog], None]:
    """Return the check of one operation; it ends where everybody may use the route."""

    @check(
        f"{operation_id}.bad-token",
        proves=f"{operation_id}.401",
        title=f"{operation_id} with an invalid token is refused with 401",
    )
    def judge(catalog: Catalog) -> None:
        _require_credentials(catalog)
        _expect_false_token_refused(catalog, operation_id, send)

    return judge


def _expect_false_token_refused(catalog: Catalog, operation_id: str, send: Send) -> None:
    """Judge that a route refuses an invalid token; end the check where everybody may use it."""
    reply = send(catalog, FALSE_TOKEN)
    # The plan does not exist: an open catalog answers 404 to everybody.
    if reply.ok or reply.status == 404:
        unnamed = send(catalog, NOBODY)
        if unnamed.status == reply.status:
            _expect_open(catalog, operation_id, send, unnamed)
    _expect_unauthorized(reply)


def _expect_open(catalog: Catalog, operation_id: str, send: Send, unnamed: Reply) -> None:
    """End the check if a route is open to everybody, which its own success does not prove.

    It is open if nothing is protected, or if a read has the same answer without credentials.
    """
    open_to_all = not_applicable(f"{operation_id} needs no credentials here")
    changes = catalog.contract.operations[operation_id].facts.changes
    # Routes that neither show nor change stored objects may be open.
    if not unnamed.ok or changes is Changes.ASIDE:
        raise open_to_all
    if changes is not Changes.OBJECTS and not is_altered(unnamed, send(catalog, {})):
        raise open_to_all
    asked = filter(catalog.claims, ("listNamespaces", "loadTable", "createTable", "dropTable"))
    if not any(refused(REQUESTS[each](catalog, NOBODY)) for each in asked):
        raise open_to_all


# There is one check for each operation; they differ only in the request.
for _operation_id, _send in REQUESTS.items():
    globals()[f"test_{_operation_id}_with_a_false_token"] = _declare(_operation_id, _send)


# ------------------------------------------------------------------------ no credentials


@check("auth.no-success-without-credentials")
def test_nothing_protected_is_answered_without_credentials(catalog: Catalog) -> None:
    """A caller without credentials gets no success: nothing protected is shown or changed.

    A catalog may choose which routes are open: routes that read namespaces, routes that read tables
    and routes that write are each judged together. A success is a leak if another route of its kind
    is refused, or if it differs from what an authorized caller sees.
    """
    if not catalog.target.authenticates:
        raise not_applicable("the run was given no credentials")
    require(catalog, "listNamespaces", "loadNamespaceMetadata", "listTables", "loadTable")
    table = given_table(catalog, given_namespace(catalog))
    kinds = [_reading_namespaces(catalog, table), _reading_tables(catalog, table)]
    writing = _writing(catalog, table)
    if not any(refused(reply) for replies in (*kinds, writing) for reply in replies):
        raise not_applicable("the catalog answers requests without credentials: it needs none")
    # No catalog lets everybody write and refuses a read on purpose.
    for replies in (*kinds, [*writing, *(r for kind in kinds for r in kind if refused(r))]):
        if any(refused(reply) for reply in replies):
            _expect_no_success(replies)


def _reading_namespaces(catalog: Catalog, table: Table) -> list[Reply]:
    names = {"namespace": table.namespace}
    parent = table.namespace[:-1]
    asked = [("parent", catalog.session.offer.parent_parameter(parent))] if parent else []
    listed = catalog.call("listNamespaces", query=asked, headers=NOBODY)
    _expect_unaltered(listed, lambda reply: table.namespace in namespaces_in(reply))
    replies = [listed, catalog.call("loadNamespaceMetadata", names, headers=NOBODY)]
    if catalog.claims("namespaceExists"):
        replies.append(catalog.call("namespaceExists", names, headers=NOBODY))
    return replies


def _reading_tables(catalog: Catalog, table: Table) -> list[Reply]:
    listed = catalog.call("listTables", {"namespace": table.namespace}, headers=NOBODY)
    own = (table.namespace, table.name)
    _expect_unaltered(listed, lambda reply: own in tables_in(reply))
    replies = [listed, of_table(catalog, "loadTable", table, NOBODY)]
    if catalog.claims("tableExists"):
        replies.append(of_table(catalog, "tableExists", table, NOBODY))
    if catalog.claims("loadCredentials"):
        vended = of_table(catalog, "loadCredentials", table, NOBODY)
        # A catalog may deny credentials to callers who may read everything else.
        replies += [vended] if vended.ok else []
    return replies


def _writing(catalog: Catalog, table: Table) -> list[Reply]:
    """Send the write requests, the drop of the table last."""
    order = ("createNamespace", "createTable", "updateProperties", "updateTable", "dropTable")
    claimed = [each for each in order if catalog.claims(each)]
    own = {
        "updateTable": lambda: of_table(
            catalog, "updateTable", table, NOBODY, {"requirements": [], "updates": []}
        ),
        "updateProperties": lambda: catalog.call(
            "updateProperties",
            {"namespace": table.namespace},
            body={"updates": {"team": "icecheck"}},
            headers=NOBODY,
        ),
        "dropTable": lambda: of_table(catalog, "dropTable", table, NOBODY),
    }
    return [own[each]() if each in own else REQUESTS[each](catalog, NOBODY) for each in claimed]


def _expect_unaltered(reply: Reply, complete: Callable[[Reply], bool]) -> None:
    if reply.status == 200 and not complete(reply):
        raise _altered(reply)


def _altered(reply: Reply) -> Violation:
    return reply.violation(
        LEAK.of("altered-success"),
        "401 or 403, or the same answer as with credentials",
        "a success without what is there",
        detail=f"{reply.exchange.operation} without credentials",
    )


def _expect_no_success(replies: list[Reply]) -> None:
    leaks = [reply for reply in replies if reply.ok]
    if leaks:
        closed = [str(r.exchange.operation) for r in replies if refused(r)]
        raise leaks[0].violation(
            LEAK.of("without-credentials"),
            "401 or 403",
            "a success",
            detail=f"answered: {', '.join(str(r.exchange.operation) for r in leaks)}; "
            f"refused: {', '.join(closed)}",
        )
