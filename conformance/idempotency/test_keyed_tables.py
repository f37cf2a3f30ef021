"""Checks of keys on requests about tables: each has its effect once, and its answer again."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    arrange,
    given_commit,
    given_loaded,
    given_table,
    shared_namespace,
)
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.registering import Kind, registered
from icecheck.conformance.idempotency.repeating import (
    Keyed,
    again,
    carried_out_again,
    column_added,
    expect_same,
    expect_uuid,
    first,
    is_later,
    keyed,
    keyed_commit,
    keyed_creation,
    made,
    not_carried_out,
    of_table,
    violation,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.committing import (
    MARK,
    change_of,
    creation_updates,
    same_table,
    set_property,
)
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Blocked, Reply

_TAG_OF_ANOTHER = declare(
    "tag-of-another-version",
    "Answers a commit with the ETag of another version than the one in the answer",
    Severity.FALSE_OR_LOST,
    "clients that keep what a commit was answered with: they go on with metadata that are old",
)

_TABLES = Kind(
    "registerTable",
    "dropTable",
    Catalog.drop_table,
    Catalog.load_table,
    lambda catalog: given_loaded(catalog, given_table(catalog)),
)


def _loaded(catalog: Catalog, table: Table) -> Reply:
    return catalog.load_table(table.namespace, table.name).expect(200)


def _mark(reply: Reply) -> object:
    return (metadata_in(reply).get("properties") or {}).get(MARK)


def _given_marked(catalog: Catalog, table: Table, value: str) -> None:
    """Commit a property as another client, and make sure that a load shows it."""
    given_commit(catalog, table, [set_property(value)])
    if _mark(_loaded(catalog, table)) != value:
        raise Blocked("update.set-properties.effect", "a property that was committed is not shown")


def _expect_marked(catalog: Catalog, request: Keyed, table: Table, value: str) -> None:
    """Judge that what came again has not taken back what was committed since."""
    reply = _loaded(catalog, table)
    if _mark(reply) != value:
        _given_marked(catalog, table, "third")
        raise carried_out_again(request, reply, "undoes a later commit")


@check("idempotency.same-answer")
def test_the_answer_is_given_again(catalog: Catalog) -> None:
    """A creation is answered again with its status, about the same table."""
    require_keys(catalog)
    namespace, name = shared_namespace(catalog), catalog.new_name()
    creation = keyed_creation(catalog, namespace, name)
    created = first(catalog, creation)
    expect_same(creation, again(catalog, creation, created), created)


@check("idempotency.no-further-effect")
def test_the_effect_is_that_of_the_first_request(catalog: Catalog) -> None:
    """A commit and a creation that come again change nothing that was changed since."""
    require_keys(catalog)
    table = given_table(catalog)
    commit, other = (keyed_commit(catalog, table, [set_property(v)]) for v in ("first", "second"))
    first(catalog, commit)
    was = _mark(_loaded(catalog, table))
    first(catalog, other)
    reply = _loaded(catalog, table)
    if was == _mark(reply) == "first":
        raise not_carried_out(other, reply)
    if _mark(reply) != "second":
        _given_marked(catalog, table, "third")
        raise not_carried_out(other, reply)
    commit.send(catalog)
    _expect_marked(catalog, commit, table, "second")
    if catalog.claims("dropTable") or catalog.claims("renameTable"):
        _expect_made_once(catalog)


def _expect_made_once(catalog: Catalog) -> None:
    """Judge that a creation makes no second table once the first is gone, or has another name."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    creation = keyed_creation(catalog, namespace, name)
    first(catalog, creation)
    if catalog.claims("dropTable"):
        freed = catalog.drop_table(namespace, name)
    else:
        freed = catalog.rename_table((namespace, name), (namespace, catalog.new_name()))
    if not freed.ok or catalog.load_table(namespace, name).status != 404:
        return  # the name is not free: nothing can be made under it again
    creation.send(catalog)
    reply = catalog.load_table(namespace, name)
    if reply.ok:
        raise carried_out_again(creation, reply, "makes a second table")


@check("idempotency.commit-replayed")
def test_a_commit_is_answered_again(catalog: Catalog) -> None:
    """A commit that comes again is answered 200 although its requirements hold no longer."""
    require_keys(catalog)
    table = given_loaded(catalog, given_table(catalog))
    commit = keyed_commit(catalog, table, *column_added(table))
    committed = first(catalog, commit)
    before = _loaded(catalog, table)
    expect_same(commit, again(catalog, commit, committed), committed)
    after = _loaded(catalog, table)
    if is_later(before, after):
        raise carried_out_again(commit, after, "makes a further version")


@check("idempotency.staged-creation-replayed", needs=("stage-create",))
def test_the_creation_of_a_staged_table_is_answered_again(catalog: Catalog) -> None:
    """A commit that creates a staged table is answered 200 again, although the table is there."""
    require_keys(catalog)
    namespace, name = shared_namespace(catalog), catalog.new_name()
    body = bodies.create_table_body(name, stage_create=True)
    staged = arrange(catalog, "createTable", lambda: catalog.create_table(namespace, body))
    updates = [*creation_updates(metadata_in(staged)), set_property("keyed")]
    table = made(namespace, name, staged)
    creation = keyed_commit(catalog, table, updates, [{"type": "assert-create"}])
    created = first(catalog, creation)
    expect_same(creation, again(catalog, creation, created), created)
    there = catalog.load_table(namespace, name)
    if there.status == 404:
        raise not_carried_out(creation, there)


