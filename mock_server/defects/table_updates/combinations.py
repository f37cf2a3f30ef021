"""Defects of updates that meet in one commit, one creation or one transaction."""

from collections.abc import Callable, Sequence
from typing import Any

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_request_body

Updates = list[Json]

_REF = "assert-ref-snapshot-id"
_IDS = (
    "assert-current-schema-id",
    "assert-default-spec-id",
    "assert-default-sort-order-id",
)
_WAYS = {"updateTable": "", "commitTransaction": "-by-transaction"}


def alter_changes(
    registries: Registries, operation_id: str, alter: Callable[[Json], Updates]
) -> None:
    """Let a commit, or each change of a transaction, have altered updates."""

    def of_change(change: Any) -> Any:
        try:
            return {**change, "updates": alter(change)}
        except (AttributeError, KeyError, TypeError):  # malformed: refused as usual
            return change

    def altered(body: Json) -> Json:
        changes = body.get("table-changes")
        if isinstance(changes, list):
            return {**body, "table-changes": [of_change(each) for each in changes]}
        whole: Json = of_change(body)
        return whole

    alter_request_body(registries, operation_id, altered)


def updates_of(change: Json) -> Updates:
    """Return the updates of a commit, or of a change of a transaction."""
    updates: Updates = change["updates"]
    return updates


def said_by(updates: Sequence[Json], action: str, *path: str) -> set[Any]:
    """Return the values at a path in the updates of this action."""
    found = set()
    for update in updates:
        if update.get("action") == action:
            value: Any = update
            for step in path:
                value = value.get(step)
            found.add(value)
    return found


# ---- transactions of one change


def _declare_of_transactions(
    name: str, title: str, suffering: str, alter: Callable[[Updates], Updates]
) -> None:

    declare(
        name,
        title,
        by(alter_changes, "commitTransaction", lambda change: alter(updates_of(change))),
        breaks="states.life-by-transactions",
        suffering=suffering,
    )


_declare_of_transactions(
    "states-transaction-adds-first",
    "A transaction adds whatever is to be added, and then does the rest.",
    "What was added last becomes current, whatever the client had chosen.",
    lambda updates: sorted(updates, key=lambda each: not str(each["action"]).startswith("add-")),
)
_declare_of_transactions(
    "states-transaction-one-kind-of-statistics",
    "A transaction that sets statistics leaves out those of partitions.",
    "Partition statistics that were computed are not there.",
    lambda updates: [
        each
        for each in updates
        if each["action"] != "set-partition-statistics"
        or not said_by(updates, "set-statistics", "action")
    ],
)
_declare_of_transactions(
    "states-transaction-without-upgrades",
    "A transaction does not raise the format version.",
    "A table is of version 2 after it was raised to 3.",
    lambda updates: [
        each
        for each in updates
        if each["action"] != "upgrade-format-version" or said_by(updates, "assign-uuid", "action")
    ],
)


def _declare_careless(
    name: str, title: str, kept: Callable[[Sequence[Json]], Sequence[Json]]
) -> None:
    def install(registries: Registries) -> None:
        def of_change(change: Json) -> Json:
            return {**change, "requirements": [*kept(change["requirements"])]}

        def altered(body: Json) -> Json:
            try:
                changes = [of_change(each) for each in body["table-changes"]]
            except (AttributeError, KeyError, TypeError):
                return body
            return {**body, "table-changes": changes}

        alter_request_body(registries, "commitTransaction", altered)

    suffering = "Concurrent writers overwrite each other where they use transactions."
    declare(name, title, install, breaks="states.conflicts-by-transaction", suffering=suffering)


def _is_on(type_: str, assertion: Json) -> bool:
    """Return whether this is a well-formed assertion of this type; malformed ones are refused."""
    value = assertion.get(type_.removeprefix("assert-"), assertion.get("snapshot-id", ""))
    return bool(assertion["type"] == type_) and isinstance(value, int | None)


def _on_ref(assertion: Json) -> bool:
    return _is_on(_REF, assertion) and "snapshot-id" in assertion and "ref" in assertion


