"""Defects of reading views: views that do not exist, or that are shown altered."""

from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import (
    answer_again,
    by_name,
    keep_listed,
)
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import (
    alter_request_body,
)

_UNKNOWN_ID = 4711


@defect(
    "view-load-dangling-version",
    on=answer_of("loadView"),
    breaks="loadView.full-metadata",
    suffering="Nobody can read the view.",
)
def _dangling_version(body: Json) -> Json:
    """A view is loaded with the id of a version that was cleaned up as the current one."""
    return body | {"metadata": body["metadata"] | {"current-version-id": _UNKNOWN_ID}}


@defect(
    "view-load-without-its-schema",
    on=answer_of("loadView"),
    breaks="loadView.full-metadata",
    suffering="Nobody can tell the columns of the view.",
)
def _without_its_schema(body: Json) -> Json:
    """A version of a view refers to a schema that is not sent with it."""
    versions = [each | {"schema-id": _UNKNOWN_ID} for each in body["metadata"]["versions"]]
    return body | {"metadata": body["metadata"] | {"versions": versions}}


declare_each(
    ("view-drop-listed", "dropView.gone", "A dropped view stays in a list that is kept apart.",
     "SHOW VIEWS shows what can no longer be read.", by(keep_listed, "dropView", "listViews")),
    ("view-exists-after-drop", "viewExists.agrees-with-load",
     "The existence check answers from a cache of names that forgets nothing.",
     "CREATE VIEW IF NOT EXISTS makes no view where one was dropped.",
     by(answer_again, "viewExists", by_name, blindly=True)),
    ("view-location-ignored", "createView.location-kept",
     "Views are where the server puts them, whatever was asked for.",
     "A view's metadata is where its owner did not want it.",
     by(alter_request_body, "createView", lambda body: {**body, "location": None})),
)  # fmt: skip
