"""Defects of the answers to changes: they differ in one member from what a load then shows."""

from collections.abc import Callable

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import alter_answer, alter_body

_LAST_OF_ITS_LOG = "Who made the change shows a history that lacks it."


def _showing(
    registries: Registries, operation_id: str, member: str, alter: Callable[[Json], Json]
) -> None:
    """Alter each object in a list of the metadata that an operation answers."""

    def shown(body: Json) -> Json:
        metadata = body["metadata"]
        altered = {member: [alter(each) for each in metadata.get(member) or ()]}
        return body | {"metadata": metadata | altered}

    alter_body(registries, operation_id, shown)


def _without_last(registries: Registries, operation_id: str, log: str) -> None:
    """Leave the last entry of a log out of an answer."""

    def shown(body: Json) -> Json:
        entries = (body["metadata"].get(log) or [])[:-1]
        return body | {"metadata": body["metadata"] | {log: entries}}

    alter_body(registries, operation_id, shown)


def _staged(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Alter the answers to staged creations."""
    alter_answer(
        registries,
        "createTable",
        lambda call, body: alter(body) if sent_json(call).get("stage-create") else body,
    )


def _without_docs(schema: Json) -> Json:
    fields = [{k: v for k, v in each.items() if k != "doc"} for each in schema["fields"]]
    return schema | {"fields": fields}


def _later(member: str) -> Callable[[Json], Json]:
    return lambda each: each | {member: each[member] + 7}


def _counting_on(body: Json) -> Json:
    metadata = body["metadata"]
    return body | {"metadata": metadata | {"last-column-id": metadata["last-column-id"] + 1}}


def _without_access(body: Json) -> Json:
    return {k: v for k, v in body.items() if k not in {"config", "storage-credentials"}}


def _trimmed(body: Json) -> Json:
    properties = body.get("properties") or {}
    return body | {"properties": {key: value.strip() for key, value in properties.items()}}


declare_each(
    ("namespace-answer-without-blanks", "roundtrip.namespace-created",
     "The answer to the creation of a namespace has its properties without outer blanks.",
     "Who made the namespace knows other values than everybody else.",
     by(alter_body, "createNamespace", _trimmed)),
    ("namespace-change-reported-in-small-letters", "roundtrip.namespace-updated",
     "The answer to a change of properties lists their keys in small letters.",
     "A client takes a property that it has set for one that was not set.",
     by(alter_body, "updateProperties",
        lambda body: body | {"updated": [key.lower() for key in body["updated"]]})),
    ("table-answer-without-docs", "createTable.answer-is-the-table",
     "The answer to a creation has the columns without their docs.",
     "DESCRIBE right after CREATE TABLE shows no comments.",
     by(_showing, "createTable", "schemas", _without_docs)),
    ("commit-answer-dates-snapshots-anew", "commit.answer-is-the-table",
     "The answer to a commit has snapshots with the time at which they were written.",
     "FOR TIMESTAMP AS OF finds another snapshot than after the next load.",
     by(_showing, "updateTable", "snapshots", _later("timestamp-ms"))),
    ("commit-answer-lacks-its-snapshot-in-the-log", "commit.answer-is-the-table",
     "The answer to a commit has the snapshot log of the version before.", _LAST_OF_ITS_LOG,
     by(_without_last, "updateTable", "snapshot-log")),
    ("commit-answer-lacks-the-file-before", "states.life",
     "The answer to a commit has the metadata log of the version before.", _LAST_OF_ITS_LOG,
     by(_without_last, "updateTable", "metadata-log")),
    ("register-answer-lacks-the-last-snapshot-in-the-log", "states.registered-again",
     "The answer to a registration leaves the last entry of the snapshot log out.",
     _LAST_OF_ITS_LOG, by(_without_last, "registerTable", "snapshot-log")),
    ("view-answer-is-dated-anew", "createView.answer-is-the-view",
     "The answer to the creation of a view has the time of the answer.",
     "Who created the view shows another history of it than everybody else.",
     by(_showing, "createView", "versions", _later("timestamp-ms"))),
    ("view-answer-without-summary", "createView.answer-is-the-view",
     "The answer to the creation of a view has versions without what their summary says.",
     "Who created the view does not see which engine has made it.",
     by(_showing, "createView", "versions", lambda each: each | {"summary": {}})),
    ("view-commit-answer-without-summary", "replaceView.answer-is-the-view",
     "The answer to a commit to a view has versions without what their summary says.",
     "Who changed the view does not see which engine had made it.",
     by(_showing, "replaceView", "versions", lambda each: each | {"summary": {}})),
    ("staged-table-counts-on", "createTable.stage-returns-metadata",
     "Staging answers a last column id that no column has.",
     "Tables that are made by CREATE TABLE AS SELECT have gaps in their ids.",
     by(_staged, _counting_on)),
    ("staged-table-without-config", "createTable.access-as-loaded",
     "The configuration of a table comes when it is loaded, and not when it is staged.",
     "CREATE TABLE AS SELECT looks for the storage in another region.",
     by(_staged, lambda body: body | {"config": {}})),
    ("staged-table-without-access", "createTable.access-as-loaded",
     "Credentials come with tables that exist, and not with staged ones.",
     "CREATE TABLE AS SELECT cannot write its rows.", by(_staged, _without_access)),
)  # fmt: skip
