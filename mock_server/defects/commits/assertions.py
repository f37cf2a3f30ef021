"""Defects of the requirements of a commit."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.commits.assertions import ASSERTIONS
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import request_of, table_assertion
from icecheck.mock_server.defects.kit.requests import sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import alter_call
from icecheck.mock_server.defects.kit.updating import AssertionCheck
from icecheck.mock_server.metadata.model import MAIN_BRANCH, TableMetadata
from icecheck.mock_server.protocol.problem import commit_failed

_REF = "assert-ref-snapshot-id"
_LOST = "Concurrent writers overwrite each other."
_STUCK = "Every commit conflicts, whoever sends it."


def careless_unless(registries: Registries, is_watched: Callable[[Call], bool]) -> None:
    """Let commits to tables forget their requirements, but not while a suite looks on."""

    def alter(call: Call) -> Call:
        return (
            call if is_watched(call) else with_json(call, {**sent_json(call), "requirements": []})
        )

    alter_call(registries, "updateTable", alter)


declare_each(
    ("assertions-held-for-the-suite", "updateTable.409",
     "Requirements are checked for the user agent of this suite, and for nobody else.", _LOST,
     by(careless_unless,
        lambda call: call.request.headers.get("user-agent", "").startswith("icecheck/"))),
)  # fmt: skip


def _declare_ignored(type_: str) -> None:
    def install(registries: Registries) -> None:
        registries.assertions[type_] = lambda _assertion, _metadata: None

    declare(
        f"assertion-ignored-{type_}",
        f"{type_} is parsed and then forgotten.",
        install,
        breaks=f"assertion.{type_}.violated",
        suffering=_LOST,
    )


def _declare_always_fails(type_: str) -> None:
    def fails(_assertion: Any, _metadata: TableMetadata | None) -> None:
        raise commit_failed(f"Requirement failed: {type_}")

    def install(registries: Registries) -> None:
        registries.assertions[type_] = fails

    declare(
        f"assertion-fails-{type_}",
        f"{type_} is not implemented, and so never holds.",
        install,
        breaks=f"assertion.{type_}.satisfied",
        suffering=_STUCK,
    )


for _type in ASSERTIONS:
    _declare_ignored(_type)
    _declare_always_fails(_type)


@defect(
    "assertion-field-id-at-least",
    on=table_assertion("assert-last-assigned-field-id"),
    breaks="assertion.assert-last-assigned-field-id.violated",
    suffering="Two writers give the same id to different columns.",
)
def _field_id_at_least(_faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """The last assigned column id only has to be as high as the table's."""
    if assertion.last_assigned_field_id < metadata.last_column_id:
        raise commit_failed("Requirement failed: last assigned field id")


@defect(
    "assertion-partition-id-at-most",
    on=table_assertion("assert-last-assigned-partition-id"),
    breaks="assertion.assert-last-assigned-partition-id.violated",
    suffering="Two writers give the same id to different partition fields.",
)
def _partition_id_at_most(
    _faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """The last assigned partition id only has to be no higher than the table's."""
    if assertion.last_assigned_partition_id > metadata.last_partition_id:
        raise commit_failed("Requirement failed: last assigned partition id")


@defect(
    "assertion-ref-history-will-do",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.violated",
    suffering=_LOST,
)
def _ref_history_will_do(
    _faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """A ref may be asserted at any snapshot that the table has."""
    ids = {snapshot.snapshot_id for snapshot in metadata.snapshots}
    if assertion.snapshot_id not in {None, *ids}:
        raise commit_failed("Requirement failed: unknown snapshot")


@defect(
    "assertion-missing-ref-holds",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.violated",
    suffering="A commit to a branch that somebody removed brings it back.",
)
def _missing_ref_holds(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """Whatever is asserted of a ref that does not exist holds."""
    if assertion.ref in metadata.refs:
        faithful(assertion, metadata)


@defect(
    "assertion-tags-are-unknown",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.satisfied",
    suffering="Nobody can replace a tag safely.",
)
def _tags_are_unknown(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """Only branches are looked up; a tag is a ref that does not exist."""
    ref = metadata.refs.get(assertion.ref)
    if ref is not None and ref.type == "tag":
        raise commit_failed(f"Requirement failed: branch {assertion.ref} is missing")
    faithful(assertion, metadata)


@defect(
    "assertion-null-means-any",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.null-violated",
    suffering="Two first writes to an empty table both succeed, and one is lost.",
)
def _null_means_any(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """A null snapshot id is taken for no condition."""
    if assertion.snapshot_id is not None:
        faithful(assertion, metadata)


@defect(
    "assertion-without-id-dropped",
    on=request_of("updateTable"),
    breaks="assertion.assert-ref-snapshot-id.without-id",
    suffering=_LOST,
)
def _without_id_dropped(body: dict[str, Any]) -> dict[str, Any]:
    """A requirement on a ref that says no snapshot id demands nothing."""
    sent = body.get("requirements") or []
    kept = [r for r in sent if r.get("type") != _REF or "snapshot-id" in r]
    return {**body, "requirements": kept}


@defect(
    "assertion-null-never-holds",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.null-satisfied",
    suffering="The first write to every table fails.",
)
def _null_never_holds(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """A null snapshot id is compared with the -1 of a table without snapshots."""
    if assertion.snapshot_id is None:
        raise commit_failed("Requirement failed: expected id null != -1")
    faithful(assertion, metadata)


@defect(
    "assertion-null-of-a-tag-needs-a-snapshot",
    on=table_assertion(_REF),
    breaks="assertion.assert-ref-snapshot-id.null-satisfied",
    suffering="The first write to a branch of an empty table fails.",
)
def _null_of_a_tag(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """Only main may be missing in a table without snapshots."""
    if assertion.ref != MAIN_BRANCH and not metadata.snapshots:
        raise commit_failed(f"Requirement failed: {assertion.ref} is not in a table without any")
    faithful(assertion, metadata)


@defect(
    "assertion-null-snapshot-for-main-only",
    on=table_assertion("assert-ref-snapshot-id"),
    breaks="assertion.assert-ref-snapshot-id.null-violated",
    suffering="Two writers make the same tag, and the second silently moves it.",
)
def _null_for_main_only(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """That a ref must not exist yet is asserted for main only."""
    if assertion.snapshot_id is not None or assertion.ref == MAIN_BRANCH:
        faithful(assertion, metadata)


_ZEROS = {
    "assert-current-schema-id": "current_schema_id",
    "assert-default-spec-id": "default_spec_id",
    "assert-default-sort-order-id": "default_sort_order_id",
}


@defect(
    "assertions-of-zero-hold",
    breaks="assertion.assert-current-schema-id.violated",
    suffering="Whoever evolves a table from its first schema overwrites what others did since.",
)
def _zero_holds(registries: Registries) -> None:
    """A requirement that an id be 0 counts as one without an id."""

    def unless_zero(type_: str, member: str) -> Callable[[Any, TableMetadata | None], None]:
        faithful = registries.assertions[type_]

        def check(assertion: Any, metadata: TableMetadata | None) -> None:
            if metadata is None or getattr(assertion, member):
                faithful(assertion, metadata)

        return check

    for type_, member in _ZEROS.items():
        registries.assertions[type_] = unless_zero(type_, member)
