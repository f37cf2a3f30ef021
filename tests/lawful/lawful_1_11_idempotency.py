"""Catalogs that give idempotency keys their meaning otherwise than the mock, or none (1.11.0)."""

import time
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from icecheck.mock_server import IdempotencySettings
from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Delay, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.keying import (
    FaithfulKeys,
    around_keys,
    ignore_keys,
    keys_of,
    show_again_otherwise,
)
from icecheck.mock_server.defects.kit.remembering import by_body, by_path, refuse_later
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, refuse_as, wrap
from icecheck.mock_server.planning.plans import PlanningSettings
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KEY_HEADER
from tests.lawful.freedom import Freedom
from tests.lawful.lawful_1_11_registration import LAWFUL_REGISTRATIONS, no_table_files

_TABLES = ("createTable", "updateTable")
_WINDOW_MS = 100
_SETTLED_MS = 700
_RECENT_MS = 300_000
_RUNNING = "silent: what is said while the first one runs"


def _current_state(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Answer a success again with what is there now, as Polaris does."""
    held = faithful.held(state, call)
    outcome = faithful(state, call)
    entry = state.table(call.namespace, call.name or sent_name(call))
    if held is None or entry is None or held.reply.status >= 300:
        return outcome
    return replace(outcome, reply=publication.load_reply(entry))


def in_progress(status: int, *operation_ids: str) -> Any:
    """Return what refuses a key for as long as its first request runs, and stores no refusal."""

    def install(registries: Registries) -> None:
        begun: dict[str, float] = {}

        def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
            key = call.request.headers[KEY_HEADER]
            since = begun.setdefault(key, time.monotonic())
            if faithful.held(state, call) is None:
                outcome = faithful(state, call)
                return replace(outcome, effects=(*outcome.effects, Delay(_WINDOW_MS + 10)))
            if (time.monotonic() - since) * 1000 < _WINDOW_MS:
                later = (("retry-after", "0.1"),) if status in {429, 503} else ()
                told = (status, "CommitFailedException", "This is being done", later)
                return Outcome(state, replies.error_reply(*told))
            return faithful(state, call)

        for each in operation_ids:
            around_keys(registries, each, around)

    return install


def _only_version_7(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Refuse every key that is no UUIDv7 in lower case."""
    text = call.request.headers[KEY_HEADER]
    if UUID(text).version != 7 or str(UUID(text)) != text:
        raise Problem(400, "BadRequestException", "This is no UUIDv7")
    return faithful(state, call)


def _slow(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Take longer for each answer than keys live."""
    outcome = faithful(state, call)
    return replace(outcome, effects=(*outcome.effects, Delay(30)))


def _only_recent(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Refuse a key whose own time is not about now: its answer might be forgotten already."""
    age_ms = time.time() * 1000 - (UUID(call.request.headers[KEY_HEADER]).int >> 80)
    if abs(age_ms) > _RECENT_MS:
        raise Problem(400, "BadRequestException", "This key is not of today")
    return faithful(state, call)


def _as_missing(body: dict[str, Any]) -> dict[str, Any]:
    """Tell of removed properties that they are missing: by now they are."""
    return body | {"removed": [], "missing": [*body.get("missing", []), *body["removed"]]}


def _settles_later(registries: Registries) -> None:
    """Answer a request a moment before its key is settled; who asks meanwhile is to wait."""
    settled: dict[str, float] = {}

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        key = call.request.headers[KEY_HEADER]
        if faithful.held(state, call) is None:
            settled[key] = time.monotonic() + _SETTLED_MS / 1000
        elif time.monotonic() < settled[key]:
            told = (409, "CommitFailedException", "This is being done")
            return Outcome(state, replies.error_reply(*told))
        return faithful(state, call)

    keys_of(*registries.keyed)(around)(registries)


def _hands_out_once(registries: Registries) -> None:
    """Plan anew each time, and hand out the files of a task once, or again to its key."""
    taken: set[str] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        task = str(sent_json(call).get("plan-task"))
        if task in taken:
            raise Problem(404, "NoSuchPlanTaskException", "These files were handed out before")
        outcome = faithful(state, call)
        taken.add(task)
        return outcome

    ignore_keys(registries, "planTableScan")
    wrap(registries, "fetchScanTasks", around)


def _no_files_of_its_own(registries: Registries) -> None:
    """Register no file that the catalog itself has written, of tables or of views."""
    no_table_files(registries)
    refuse_as(registries, "registerView", 200, 400)


def _says_nothing(registries: Registries) -> None:
    """Honour keys and announce no lifetime, as the reference does."""

    def without(body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in body.items() if name != "idempotency-key-lifetime"}

    alter_body(registries, "getConfig", without)


def _dropped_names_stay(registries: Registries) -> None:
    """Keep the name of a dropped table taken, because the table can be had back."""
    refuse_later(registries, ("dropTable", by_path), ("createTable", by_body))


def _everywhere(function: Any) -> Any:
    def install(registries: Registries) -> None:
        keys_of(*registries.keyed)(function)(registries)

    return install


LAWFUL_KEYS: dict[str, Freedom] = {
    "shows-the-current-state": Freedom(
        "L2094-L2095: a newer state", keys_of(*_TABLES)(_current_state)
    ),
    "in-progress-409": Freedom(_RUNNING, in_progress(409, *_TABLES, "dropTable")),
    "in-progress-425": Freedom(_RUNNING, in_progress(425, *_TABLES)),
    "in-progress-429": Freedom(_RUNNING, in_progress(429, *_TABLES)),
    "in-progress-503": Freedom(_RUNNING, in_progress(503, *_TABLES)),
    "only-version-7": Freedom("L2103: UUIDv7 in string form", _everywhere(_only_version_7)),
    "tells-removals-anew": Freedom(
        "L2093-L2095: equivalent, or of a newer state",
        lambda registries: show_again_otherwise(registries, "updateProperties", _as_missing),
    ),
    "deletes-table-files": Freedom(
        "silent: when files are deleted", LAWFUL_REGISTRATIONS["deletes-table-files"]
    ),
    "deletes-view-files": Freedom(
        "silent: when files are deleted", LAWFUL_REGISTRATIONS["deletes-view-files"]
    ),
    "deletes-view-files-later": Freedom(
        "silent: when files are deleted", LAWFUL_REGISTRATIONS["deletes-view-files-later"]
    ),
    "only-recent": Freedom("L2103: a UUIDv7 has a time", _everywhere(_only_recent)),
    "settles-keys-later": Freedom(
        "L2093: finalized; when it is, is the server's", _settles_later
    ),
    "hands-out-files-once": Freedom(
        "silent: how often a plan task is fetched", _hands_out_once,
        server={"planning": PlanningSettings(files_per_task=1)},
    ),
    "no-files-of-its-own": Freedom(
        "silent: which metadata files are taken in", _no_files_of_its_own
    ),
    "says-nothing-of-keys": Freedom("L2181-L2182: absent, and not supported", _says_nothing),
    "has-no-keys": Freedom("L2181-L2182: absent, and not supported", server={"idempotency": None}),
    "keeps-keys-for-a-moment": Freedom(
        "L2174-L2178: the window is the server's", _everywhere(_slow),
        server={"idempotency": IdempotencySettings("PT0.02S")},
    ),
    "keeps-keys-for-days": Freedom(
        "L2174: a duration of ISO 8601", server={"idempotency": IdempotencySettings("P7D")},
    ),
    "plans-anew": Freedom(
        "L2093-L2095: a plan has no effect, and is the same for one snapshot",
        lambda registries: ignore_keys(registries, "planTableScan", "fetchScanTasks"),
    ),
    "plans-in-parts-later": Freedom(
        "L619-L644: planned in the background",
        server={"planning": PlanningSettings(mode="async", files_per_task=40)},  # type: ignore[arg-type]
    ),
    "forgets-finished-plans": Freedom(
        "L791-L796: what a finished plan holds may be released",
        lambda registries: refuse_as(registries, "cancelPlanning", 204, 404),
    ),
    "dropped-names-stay": Freedom("silent: whether a name is free at once", _dropped_names_stay),
}  # fmt: skip
"""Name -> such a catalog, on a mock of 1.11.0; no check of keys may fail there."""
