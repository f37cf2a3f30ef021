"""Checks of registerTable: a metadata file becomes a table in its place."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import (
    arrange,
    given_commit,
    given_dropped,
    given_loaded,
    given_table,
    reloaded,
    shared_table,
)
from icecheck.client.sender import DELEGATION_HEADER
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
)
from icecheck.findings.statuses import ANY_REFUSAL
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_refusal
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import given_history
from icecheck.objects.comparing import expect_answer
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import shown_of
from icecheck.replies.expect import NotOffered, Reply, equal

_REGISTERED_ELSEWHERE = declare(
    "registered-elsewhere",
    "Gives a registered table another metadata location than the file named",
    Severity.SHAPE,
)

MARK = "icecheck.mark"


def _marked(turn: str) -> dict[str, Any]:
    return {"action": "set-properties", "updates": {MARK: turn}}


def _location(table: Table) -> str:
    if table.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    return table.metadata_location


def _register(
    catalog: Catalog,
    prepare: Callable[[Table], Table] | None = None,
    *,
    overwrite: bool = False,
    headers: Mapping[str, str] | None = None,
) -> tuple[Table, str, Reply]:
    """Register a metadata file of the catalog under a new name, in its table's namespace.

    Returns the table of the file, the new name and the answer. The table is dropped first, as in a
    move; if the catalog refuses that, because it deletes the files of dropped tables, the file that
    a load of an existing table names is registered instead.
    """
    for dropped in (True, False):
        table = given_table(catalog, properties={MARK: "0"})
        if prepare is not None:
            table = prepare(table)
        if not dropped:
            table = given_loaded(catalog, table)
        name, location = catalog.new_name(), _location(table)
        if dropped:
            given_dropped(catalog, table.namespace, table.name)
        body = {"name": name, "metadata-location": location}
        also = {"overwrite": True} if overwrite else {}
        names = {"namespace": table.namespace}
        reply = catalog.call("registerTable", names, body={**body, **also}, headers=headers)
        if not 400 <= reply.status < 500:
            break
    return table, name, reply


def _given_registered(
    catalog: Catalog, prepare: Callable[[Table], Table] | None = None
) -> tuple[Table, str]:
    table, name, reply = _register(catalog, prepare)
    arrange(catalog, "registerTable", lambda: reply)
    return table, name


@check("registerTable.succeeds", proves="registerTable.200")
def test_register_table(catalog: Catalog) -> None:
    """Registering a metadata file answers the table."""
    table, _, reply = _register(catalog)
    reply.expect(200).expect_json({"metadata": {"table-uuid": view.same_uuid(table.uuid)}})


@check("registerTable.answer-agrees-with-load", proves="registerTable.answer-is-the-table")
def test_answer_is_what_load_returns(catalog: Catalog) -> None:
    """The answer to a registration is what a load returns right after it."""
    table, name, reply = _register(catalog, partial(given_history, catalog))
    reply.expect(200)
    loaded = catalog.load_table(table.namespace, name).expect(200)
    expect_answer(reply, shown_of(loaded, table), "a registered table")


@check("registerTable.tolerates-delegation-header", proves="registerTable.access-delegation-list")
def test_delegation_header(catalog: Catalog) -> None:
    """Naming several access delegation mechanisms never fails a registration."""
    headers = {DELEGATION_HEADER: "vended-credentials,remote-signing"}
    table, name, reply = _register(catalog, headers=headers)
    if 400 <= reply.status < 500 and _register(catalog)[2].status == reply.status:
        raise not_applicable(f"a metadata file of its own is answered with {reply.status}")
    reply.expect(200)
    catalog.load_table(table.namespace, name).expect(200).expect_json(
        {"metadata": {"table-uuid": view.same_uuid(table.uuid)}}
    )


@check("registerTable.malformed-refused", proves="registerTable.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A registration with an unusable body is refused with 400."""
    table = shared_table(catalog)
    name = catalog.new_name()
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b"{",
        "no object": ["x"],
        "no name": {"metadata-location": _location(table)},
        "no metadata location": {"name": name},
    }
    for what, body in wrong.items():
        reply = catalog.call("registerTable", {"namespace": table.namespace}, body=body)
        reply.expect(400, detail=f"sent {what}")
    catalog.load_table(table.namespace, name).expect(404, detail="nothing may be registered")


def _expect_refused(catalog: Catalog, reply: Reply, table: Table, status: int) -> None:
    """Expect the refusal of a registration that is wrong for another reason than its file.

    Raises NotOffered where the file of a table is refused under a free name too: of two reasons
    the catalog may tell either.
    """
    if reply.status != status and 400 <= reply.status < 500:
        plain = catalog.register_table(table.namespace, catalog.new_name(), _location(table))
        if 400 <= plain.status < 500:
            raise not_applicable(f"the file of a table is answered with {plain.status}")
    reply.expect(status)


