"""One run on a whole catalog that records which checks each design would affect."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import msgspec
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.judging.check import Check
from icecheck.mock_server.core.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.core.identity import Identities
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol.problem import Problem
from icecheck.wire.exchange import Exchange, Step
from tests.kit.contracts import CONTRACT
from tests.kit.once import made_once
from tests.kit.shares import EVERYTHING, JUDGES, share
from tests.lawful.capabilities.designs import designs
from tests.lawful.capabilities.rarer_forms import watch_forms
from tests.lawful.capabilities.serving import Said, every_check, said_of

# Besides reads, these are repeatable: their answers have no values made for one request.
_REPEATABLE = frozenset({"createNamespace", "updateProperties"})

MANY = 60


@dataclass(frozen=True, slots=True)
class Watched:
    """The result of the run, and check ids by the design that affects them, by operation, and by
    the rarer form of an update that they commit.
    """

    said: Said
    met: dict[str, frozenset[str]]
    asked: dict[str, frozenset[str]]
    forms: dict[str, set[str]]

    def checks_of_design(self, name: str, capability: str) -> tuple[Check, ...]:
        """Return the checks that a catalog of this design can answer differently.

        If they are many, the usual command has a share of those that do not need the capability:
        those that load tables are among the rest, because lacks show there.
        """
        needing = {check.id for check in every_check() if capability in check.needs}
        met = _among(self.met[name] | needing)
        if len(met) <= MANY:
            return met

        def decides(check: Check) -> bool:
            return check.id in needing or check.operations[:1] == ("loadTable",)

        return share(met, [*self.met].index(name), 6, always=decides)

    def checks_of_operation(self, operation_id: str) -> tuple[Check, ...]:
        """Return the checks that are about an operation, and a share of those that send it.

        Asking whether it is claimed is as good as sending it.
        """
        about = {check.id for check in every_check() if operation_id in check.operations[:1]}
        turn = [*self.asked].index(operation_id)
        asking = _among(self.asked[operation_id] | about)
        return share(asking, turn, 6, always=lambda check: check.id in about)


def _among(ids: set[str] | frozenset[str]) -> tuple[Check, ...]:
    return tuple(check for check in every_check() if check.id in ids)


def watched() -> Watched:
    """Return the run, which takes place once for shares and once for everything."""
    return _watched(JUDGES.get())


@cache
def _watched(judged: str) -> Watched:
    return made_once(f"watched-{judged}", partial(_watch, judged))


def _watch(judged: str) -> Watched:
    current = [""]
    met: dict[str, set[str]] = {name: set() for name in designs()}
    asked: defaultdict[str, set[str]] = defaultdict(set)
    forms: dict[str, set[str]] = {}

    def install(registries: Registries) -> None:
        _watch_designs(registries, current, met)
        watch_forms(registries, current, forms)

    def claims(catalog: Catalog, operation_id: str) -> bool:
        asked[operation_id].add(current[0])
        return claimed(catalog, operation_id)

    def record(session: Session, exchange: Exchange) -> None:
        # Requests that undo something are left out: the check has sent the creation before.
        if exchange.operation and exchange.step is not Step.UNDO:
            asked[exchange.operation].add(current[0])
        recorded(session, exchange)

    claimed, recorded = Catalog.claims, Session.record
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Catalog, "claims", claims)
        patch.setattr(Session, "record", record)
        checks = every_check() if judged == EVERYTHING else share(every_check(), 0, 6)
        said = said_of(checks, install, each=lambda check: current.__setitem__(0, check.id))
    return Watched(
        said,
        {name: frozenset(ids) for name, ids in met.items()},
        {id_: frozenset(asked[id_]) for id_ in CONTRACT.operations},
        forms,
    )


def _watch_designs(registries: Registries, current: list[str], met: dict[str, set[str]]) -> None:
    """Let every design answer every request too, and note the designs whose answer differs."""
    faithful = dict(registries.operations)
    looking: defaultdict[str, list[tuple[str, Operation]]] = defaultdict(list)
    given: list[tuple[Call, Outcome | Problem]] = []
    known = {id_: _remembering(operation, given) for id_, operation in faithful.items()}
    for name, (_, install) in designs().items():
        other = msgspec.structs.replace(registries, operations=dict(known))
        install(other)
        for operation_id, operation in other.operations.items():
            if operation is not known[operation_id]:
                looking[operation_id].append((name, operation))
    spare = Identities(2)
    for operation_id, lookers in looking.items():

        def watching(
            context: Context,
            state: WarehouseState,
            call: Call,
            /,
            operation: Operation = faithful[operation_id],
            lookers: list[tuple[str, Operation]] = lookers,
        ) -> Outcome:
            answer = _answer(operation, context, state, call)
            given[:] = [(call, answer)]
            reading = call.request.method in {"GET", "HEAD"}
            apart = context if reading else msgspec.structs.replace(context, identities=spare)
            for name, designed in lookers:
                if current[0] in met[name]:
                    continue
                if _facts(_answer(designed, apart, state, call), call) != _facts(answer, call):
                    met[name].add(current[0])
            if isinstance(answer, Problem):
                raise answer
            return answer

        registries.operations[operation_id] = watching


def _remembering(operation: Operation, given: list[tuple[Call, Outcome | Problem]]) -> Operation:
    """Return the operation; for the current call it returns the answer already given."""

    def remembered(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        asked, answer = given[0]
        if asked is not call:
            return operation(context, state, call)
        if isinstance(answer, Problem):
            raise answer
        return answer

    return remembered


def _answer(
    operation: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome | Problem:
    try:
        return operation(context, state, call)
    except Problem as problem:
        return problem


def _facts(answer: Outcome | Problem, call: Call) -> tuple[Any, ...]:
    """Return the parts of an answer that a client notices and that are equal in a second run."""
    if isinstance(answer, Problem):
        return (answer.status, answer.type)
    if call.request.method in {"GET", "HEAD"} or call.operation_id in _REPEATABLE:
        reply = answer.reply
        return (reply.status, dict(reply.headers).get("etag"), reply.body)
    return (answer.reply.status,)
