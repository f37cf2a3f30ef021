"""Races: the concurrent requests of several clients, and the judgement of their answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.findings.shared_symptoms import ANOMALY
from icecheck.findings.verdict import SkipKind
from icecheck.histories.anomalies import anomalies_in
from icecheck.histories.history import (
    Anomaly,
    AnomalyKind,
    Answer,
    Deed,
    Event,
    Seen,
    tell,
)
from icecheck.histories.racing import Move, race
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.target import Namespace
from icecheck.wire.retry import trouble_of

CONTENDERS = ("client 1", "client 2", "client 3", "client 4")
"""The clients in a round, each with its own connection: four clients form six pairs."""
MARK = "icecheck.mark"
"""The property that identifies the client that made an object."""

_LOADS = {"table": "loadTable", "view": "loadView"}
_CONFLICT = (409,)
_GATEWAYS = frozenset({502, 504})
# What a request meets in a race as it does elsewhere: rights, what is not served, gateways.
_BESIDE_THE_RACE = frozenset({401, 403, 405, 406, 408, 419, 429, 501}) | _GATEWAYS

Json = dict[str, Any]
Due = Mapping[str, tuple[int, ...]]
"""Operation -> the statuses that tell one that asks for it that another client was faster."""

# Runs are compared by these texts, so they must not depend on which client was faster.
_WORDS = {
    AnomalyKind.DUPLICATE_SUCCESS: ("one success", "several successes"),
    AnomalyKind.LOST_UPDATE: ("what was acknowledged", "its loss"),
    AnomalyKind.RESURRECTED: ("what was dropped stays dropped", "it is there again"),
    AnomalyKind.PHANTOM_SUCCESS: ("nothing of a refused request", "its effect"),
    AnomalyKind.HALF_VISIBLE: ("all of a transaction, or nothing of it", "a part of it"),
}


# ----------------------------------------------------------------------------- requests


def rounds(catalog: Catalog, *, few: bool = False) -> range:
    """Return the rounds of a race, as many as the user has asked for; ``few``: half as many.

    Few will do where a catalog loses each round that it does not lock, or where another race of the
    same lock has all rounds.
    """
    return range((catalog.target.rounds + 1) // 2 if few else catalog.target.rounds)


def named(namespace: Namespace, name: str = "") -> str:
    """Return the name of an object in a history."""
    return ".".join((*namespace, *filter(None, (name,))))


def commit_to(
    table: Table,
    updates: Sequence[Json],
    *requirements: Json,
    deeds: Iterable[Deed],
    by_transaction: bool = False,
) -> Move:
    """Return a commit to a table with these requirements, or a transaction of it alone."""
    change = {
        "identifier": table.identifier,
        "requirements": [*requirements],
        "updates": [*updates],
    }
    if by_transaction:
        return Move("commitTransaction", body={"table-changes": [change]}, deeds=tuple(deeds))
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    return Move("updateTable", names, change, deeds=tuple(deeds))


def rename(source: Table, name: str, deeds: Iterable[Deed] = ()) -> Move:
    """Return the rename of a table within its namespace."""
    destination = {"namespace": [*source.namespace], "name": name}
    body = {"source": source.identifier, "destination": destination}
    return Move("renameTable", body=body, deeds=tuple(deeds))


def load(namespace: Namespace, name: str, kind: str = "table") -> Move:
    """Return a load of a table or view that reads its existence, its maker and its fields.

    The fields are its properties, and under the names of its refs their snapshot ids.
    """
    label = named(namespace, name)

    def reads(reply: Reply) -> tuple[Deed, ...]:
        if reply.status == 404:
            return (Seen(label, present=False),)
        if reply.status != 200:
            return ()
        metadata = reply.member("metadata")
        if not isinstance(metadata, dict):
            return (Seen(label, present=True),)
        properties = metadata.get("properties") or {}
        refs = (metadata.get("refs") or {}).items()
        heads = {ref: head.get("snapshot-id") for ref, head in refs}
        shown = {"main": metadata.get("current-snapshot-id"), **properties, **heads}
        return (Seen(label, present=True, holder=properties.get(MARK), fields=shown),)

    return Move(_LOADS[kind], {"namespace": namespace, kind: name}, reads=reads)


def look(catalog: Catalog, *moves: Move) -> tuple[Event, ...]:
    """Load objects one after another, after all concurrent requests."""
    return race(catalog, {"reader": moves})


def given(*deeds: Deed) -> Event:
    """Return the event of the state before the race."""
    return Event("before", 0, 0, Answer.OK, deeds, label="as it was before")


# ------------------------------------------------------------------------- judgement


def expect_fair(catalog: Catalog, history: Sequence[Event], due: Due | None = None) -> None:
    """Judge that some order of the requests explains all answers, and that losers are told so."""
    found = anomalies_in(history)
    if found:
        # Of several anomalies of this kind, take the one that starts last: its events are the
        # closest together and show it best.
        alike = (anomaly for anomaly in found if anomaly.kind is found[0].kind)
        raise violation_of(max(alike, key=lambda anomaly: min(_exchanges(anomaly), default=0)))
    expect_told(catalog, history, due)


def expect_told(
    catalog: Catalog, history: Sequence[Event], due: Due | None = None, *, unknown: bool = True
) -> None:
    """Judge that those who lost are told so, by a conflict or by what ``due`` has for them.

    A conflict is always a lawful refusal, because a catalog may refuse whatever overlaps. Where the
    document says that a 5xx leaves the outcome ``unknown``, it is lawful too, unless the caller
    says otherwise. Where nobody has won, nobody is known to have lost.
    """
    answers = [*_answers(catalog, history, gateways=not unknown)]
    if not any(reply.ok for reply in answers):
        return
    for reply in answers:
        operation = catalog.contract.operations[reply.exchange.operation or ""]
        lawful = (*_CONFLICT, *(due or {}).get(operation.id, ()))
        named_so = reply.status >= 500 and str(reply.status) in operation.responses
        if reply.status >= 400 and not (unknown and named_so):
            reply.expect(*lawful, detail="other clients sent theirs at the same time")


def expect_a_winner(catalog: Catalog, history: Sequence[Event], *, gone: bool) -> None:
    """Judge that one of several clients that drop one object at once is told that it did.

    ``gone``: the object is no longer there. Conflicts alone may end a race that nobody wins.
    """
    asked = [event for event in history if event.process in CONTENDERS]
    answers = [*_answers(catalog, history)]
    if len(answers) < len(asked) or any(event.answer is not Answer.REFUSED for event in asked):
        return
    for reply in answers:
        if gone or reply.status not in _CONFLICT:
            reply.expect(204, detail="no client was told that it has dropped the object")


def _answers(
    catalog: Catalog, history: Sequence[Event], *, gateways: bool = False
) -> Iterator[Reply]:
    """Yield the contenders' answers that may be judged: of the catalog, and to the first try.

    With ``gateways`` its own 502 and 504 too, but not the pages of a gateway in front of it.
    """
    passed_over = _BESIDE_THE_RACE - (_GATEWAYS if gateways else frozenset())
    tries = Counter(exchange.ordinal for exchange in catalog.exchanges)
    asked = {event.exchange for event in history if event.process in CONTENDERS}
    for exchange in catalog.exchanges:
        first = exchange.ordinal in asked and tries[exchange.ordinal] == 1
        beside = exchange.status in passed_over or trouble_of(exchange) is not None
        if first and not beside:
            yield Reply(exchange, catalog.session.schemas, catalog.handed_out)


def violation_of(anomaly: Anomaly) -> Violation:
    """Return the Violation of an anomaly: its kind is the cause, its witness the detail."""
    expected, actual = _WORDS[anomaly.kind]
    return Violation(
        ANOMALY.of(anomaly.kind),
        expected,
        actual,
        detail="; ".join(tell(anomaly).splitlines()),
        exchange=max(_exchanges(anomaly), default=None),
    )


def _exchanges(anomaly: Anomaly) -> list[int]:
    return [event.exchange for event in anomaly.witness if event.exchange is not None]


def expect_success(history: Iterable[Event], due: str) -> None:
    """End the check without a verdict if no client ever succeeded.

    ``due`` is the row of the response table that defines success. Raises NotOffered if every
    attempt was answered 403 or 406, and Blocked if none succeeded for other reasons: then nothing
    shows how the catalog resolves conflicts.
    """
    asked = [event for event in history if event.process in CONTENDERS]
    if any(event.answer is Answer.OK for event in asked):
        return
    labels = {event.label for event in asked}
    if labels and all(label.endswith((", 403", ", 406")) for label in labels):
        why = f"every attempt was answered so: {'; '.join(sorted(labels))}"
        raise NotOffered(why, SkipKind.NOT_APPLICABLE)
    why = f"no attempt of any client succeeded: {'; '.join(sorted(labels)[:3])}"
    raise Blocked(due, why, exchange=max((e.exchange or 0 for e in asked), default=None))