@check("registerTable.missing-namespace", proves="registerTable.404")
def test_missing_namespace(catalog: Catalog) -> None:
    """Registering into a namespace that does not exist is refused."""
    table = shared_table(catalog)
    missing, name = catalog.new_namespace_name(), catalog.new_name()
    _expect_refused(catalog, catalog.register_table(missing, name, _location(table)), table, 404)
    catalog.load_table(missing, name).expect(404, detail="nothing may be registered")


@check(
    "registerTable.already-exists", proves=("registerTable.409", "registerTable.overwrite-default")
)
def test_existing_table(catalog: Catalog) -> None:
    """Registering over an existing table is refused and leaves it as it was."""
    table = shared_table(catalog)
    existing = reloaded(catalog, given_table(catalog, table.namespace, properties={MARK: "0"}))
    reply = catalog.register_table(table.namespace, existing.name, _location(table))
    _expect_refused(catalog, reply, table, 409)
    equal(
        view.settled(reloaded(catalog, existing).metadata, MARK),
        view.settled(existing.metadata, MARK),
        symptom=CHANGED_ALTHOUGH_REFUSED,
    )


@check("registerTable.keeps-identity", proves="registerTable.same-table")
def test_same_table(catalog: Catalog) -> None:
    """A registered table has the uuid, schema, snapshots and refs of its metadata file."""
    table, name = _given_registered(catalog, partial(given_history, catalog))
    reply = catalog.load_table(table.namespace, name).expect(200)
    equal(
        view.settled(view.metadata_in(reply), MARK),
        view.settled(table.metadata, MARK),
        symptom=EFFECT_MISSING.of("registered-metadata"),
    )


@check("registerTable.keeps-location", proves="registerTable.in-place")
def test_in_place(catalog: Catalog) -> None:
    """A registered table's metadata location is the file that was given."""
    table, name = _given_registered(catalog)
    reply = catalog.load_table(table.namespace, name).expect(200)
    location = reply.json().get("metadata-location")
    if location is None:
        raise NotOffered("the catalog tells no metadata location")
    equal(view.place(location), view.place(table.metadata_location), symptom=_REGISTERED_ELSEWHERE)


@check("registerTable.accepts-commits", proves="registerTable.writable")
def test_registered_table_is_writable(catalog: Catalog) -> None:
    """A registered table accepts commits like any other."""
    table, name = _given_registered(catalog)
    catalog.update_table(table.namespace, name, [_marked("1")]).expect(200)
    catalog.load_table(table.namespace, name).expect(200).expect_json(
        {MARK: "1"}, at=["metadata", "properties"], symptom=EFFECT_MISSING.of("table-properties")
    )


@check("registerTable.unreadable", proves="registerTable.unreadable-refused")
def test_unreadable_file(catalog: Catalog) -> None:
    """A metadata location without a metadata file registers nothing."""
    table = shared_table(catalog)
    name = catalog.new_name()
    nowhere = _location(table).rpartition("/")[0] + f"/{name}.metadata.json"
    reply = catalog.register_table(table.namespace, name, nowhere)
    if reply.ok:
        raise reply.wrong_status(ANY_REFUSAL, detail="no such file")
    catalog.load_table(table.namespace, name).expect(404, detail="nothing may be registered")


@check("registerTable.overwrites", proves="registerTable.overwrite")
def test_overwrite(catalog: Catalog) -> None:
    """With overwrite, the metadata of an existing table is replaced by the file's."""
    table = given_table(catalog, properties={MARK: "0"})
    first = _location(table)
    given_commit(catalog, table, [_marked("1")])
    reply = catalog.register_table(table.namespace, table.name, first, overwrite=True)
    if refused(reply, "overwrite"):
        raise not_applicable(f"the catalog answers overwrite with {reply.status}")
    reply.expect(200)
    catalog.load_table(table.namespace, table.name).expect(200).expect_json(
        {MARK: "0"}, at=["metadata", "properties"], symptom=EFFECT_MISSING.of("overwrite")
    )


@check("registerTable.overwrites-nothing", proves="registerTable.overwrite-of-nothing")
def test_overwrite_of_nothing(catalog: Catalog) -> None:
    """With overwrite, a table is registered under a name that no table has, as without it."""
    table, name, reply = _register(catalog, overwrite=True)
    if 400 <= reply.status < 500 and _register(catalog)[2].status == reply.status:
        raise not_applicable(f"a metadata file of its own is answered with {reply.status}")
    if is_refusal(reply):  # a 404 or 409 would say that something is there, or is not
        raise not_applicable(f"the catalog answers overwrite with {reply.status}")
    reply.expect(200)
    catalog.load_table(table.namespace, name).expect(200).expect_json(
        {MARK: "0"}, at=["metadata", "properties"], symptom=EFFECT_MISSING.of("registered-metadata")
    )
