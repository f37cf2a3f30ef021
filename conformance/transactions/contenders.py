"""Races: the concurrent requests of several clients, and the judgement of their history."""

from collections.abc import Iterable, Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.findings.shared_symptoms import ANOMALY
from icecheck.findings.verdict import SkipKind
from icecheck.histories.history import (
    Anomaly,
    AnomalyKind,
    Answer,
    Deed,
    Event,
    Seen,
    anomalies_in,
    tell,
)
from icecheck.histories.racing import Move, race
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.target import Namespace

__all__ = [
    "CONTENDERS",
    "MARK",
    "commit_to",
    "expect_no_anomaly",
    "expect_success",
    "given",
    "load",
    "look",
    "named",
    "rename",
    "rounds",
    "violation_of",
]


CONTENDERS = ("client 1", "client 2", "client 3", "client 4")
"""The clients in a round, each with its own connection: four clients form six pairs."""
MARK = "icecheck.mark"
"""The property that identifies the client that made an object."""

_LOADS = {"table": "loadTable", "view": "loadView"}

Json = dict[str, Any]

# Runs are compared by these texts, so they must not depend on which client was faster.
_WORDS = {
    AnomalyKind.DUPLICATE_SUCCESS: ("one success", "several successes"),
    AnomalyKind.LOST_UPDATE: ("what was acknowledged", "its loss"),
    AnomalyKind.RESURRECTED: ("what was dropped stays dropped", "it is there again"),
    AnomalyKind.PHANTOM_SUCCESS: ("nothing of a refused request", "its effect"),
    AnomalyKind.HALF_VISIBLE: ("all of a transaction, or nothing of it", "a part of it"),
}


# ----------------------------------------------------------------------------- requests


def rounds(catalog: Catalog) -> range:
    """Return the rounds of a race, as many as the user has asked for."""
    return range(catalog.target.rounds)


def named(namespace: Namespace, name: str = "") -> str:
    """Return the name of an object in a history."""
    return ".".join((*namespace, *filter(None, (name,))))


def commit_to(table: Table, updates: Sequence[Json], *requirements: Json, deeds: Any) -> Move:
    """Return a commit to a table with these requirements."""
    return Move(
        "updateTable",
        {"namespace": table.namespace, "table": table.name},
        {
            "identifier": table.identifier,
            "requirements": [*requirements],
            "updates": [*updates],
        },
        deeds=tuple(deeds),
    )


def rename(source: Table, name: str, deeds: Iterable[Deed] = ()) -> Move:
    """Return the rename of a table within its namespace."""
    destination = {"namespace": [*source.namespace], "name": name}
    body = {"source": source.identifier, "destination": destination}
    return Move("renameTable", body=body, deeds=tuple(deeds))


def load(namespace: Namespace, name: str, kind: str = "table") -> Move:
    """Return a load of a table or view that reads its existence, its maker and its fields.

    The fields are its properties, and ``main``, the snapshot id of that branch.
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
        branch = (metadata.get("refs") or {}).get("main") or {}
        main = branch.get("snapshot-id", metadata.get("current-snapshot-id"))
        shown = {**properties, "main": main}
        return (Seen(label, present=True, holder=properties.get(MARK), fields=shown),)

    return Move(_LOADS[kind], {"namespace": namespace, kind: name}, reads=reads)


def look(catalog: Catalog, *moves: Move) -> tuple[Event, ...]:
    """Load objects one after another, after all concurrent requests."""
    return race(catalog, {"reader": moves})


def given(*deeds: Deed) -> Event:
    """Return the event of the state before the race."""
    return Event("before", 0, 0, Answer.OK, deeds, label="as it was before")


# ------------------------------------------------------------------------- judgement


def expect_no_anomaly(history: Sequence[Event]) -> None:
    """Judge that some order of the requests explains all answers."""
    found = anomalies_in(history)
    if found:
        # Of several anomalies of this kind, take the one that starts last: its events are the
        # closest together and show it best.
        alike = (anomaly for anomaly in found if anomaly.kind is found[0].kind)
        raise violation_of(max(alike, key=lambda anomaly: min(_exchanges(anomaly), default=0)))


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
