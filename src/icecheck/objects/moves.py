"""Requests of racers, what they show, and what no order of them explains."""

import re
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
    is_read,
    tell,
)
from icecheck.histories.racing import Move, race
from icecheck.objects.views import current_versions
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.matching import find
from icecheck.targets.target import Namespace

CLIENTS = tuple(f"client {number}" for number in range(1, 9))
"""Those that may compete, each with its own connection."""
MARK = "icecheck.mark"
"""The property that identifies the client that made an object."""

QUERY = "query"
"""The field of a view that is the number in its query."""

_LOADS = {"table": "loadTable", "view": "loadView"}
_RENAMES = {"table": "renameTable", "view": "renameView"}

Json = dict[str, Any]

# Runs are compared by these texts, so they must not depend on which client was faster.
_WORDS = {
    AnomalyKind.DUPLICATE_SUCCESS: ("one success", "several successes"),
    AnomalyKind.LOST_UPDATE: ("what was acknowledged", "its loss"),
    AnomalyKind.RESURRECTED: ("what was dropped stays dropped", "it is there again"),
    AnomalyKind.PHANTOM_SUCCESS: ("nothing of a refused request", "its effect"),
    AnomalyKind.STALE_READ: ("what was acknowledged", "an earlier state"),
    AnomalyKind.HALF_VISIBLE: ("all of a transaction, or nothing of it", "a part of it"),
    AnomalyKind.CYCLIC: ("one transaction after another", "a part of each"),
    AnomalyKind.UNEXPLAINED: ("answers that fit some order of the requests", "no order fits"),
}


# ----------------------------------------------------------------------------- requests


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


def rename(source: Table, target: Table, deeds: Iterable[Deed] = (), kind: str = "table") -> Move:
    """Return the rename of a table or view."""
    body = {"source": source.identifier, "destination": target.identifier}
    return Move(_RENAMES[kind], body=body, deeds=tuple(deeds))


def load(namespace: Namespace, name: str, kind: str = "table", label: str = "") -> Move:
    """Return a load of a table or view that reads its existence, its maker and its fields.

    The fields are its properties, of a table also the snapshot ids of its refs under their names,
    and of a view the number in its query. In the history it has its own name, or the ``label``.
    """
    label = label or named(namespace, name)

    def reads(reply: Reply) -> tuple[Deed, ...]:
        if reply.status == 404:
            return (Seen(label, present=False),)
        if reply.status != 200:
            return ()
        metadata = reply.member("metadata")
        if not isinstance(metadata, dict):
            return (Seen(label, present=True),)
        properties = metadata.get("properties") or {}
        more = heads_in(metadata) if kind == "table" else {QUERY: number_in_query(metadata)}
        shown = {**properties, **more}
        return (Seen(label, present=True, holder=properties.get(MARK), fields=shown),)

    return Move(_LOADS[kind], {"namespace": namespace, kind: name}, reads=reads)


def heads_in(metadata: Json) -> dict[str, Any]:
    """Return the snapshot ids of the refs in metadata, of main in whichever form it is shown."""
    current = metadata.get("current-snapshot-id")
    refs = (metadata.get("refs") or {}).items()
    heads = {ref: head.get("snapshot-id") for ref, head in refs}
    return {"main": None if current == -1 else current, **heads}


def number_in_query(metadata: Json) -> str | None:
    """Return the first number in the query of a view, however the catalog writes its words."""
    versions = current_versions(metadata)
    queries = (versions[0].get("representations") or [{}])[:1] if versions else ()
    found = [re.search(r"[0-9]+", str(query.get("sql"))) for query in queries]
    return found[0].group() if found and found[0] else None


def load_namespace(namespace: Namespace, label: str = "") -> Move:
    """Return a load of a namespace that reads its existence, its maker and its properties.

    Of a catalog that shows no properties, its existence only.
    """
    label = label or named(namespace)

    def reads(reply: Reply) -> tuple[Deed, ...]:
        if reply.status == 404:
            return (Seen(label, present=False),)
        if reply.status != 200:
            return ()
        shown = find(reply.json(), ("properties",))
        properties = shown if isinstance(shown, dict) else {}
        holder, fields = properties.get(MARK), shown if isinstance(shown, dict) else None
        return (Seen(label, present=True, holder=holder, fields=fields),)

    return Move("loadNamespaceMetadata", {"namespace": namespace}, reads=reads)


def look(catalog: Catalog, *moves: Move) -> tuple[Event, ...]:
    """Load objects one after another, after all concurrent requests."""
    return race(catalog, {"reader": moves})


def given(*deeds: Deed) -> Event:
    """Return the event of the state before the race."""
    return Event("before", 0, 0, Answer.OK, deeds, label="made what the race starts with")


# ---------------------------------------------------------------------------- judgement


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
    asked = [event for event in history if event.process in CLIENTS and not is_read(event)]
    if any(event.answer is Answer.OK for event in asked):
        return
    labels = {event.label for event in asked}
    if labels and all(label.endswith((", 403", ", 406")) for label in labels):
        why = f"every attempt was answered so: {'; '.join(sorted(labels))}"
        raise NotOffered(why, SkipKind.NOT_APPLICABLE)
    why = f"no attempt of any client succeeded: {'; '.join(sorted(labels)[:3])}"
    raise Blocked(due, why, exchange=max((e.exchange or 0 for e in asked), default=None))
