"""Defects of reading views: views that do not exist, or that are shown altered."""

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.protocol import replies

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


@defect(
    "view-drop-listed",
    breaks="dropView.gone",
    suffering="SHOW VIEWS shows what can no longer be read.",
)
def _drop_listed(registries: Registries) -> None:
    """A dropped view stays in a list that is kept apart."""
    dropped: list[Json] = []

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        dropped.append({"namespace": [*call.namespace], "name": call.name})
        return outcome

    def listed(call: Call, body: Json) -> Json:
        more = [each for each in dropped if each["namespace"] == [*call.namespace]]
        return body | {"identifiers": [*body["identifiers"], *more]}

    wrap(registries, "dropView", drop)
    alter_answer(registries, "listViews", listed)


@defect(
    "view-exists-after-drop",
    breaks="viewExists.agrees-with-load",
    suffering="CREATE VIEW IF NOT EXISTS makes no view where one was dropped.",
)
def _exists_after_drop(registries: Registries) -> None:
    """The existence check answers from a cache of names that forgets nothing."""
    seen: set[tuple[tuple[str, ...], str]] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name = (call.namespace, call.name)
        if name in seen:
            return Outcome(state, replies.NO_CONTENT)
        outcome = faithful(state, call)
        seen.add(name)
        return outcome

    wrap(registries, "viewExists", around)


declare(
    "view-location-ignored",
    "Views are where the server puts them, whatever was asked for.",
    by(alter_request_body, "createView", lambda body: {**body, "location": None}),
    breaks="createView.location-kept",
    suffering="A view's metadata is where its owner did not want it.",
)
