"""Ways in which servers get the requirements of a commit wrong."""

from typing import Any

from icecheck.mock_server.assertions import ASSERTIONS
from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body
from icecheck.mock_server.defects.versions import AssertionCheck, alter_assertion
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.problem import commit_failed

_REF = "assert-ref-snapshot-id"
_LOST = "Concurrent writers overwrite each other."
_STUCK = "Every commit conflicts, whoever sends it."


def _declare_ignored(type_: str) -> None:
    def install(registries: Registries) -> None:
        registries.assertions[type_] = lambda _assertion, _metadata: None

    install.__doc__ = f"{type_} is parsed and then forgotten."
    declare = defect(
        f"assertion-ignored-{type_}", breaks=f"assertion.{type_}.violated", suffering=_LOST
    )
    declare(install)


def _declare_always_fails(type_: str) -> None:
    def fails(_assertion: Any, _metadata: TableMetadata | None) -> None:
        raise commit_failed(f"Requirement failed: {type_}")

    def install(registries: Registries) -> None:
        registries.assertions[type_] = fails

    install.__doc__ = f"{type_} is not implemented, and so never holds."
    declare = defect(
        f"assertion-fails-{type_}", breaks=f"assertion.{type_}.satisfied", suffering=_STUCK
    )
    declare(install)


for _type in ASSERTIONS:
    _declare_ignored(_type)
    _declare_always_fails(_type)


@defect(
    "assertion-field-id-at-least",
    breaks="assertion.assert-last-assigned-field-id.violated",
    suffering="Two writers give the same id to different columns.",
)
def _field_id_at_least(registries: Registries) -> None:
    """The last assigned column id only has to be as high as the table's."""

    def at_least(_faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        if assertion.last_assigned_field_id < metadata.last_column_id:
            raise commit_failed("Requirement failed: last assigned field id")

    alter_assertion(registries, "assert-last-assigned-field-id", at_least)


@defect(
    "assertion-partition-id-at-most",
    breaks="assertion.assert-last-assigned-partition-id.violated",
    suffering="Two writers give the same id to different partition fields.",
)
def _partition_id_at_most(registries: Registries) -> None:
    """The last assigned partition id only has to be no higher than the table's."""

    def at_most(_faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        if assertion.last_assigned_partition_id > metadata.last_partition_id:
            raise commit_failed("Requirement failed: last assigned partition id")

    alter_assertion(registries, "assert-last-assigned-partition-id", at_most)


@defect(
    "assertion-ref-history-will-do",
    breaks="assertion.assert-ref-snapshot-id.violated",
    suffering=_LOST,
)
def _ref_history_will_do(registries: Registries) -> None:
    """A ref may be asserted at any snapshot that the table has."""

    def known(_faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        ids = {snapshot.snapshot_id for snapshot in metadata.snapshots}
        if assertion.snapshot_id not in {None, *ids}:
            raise commit_failed("Requirement failed: unknown snapshot")

    alter_assertion(registries, _REF, known)


@defect(
    "assertion-missing-ref-holds",
    breaks="assertion.assert-ref-snapshot-id.violated",
    suffering="A commit to a branch that somebody removed brings it back.",
)
def _missing_ref_holds(registries: Registries) -> None:
    """Whatever is asserted of a ref that does not exist holds."""

    def of_existing(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        if assertion.ref in metadata.refs:
            faithful(assertion, metadata)

    alter_assertion(registries, _REF, of_existing)


@defect(
    "assertion-tags-are-unknown",
    breaks="assertion.assert-ref-snapshot-id.satisfied",
    suffering="Nobody can replace a tag safely.",
)
def _tags_are_unknown(registries: Registries) -> None:
    """Only branches are looked up; a tag is a ref that does not exist."""

    def of_branches(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        ref = metadata.refs.get(assertion.ref)
        if ref is not None and ref.type == "tag":
            raise commit_failed(f"Requirement failed: branch {assertion.ref} is missing")
        faithful(assertion, metadata)

    alter_assertion(registries, _REF, of_branches)


@defect(
    "assertion-null-means-any",
    breaks="assertion.assert-ref-snapshot-id.null-violated",
    suffering="Two first writes to an empty table both succeed, and one is lost.",
)
def _null_means_any(registries: Registries) -> None:
    """A null snapshot id is taken for no condition."""

    def of_ids(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        if assertion.snapshot_id is not None:
            faithful(assertion, metadata)

    alter_assertion(registries, _REF, of_ids)


@defect(
    "assertion-without-id-dropped",
    breaks="assertion.assert-ref-snapshot-id.without-id",
    suffering=_LOST,
)
def _without_id_dropped(registries: Registries) -> None:
    """A requirement on a ref that says no snapshot id demands nothing."""

    def with_ids(body: dict[str, Any]) -> dict[str, Any]:
        sent = body.get("requirements") or []
        kept = [r for r in sent if r.get("type") != _REF or "snapshot-id" in r]
        return {**body, "requirements": kept}

    alter_request_body(registries, "updateTable", with_ids)


@defect(
    "assertion-null-never-holds",
    breaks="assertion.assert-ref-snapshot-id.null-satisfied",
    suffering="The first write to every table fails.",
)
def _null_never_holds(registries: Registries) -> None:
    """A null snapshot id is compared with the -1 of a table without snapshots."""

    def of_ids(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
        if assertion.snapshot_id is None:
            raise commit_failed("Requirement failed: expected id null != -1")
        faithful(assertion, metadata)

    alter_assertion(registries, _REF, of_ids)
