"""Defects of joins that list an entry of a table several times."""

from icecheck.mock_server.core.context import Call
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_answer

_REFUSED = "The Java client refuses to read such a table."


@defect(
    "refs-load-has-a-row-per-tag",
    on=through(alter_answer, "loadTable"),
    breaks="metadata.snapshots-once",
    suffering=_REFUSED,
)
def _row_per_tag(call: Call, body: Json) -> Json:
    """A load of the snapshots with refs repeats those that several tags name."""
    if call.query.get("snapshots") != "refs":
        return body
    metadata = body["metadata"]
    tags = [r["snapshot-id"] for r in metadata.get("refs", {}).values() if r["type"] == "tag"]
    rows: list[Json] = []
    for snapshot in metadata.get("snapshots", ()):
        rows += [snapshot] * max(1, tags.count(snapshot["snapshot-id"]))
    return {**body, "metadata": {**metadata, "snapshots": rows}}


@defect(
    "commit-answers-the-current-schema-twice",
    on=through(alter_answer, "updateTable"),
    breaks="metadata.ids-once",
    suffering=_REFUSED,
)
def _schema_twice(_: Call, body: Json) -> Json:
    """The answer to a commit has the current schema at the end of the schemas once more."""
    metadata = body["metadata"]
    current = metadata["current-schema-id"]
    found = [each for each in metadata["schemas"] if each["schema-id"] == current]
    return {**body, "metadata": {**metadata, "schemas": [*metadata["schemas"], *found]}}
