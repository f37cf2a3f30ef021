"""Joins that list the same thing of a table several times."""

from typing import Any

from icecheck.mock_server.context import Call, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_answer

Json = dict[str, Any]

_REFUSED = "The Java client refuses to read such a table."


@defect("refs-load-has-a-row-per-tag", breaks="metadata.snapshots-once", suffering=_REFUSED)
def _row_per_tag(registries: Registries) -> None:
    """A load of the snapshots with refs repeats those that several tags name."""

    def joined(call: Call, body: Json) -> Json:
        if call.query.get("snapshots") != "refs":
            return body
        metadata = body["metadata"]
        tags = [r["snapshot-id"] for r in metadata.get("refs", {}).values() if r["type"] == "tag"]
        rows: list[Json] = []
        for snapshot in metadata.get("snapshots", ()):
            rows += [snapshot] * max(1, tags.count(snapshot["snapshot-id"]))
        return {**body, "metadata": {**metadata, "snapshots": rows}}

    alter_answer(registries, "loadTable", joined)


@defect("commit-answers-the-current-schema-twice", breaks="metadata.ids-once", suffering=_REFUSED)
def _schema_twice(registries: Registries) -> None:
    """The answer to a commit has the current schema at the end of the schemas once more."""

    def again(_: Call, body: Json) -> Json:
        metadata = body["metadata"]
        current = metadata["current-schema-id"]
        found = [each for each in metadata["schemas"] if each["schema-id"] == current]
        return {**body, "metadata": {**metadata, "schemas": [*metadata["schemas"], *found]}}

    alter_answer(registries, "updateTable", again)
