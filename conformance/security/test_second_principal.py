"""Checks of a second principal without any permission for the run's objects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_table
from icecheck.conformance.kit.other_principals import second_principal
from icecheck.contract import Action
from icecheck.findings.shared_symptoms import LEAK
from icecheck.findings.symptoms import Symptom
from icecheck.judging.check import check, generated_check
from icecheck.objects.reading import tables_in
from icecheck.objects.views import View, given_view, shared_table_and_view
from icecheck.replies.expect import Reply, Violation
from icecheck.targets.target import Namespace

Headers = Mapping[str, str]
Names = Mapping[str, str | Namespace]

_LOOKING = frozenset({Action.LOAD, Action.EXISTS, Action.LOAD_CREDENTIALS})
_OPEN_TO_NOBODY = frozenset({403, 404})


@dataclass(frozen=True, slots=True)
class _Mine:
    """A namespace, a table and, where offered, a view of the first principal."""

    catalog: Catalog
    namespace: Namespace
    table: Table | None
    view: View | None

    def names(self, operation_id: str) -> Names | None:
        """Return the path names of an operation, or None if there is no such object."""
        path = self.catalog.session.contract.operations[operation_id].path
        names: dict[str, str | Namespace] = {"namespace": self.namespace}
        if not self.catalog.claims(operation_id):
            return None
        for kind, mine in (("table", self.table), ("view", self.view)):
            if f"{{{kind}}}" in path:
                if mine is None:
                    return None
                names[kind] = mine.name
        return names


def _own(catalog: Catalog) -> _Mine:
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace) if catalog.claims("createTable") else None
    view = given_view(catalog, namespace) if catalog.claims("createView") else None
    return _Mine(catalog, namespace, table, view)


def _shared(catalog: Catalog) -> _Mine:
    """Return objects that checks share, to be looked at by their names."""
    if not (catalog.claims("createTable") and catalog.claims("createView")):
        return _own(catalog)
    both = shared_table_and_view(catalog)
    table, view = both.holds
    where = both.path
    return _Mine(catalog, where, Table(where, table, {}, None), View(where, view, {}, None))


def _reads(catalog: Catalog, mine: _Mine, theirs: Headers) -> Iterator[Reply]:
    for operation in catalog.contract.operations.values():
        names = mine.names(operation.id) if operation.facts.action in _LOOKING else None
        if names is not None:
            yield catalog.call(operation.id, names, headers=theirs)


def _lists(catalog: Catalog, mine: _Mine, theirs: Headers) -> Iterator[tuple[Reply, str]]:
    """Yield each list of the namespace's contents, and a name that it must contain."""
    lists = catalog.contract.by_object(Action.LIST)
    for operation_id, inside in ((lists["table"], mine.table), (lists["view"], mine.view)):
        names = mine.names(operation_id)
        if names is not None and inside is not None:
            yield catalog.call(operation_id, names, headers=theirs), inside.name


@check(
    "auth.second-principal-reads-nothing",
    proves="auth.other-principal-reads-nothing",
)
def test_a_second_principal_reads_nothing(catalog: Catalog) -> None:
    """What the run makes is not shown to a principal who has no right to it."""
    theirs = second_principal(catalog)
    mine = _shared(catalog)
    shown = [reply for reply in _reads(catalog, mine, theirs) if reply.ok]
    for reply, name in _lists(catalog, mine, theirs):
        if reply.ok and name in [listed for _, listed in tables_in(reply)]:
            shown.append(reply)
    if shown:
        raise _leak(LEAK.of("other-principal"), shown)


@check(
    "auth.second-principal-gets-no-altered-list",
    proves="auth.other-principal-gets-no-altered-list",
)
def test_a_second_principal_gets_no_altered_list(catalog: Catalog) -> None:
    """A principal without the right to a list is refused, and gets no shortened list."""
    theirs = second_principal(catalog)
    for reply, name in _lists(catalog, _shared(catalog), theirs):
        if reply.ok and name not in [listed for _, listed in tables_in(reply)]:
            raise reply.violation(
                LEAK.of("altered-success"),
                "401 or 403, or the same answer as with the right",
                "a success without what is there",
                detail=f"{reply.exchange.operation} by a second principal",
            )


@generated_check("auth.second-principal-is-told", proves="auth.other-principal-refused-as-such")
def test_a_second_principal_is_told(catalog: Catalog) -> None:
    """A principal without the right is answered 403, or 404 where the name is hidden."""
    theirs = second_principal(catalog)
    for reply in _reads(catalog, _shared(catalog), theirs):
        if not reply.ok and reply.status not in _OPEN_TO_NOBODY:
            reply.expect(403, 404, detail="by a second principal")


def _leak(symptom: Symptom, replies: list[Reply]) -> Violation:
    told = ", ".join(dict.fromkeys(str(reply.exchange.operation) for reply in replies))
    return replies[0].violation(
        symptom, "403 or 404", "a success", detail=f"{told} by a second principal"
    )