_declare_careless(
    "states-transaction-asserts-no-ids",
    "Of a transaction's assertions those on schemas, specs and sort orders are not judged.",
    lambda sent: [each for each in sent if not any(_is_on(type_, each) for type_ in _IDS)],
)
_declare_careless(
    "states-transaction-one-ref-is-asserted",
    "Of a transaction's assertions on refs the last one of each table counts.",
    lambda sent: [
        *(each for each in sent if not _on_ref(each)),
        *[each for each in sent if _on_ref(each)][-1:],
    ],
)
_declare_careless(
    "states-transaction-asserts-main-only",
    "Of a transaction's assertions on refs only those on main are judged.",
    lambda sent: [each for each in sent if not _on_ref(each) or each["ref"] == "main"],
)


# ---- updates that meet in one commit


def _kept_snapshots(updates: Updates) -> Updates:
    added = said_by(updates, "add-snapshot", "snapshot", "snapshot-id")
    return [each for each in updates if not added.intersection(each.get("snapshot-ids") or ())]


def _kept_statistics(updates: Updates) -> Updates:
    new = said_by(updates, "set-statistics", "statistics", "snapshot-id")
    return [
        each
        for each in updates
        if each["action"] != "remove-statistics" or each.get("snapshot-id") not in new
    ]


def _kept_keys(updates: Updates) -> Updates:
    new = said_by(updates, "add-encryption-key", "encryption-key", "key-id")
    return [
        each
        for each in updates
        if each["action"] != "remove-encryption-key" or each.get("key-id") not in new
    ]


def _without_tags(updates: Updates) -> Updates:
    return [each for each in updates if each.get("type") != "tag"]


def _without_statistics(updates: Updates) -> Updates:
    return [each for each in updates if each["action"] != "set-statistics"]


def _with_first_default(updates: Updates) -> Updates:
    settings = [at for at, each in enumerate(updates) if each["action"] == "set-default-spec"]
    return [each for at, each in enumerate(updates) if at not in settings[1:]]


_MET = {
    "snapshot-stays": (
        "A snapshot that the same {} adds is not removed.",
        "Snapshots that nobody needs keep their files for ever.",
        _kept_snapshots,
    ),
    "statistics-stay": (
        "Statistics that the same {} sets are not removed.",
        "Queries are planned with statistics that a client has taken back.",
        _kept_statistics,
    ),
    "key-stays": (
        "An encryption key that the same {} adds is not removed.",
        "A key that was taken back still opens the table.",
        _kept_keys,
    ),
}
_CREATED = {
    "tags-left-out": (
        "A {} that creates a table makes branches only.",
        "The first version of a table that was replaced has no tag.",
        _without_tags,
    ),
    "statistics-left-out": (
        "A {} that creates a table has no use for statistics.",
        "Tables made by CREATE TABLE AS SELECT have no statistics.",
        _without_statistics,
    ),
    "first-default-stays": (
        "A {} that creates a table takes the first spec that it is told for the default one.",
        "A table that was created in several steps is partitioned as in the first of them.",
        _with_first_default,
    ),
}


def _declare_met(operation_id: str, suffix: str) -> None:
    kind = "transaction" if suffix else "commit"
    for rows, slips in (("life-at-once", _MET), ("created-at-once", _CREATED)):
        for name, (title, suffering, alter) in slips.items():
            _declare_one(
                f"states-{name}{suffix}", f"states.{rows}{suffix}", operation_id, alter,
                title=title.format(kind), suffering=suffering,
            )  # fmt: skip


def _declare_one(
    name: str,
    breaks: str,
    operation_id: str,
    alter: Callable[[Updates], Updates],
    *,
    title: str,
    suffering: str,
) -> None:
    creating = breaks.startswith("states.created")

    def slipped(change: Json) -> Updates:
        updates = updates_of(change)
        creates = any(each.get("type") == "assert-create" for each in change["requirements"])
        return alter(updates) if creates == creating else updates

    declare(
        name, title, by(alter_changes, operation_id, slipped), breaks=breaks, suffering=suffering
    )


for _operation_id, _suffix in _WAYS.items():
    _declare_met(_operation_id, _suffix)
