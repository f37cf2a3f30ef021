"""Checks of requests that come at once with one key, and of requests whose answers are lost."""

from collections.abc import Callable

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_commit, given_loaded, shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    COME_AGAIN,
    Keyed,
    carried_out_again,
    column_added,
    expect_as_first,
    expect_same,
    expect_uuid,
    final_answer,
    keyed,
    keyed_commit,
    keyed_creation,
    made,
    of_table,
)
from icecheck.histories.racing import Move, race
from icecheck.judging.check import check
from icecheck.objects.committing import set_property
from icecheck.objects.moves import CLIENTS
from icecheck.objects.reading import expect_gone
from icecheck.replies.expect import Reply
from icecheck.wire.retry import trouble_of

_AT_ONCE = CLIENTS[:3]
# What a request meets elsewhere too: rights, and what a client did not send in time.
_BESIDE = frozenset({401, 403, 408, 419})


@check("idempotency.at-once")
def test_requests_that_come_at_once(catalog: Catalog) -> None:
    """Of requests that come at once with one key one has its effect, and each gets its answer."""
    require_keys(catalog)
    namespace, name = shared_namespace(catalog), catalog.new_name()
    creation = keyed_creation(catalog, namespace, name)
    table = made(namespace, name, _settled(catalog, creation))
    expect_uuid(creation, catalog.load_table(namespace, name).expect(200), table.uuid)
    plain = given_loaded(catalog, given_commit(catalog, table, [set_property("plain")]))
    commit = keyed_commit(catalog, plain, [set_property("keyed")])
    _settled(catalog, commit)
    reply = catalog.load_table(namespace, name).expect(200)
    lengths = [_versions(each.metadata) for each in (table, plain, made(namespace, name, reply))]
    # Only where the log gets one entry for a commit does it tell how many commits there were.
    if lengths[1] == lengths[0] + 1 and lengths[2] > lengths[1] + 1:
        raise carried_out_again(commit, reply, "makes a further version")


def _versions(metadata: dict[str, object]) -> int:
    log = metadata.get("metadata-log")
    return len(log) if isinstance(log, list) else 0


def _settled(catalog: Catalog, request: Keyed) -> Reply:
    """Send a request several times at once, and return its final answer once that is there.

    Judges that each answer is that one, or asks to come again. A 5xx leaves open what was done.
    """
    since = catalog.sender.ordinal
    asked = request.asked
    move = Move(asked.operation_id, asked.names, asked.body, headers=asked.headers)
    race(catalog, {client: [move] for client in _AT_ONCE})
    raced = [each for each in catalog.exchanges if each.ordinal >= since]
    replies = [Reply(each, catalog.session.schemas, catalog.handed_out) for each in raced]
    final = final_answer(catalog, request)
    if not any(reply.ok for reply in replies):
        arrange(catalog, request.operation_id, lambda: final)
    expect_as_first(final, request, 200)
    for reply in replies:
        if reply.ok:
            expect_same(request, reply, final)
        elif not _asks_to_come_again(reply):
            expect_as_first(reply, request, 200)
    return final


def _asks_to_come_again(reply: Reply) -> bool:
    trouble = trouble_of(reply.exchange) is not None
    return trouble or reply.status >= 500 or reply.status in COME_AGAIN | _BESIDE


@check("idempotency.lost-answer")
def test_requests_whose_answers_are_lost(catalog: Catalog) -> None:
    """A request that comes again after its answer was lost is not in conflict with itself."""
    require_keys(catalog)
    namespace, name = shared_namespace(catalog), catalog.new_name()
    creation = keyed_creation(catalog, namespace, name)
    created = _lost_and_found(catalog, creation, 200)
    table = given_loaded(catalog, made(namespace, name, created))
    expect_uuid(creation, created, table.uuid)
    commit = keyed_commit(catalog, table, *column_added(table))
    expect_same(commit, _lost_and_found(catalog, commit, 200), created)
    drop = keyed(catalog, "dropTable", of_table(table))
    _lost_and_found(catalog, drop, 204, lambda: not catalog.load_table(namespace, name).ok)
    gone = catalog.load_table(namespace, name).expect_there_or_gone()
    expect_gone(gone, "drop-table", "after its answer was lost")


def _lost_and_found(
    catalog: Catalog, request: Keyed, status: int, is_done: Callable[[], bool] = lambda: True
) -> Reply:
    """Send a request, close the connection before its answer is read, and send it again.

    Judges the answer that it gets then. A request that is not found and not done is refused for
    something else: a catalog may serve no such request.
    """
    asked = request.asked
    catalog.sender.lose_answer(
        asked.operation_id, asked.names, body=asked.body, headers=asked.headers
    )
    final = final_answer(catalog, request)
    if final.status == 409 or (final.status == 404 and is_done()):
        expect_as_first(final, request, status)
    return arrange(catalog, request.operation_id, lambda: final)