@check("idempotency.tag-of-a-commit", proves="etag.of-a-commit")
def test_the_tag_is_of_what_is_answered(catalog: Catalog) -> None:
    """The ETag of a commit that is answered again is of the metadata in that answer."""
    require_keys(catalog)
    table = given_table(catalog)
    commit = keyed_commit(catalog, table, [set_property("first")])
    committed = first(catalog, commit)
    _given_marked(catalog, table, "second")
    repeated = again(catalog, commit, committed)
    tag = repeated.exchange.header("etag")
    if tag is None:
        raise not_applicable("the catalog sends no ETag with the answer to a commit")
    headers = {"If-None-Match": tag}
    reply = catalog.load_table(table.namespace, table.name, headers=headers)
    if reply.status == 304 and _mark(repeated) == "first":
        raise violation(
            commit, reply, _TAG_OF_ANOTHER, "the metadata after the later commit", "304"
        )


@check("idempotency.transaction-replayed")
def test_a_transaction_is_answered_again(catalog: Catalog) -> None:
    """A transaction that comes again is answered as before and makes no further version."""
    require_keys(catalog)
    tables = [given_table(catalog) for _ in range(2)]
    changes = [change_of(each, [set_property("first")], [same_table(each)]) for each in tables]
    transaction = keyed(catalog, "commitTransaction", body={"table-changes": changes})
    committed = first(catalog, transaction)
    changed, left = tables
    shown = {each.name: _loaded(catalog, each) for each in tables}
    for reply in shown.values():
        if _mark(reply) != "first":
            raise not_carried_out(transaction, reply)
    given_commit(catalog, changed, [set_property("second")])
    again(catalog, transaction, committed)
    _expect_marked(catalog, transaction, changed, "second")
    after = _loaded(catalog, left)
    if is_later(shown[left.name], after):
        raise carried_out_again(transaction, after, "makes a further version")


@check("idempotency.drop-replayed")
def test_a_drop_is_answered_again(catalog: Catalog) -> None:
    """A drop that comes again is answered as before, and what has the name since stays."""
    require_keys(catalog)
    table = given_table(catalog)
    drop = keyed(catalog, "dropTable", of_table(table))
    dropped = first(catalog, drop)
    body = bodies.create_table_body(table.name)
    remade = catalog.create_table(table.namespace, body)
    if not remade.ok:
        there = catalog.load_table(table.namespace, table.name)
        if there.ok:
            raise not_carried_out(drop, there)
        again(catalog, drop, dropped)
        return  # a catalog may keep the names of dropped tables for a while
    if not catalog.load_table(table.namespace, table.name).ok:
        raise Blocked("createTable.200", "a table that was made anew is not there")
    again(catalog, drop, dropped)
    there = catalog.load_table(table.namespace, table.name)
    if there.status == 404:
        raise carried_out_again(drop, there, "drops what has the name since")
    expect_uuid(drop, there, made(table.namespace, table.name, remade).uuid)


@check("idempotency.rename-replayed")
def test_a_rename_is_answered_again(catalog: Catalog) -> None:
    """A rename that comes again is answered as before, and what has its name since stays."""
    require_keys(catalog)
    table = given_table(catalog)
    source, target = ((table.namespace, name) for name in (table.name, catalog.new_name()))
    rename = keyed(catalog, "renameTable", body=bodies.rename_body(source, target))
    renamed = first(catalog, rename)
    there = catalog.load_table(*target)
    if there.status == 404:
        raise not_carried_out(rename, there)
    expect_uuid(rename, there, table.uuid)
    if not catalog.rename_table(target, source).ok:
        again(catalog, rename, renamed)
        return  # a catalog may keep the old name for a while
    again(catalog, rename, renamed)
    there = catalog.load_table(*source)
    if there.status == 404 and catalog.load_table(*target).ok:
        raise carried_out_again(rename, there, "renames what has the name since")


@check("idempotency.registration-replayed")
def test_a_registration_is_answered_again(catalog: Catalog) -> None:
    """A registration that comes again is answered as before, although its name is taken."""
    require_keys(catalog)
    made_by = registered(catalog, _TABLES)
    request, answered = made_by.request, made_by.answered
    expect_same(request, again(catalog, request, answered), answered)
    _expect_overwritten_once(catalog, made(made_by.namespace, made_by.name, answered))


def _expect_overwritten_once(catalog: Catalog, table: Table) -> None:
    """Judge that a registration which replaces a table takes back nothing when it comes again."""
    location = table.metadata_location
    body = {"name": table.name, "metadata-location": location, "overwrite": True}
    registration = keyed(catalog, "registerTable", {"namespace": table.namespace}, body)
    if not registration.send(catalog).ok:
        return  # a catalog may replace no table
    given_commit(catalog, table, [set_property("second")])
    registration.send(catalog)
    _expect_marked(catalog, registration, table, "second")
