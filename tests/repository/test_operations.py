"""Every operation of the document has all parts that operations need here, or a reason for none."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.conformance.generated import test_generated
from icecheck.conformance.kit.every_route import own_objects, reads, writes
from icecheck.conformance.names import freed_names
from icecheck.conformance.security import guarded_routes
from icecheck.contract import (
    SPEC_VERSIONS,
    Action,
    Changes,
    Object,
    Operation,
    Place,
    Ref,
    UnknownRef,
    load,
)
from icecheck.findings.verdict import Group
from icecheck.judging.check import Unbound
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.operations.registry import registered
from icecheck.objects.requests_by_name import ENDING, FINDING
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kit.contracts import NEWEST
from tests.kit.ordinary_requests import ordinary_requests

TOKEN = frozenset({"getToken"})
"""Its request is a form without credentials; it has checks of its own (test_oauth2)."""
ABOUT_A_PLAN = frozenset({Action.FETCH_PLAN, Action.FETCH_TASKS})
"""They find a plan, and no table's name leads to a plan."""
ORDINARY = frozenset(ordinary_requests())
SEEN_BY_NOBODY = frozenset({Action.CANCEL_PLAN, Action.REPORT})
"""They show nothing of a table, and change nothing that another request shows."""


LEFT_OUT = {
    # It is asked at the address that a table announces, about a request to the object store:
    # conformance/security/signing_requests.py makes its requests.
    "signRequest": {
        "icecheck.client", "guarded_routes", "test_generated", "requests_by_name", "every_route",
        "ordinary_requests",
    },
    # conformance/views has its checks; its requests are not drawn yet.
    "registerView": {"test_generated", "freed_names", "ordinary_requests"},
}  # fmt: skip
"""The parts that these operations lack, by a word of what is told of them."""


def method_of(operation_id: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", operation_id).lower()


def lacking(operations: Iterable[Operation]) -> list[str]:
    """Return one line for each part that one of these operations lacks."""
    return [
        f"{each.id}: {words}"
        for each in operations
        for words in _lacking(each)
        if not any(part in words for part in LEFT_OUT.get(each.id, ()))
    ]


def _lacking(operation: Operation) -> Iterator[str]:
    id_, facts = operation.id, operation.facts
    try:
        NEWEST.since(Ref.parse(f"operation:{id_}"))
    except UnknownRef:
        yield "no release in releases.toml"
    if not hasattr(Catalog, method_of(id_)):
        yield f"no method {method_of(id_)} of icecheck.client.catalog.Catalog"
    if id_ not in registered():
        yield "no function in the modules of mock_server/operations that its served.py lists"
    if id_ not in guarded_routes.REQUESTS and id_ not in TOKEN:
        yield "no request in conformance/security/guarded_routes.py"
    if id_ not in test_generated.OPERATIONS and id_ not in TOKEN:
        yield "no generated checks in conformance/generated/test_generated.py"
    if facts.creates is not None and id_ not in freed_names.TAKINGS:
        yield "no way to take a name by it in conformance/names/freed_names.py"
    if _finds_a_name(operation) and id_ not in _asked_by_name(facts.object):
        yield "no request in src/icecheck/objects/requests_by_name.py"
    if id_ not in ORDINARY:
        yield "no request in tests/kit/ordinary_requests.py"


def _finds_a_name(operation: Operation) -> bool:
    """Return whether a request leads to one table or view by its name."""
    facts = operation.facts
    by_path = Place.PATH in facts.names and f"{{{facts.object}}}" in operation.path
    by_body = not {Place.SOURCE, Place.TABLE_CHANGES}.isdisjoint(facts.names)
    return (by_path or by_body) and facts.action not in ABOUT_A_PLAN and (
        facts.object in {Object.TABLE, Object.VIEW}
    )  # fmt: skip


def _asked_by_name(kind: Object) -> set[str]:
    return {*FINDING[kind.value], *ENDING[kind.value]}


def test_every_operation_has_all_that_is_there_for_operations() -> None:
    told = lacking(NEWEST.operations.values())
    assert not told, "\n".join(told)


def test_what_is_left_out_is_lacking() -> None:
    for id_, parts in LEFT_OUT.items():
        told = [*_lacking(NEWEST.operations[id_])]
        for part in parts - {"every_route"}:
            assert any(part in words for words in told), f"{id_} has {part}: name it no more"


def test_a_new_operation_is_told_everything_it_lacks_at_once() -> None:
    new = replace(NEWEST.operations["registerTable"], id="adoptTable")
    gone = replace(NEWEST.operations["dropView"], id="unregisterView")
    told = "\n".join(lacking([new, gone]))
    for place in ("releases.toml", "Catalog", "mock_server/operations", "guarded_routes",
                  "test_generated", "ordinary_requests"):  # fmt: skip
        assert told.count(place) == 2
    assert "adoptTable: no way" in told
    assert "unregisterView: no request in src/icecheck/objects" in told


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_the_checks_can_be_held_to_every_version(version: str) -> None:
    try:
        checks = collect(tuple(Group), load(version), disruptive=True)
    except Unbound as told:
        remedy = (
            f"a run with --spec {version} would end here: give each row that these checks prove a "
            "`since` if only newer documents have it, or write it for this version too"
        )
        pytest.fail(f"{remedy}:\n{told}")
    assert checks


@pytest.mark.parametrize(
    ("operation_id", "method"),
    [("getToken", "get_token"), ("loadNamespaceMetadata", "load_namespace_metadata")],
)
def test_a_method_is_called_as_its_operation(operation_id: str, method: str) -> None:
    assert method_of(operation_id) == method


def test_every_look_and_every_change_is_among_the_requests_on_every_route() -> None:
    mock = MockCatalog(seed=1, spec=NEWEST.version)
    session = open_session(
        Target("http://mock.invalid"),
        run_id="r1",
        spec=NEWEST.version,
        transport=mock.httpx_transport(),
    )
    try:
        catalog = Catalog(session, "routes")
        own = own_objects(catalog)
        looked = {each.operation_id for each in reads(catalog, own)}
        changed = {each.operation_id for each in writes(catalog, own)}
        catalog.undo()
    finally:
        session.close()
        mock.stop()
    due_reads, due_writes = set(), set()
    for id_, operation in NEWEST.operations.items():
        facts = operation.facts
        if "every_route" in LEFT_OUT.get(id_, ()):
            continue
        if facts.changes is Changes.OBJECTS:
            due_writes.add(id_)
        elif id_ not in TOKEN and facts.action not in ABOUT_A_PLAN | SEEN_BY_NOBODY:
            due_reads.add(id_)
    file = "conformance/kit/every_route.py"
    assert looked == due_reads, f"reads() of {file}: {sorted(looked ^ due_reads)}"
    assert changed == due_writes, f"writes() of {file}: {sorted(changed ^ due_writes)}"
