"""Designs: lawful ways to lack one capability, and the refusals with which catalogs say so."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_call, wrap
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.callers import Security
from tests.kill.refusing import refuse_if, updates_in
from tests.lawful.lawful import LAWFUL, Install
from tests.lawful.lawful_tables import LAWFUL_TABLES

Body = dict[str, Any]
Unwanted = Callable[[Call], bool]


@dataclass(frozen=True, slots=True)
class Spelling:
    """The status and error type with which a catalog refuses an unsupported request."""

    status: int
    type: str


SPELLINGS = {
    "400": Spelling(400, "BadRequestException"),
    "403": Spelling(403, "ForbiddenException"),
    "404": Spelling(404, "NoSuchNameException"),
    "406": Spelling(406, "UnsupportedOperationException"),
    "409": Spelling(409, "ConflictingNameException"),
    "422": Spelling(422, "AcmeLimitation"),
    "501": Spelling(501, "NotImplementedException"),
}
OPEN = ("400", "406", "422", "501")
"""The document has no status for these refusals: catalogs choose one."""
PLACES = ("400", "403", "501")
DEMANDED = ("403",)
"""The document leaves no choice; a user may lack the right all the same."""


def _refusing(unwanted: Unwanted, *operation_ids: str) -> Callable[[Spelling], Install]:
    def spelled(spelling: Spelling) -> Install:
        def install(registries: Registries) -> None:
            for operation_id in operation_ids:
                refuse_if(registries, operation_id, unwanted, spelling.status, spelling.type)

        return install

    return spelled


def _levels(call: Call) -> list[str]:
    named = sent_json(call).get("namespace")
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []


def _is_nested(call: Call) -> bool:
    return len(_levels(call)) > 1


def _is_deep(call: Call) -> bool:
    return len(_levels(call)) > 3


def _is_staged(call: Call) -> bool:
    return sent_json(call).get("stage-create") is True


def _has_location(call: Call) -> bool:
    return bool(sent_json(call).get("location"))


def _moves(call: Call) -> bool:
    """Return whether a commit moves an existing table or view.

    A commit that creates one has to set a location.
    """
    requirements = sent_json(call).get("requirements")
    listed = requirements if isinstance(requirements, list) else []
    if any(isinstance(r, dict) and r.get("type") == "assert-create" for r in listed):
        return False
    return any(u.get("action") == "set-location" for u in updates_in(call))


def _crosses(call: Call) -> bool:
    ends = [sent_json(call).get(end) for end in ("source", "destination")]
    namespaces = [end.get("namespace") for end in ends if isinstance(end, dict)]
    return len(namespaces) == 2 and namespaces[0] != namespaces[1]


def _names_ref(ref_type: str) -> Unwanted:
    def unwanted(call: Call) -> bool:
        return any(
            u.get("action") == "set-snapshot-ref"
            and u.get("ref-name") != "main"
            and u.get("type") == ref_type
            for u in updates_in(call)
        )

    return unwanted


def _purges(call: Call) -> bool:
    return call.query.get("purgeRequested", "").lower() == "true"


def _has_dialects(call: Call) -> bool:
    sent = sent_json(call)
    versions = [sent.get("view-version"), *(u.get("view-version") for u in updates_in(call))]
    listed = [v.get("representations") for v in versions if isinstance(v, dict)]
    return any(isinstance(each, list) and len(each) > 1 for each in listed)


def _names(call: Call) -> list[str]:
    sent = sent_json(call)
    name = sent.get("name")
    return [*_levels(call), *([name] if isinstance(name, str) else ())]


def _named_with(pattern: str) -> Callable[[Spelling], Install]:
    def unwanted(call: Call) -> bool:
        return any(re.search(pattern, name) for name in _names(call))

    return _refusing(unwanted, "createNamespace", "createTable", "createView")


def _format_version(version: int, default: int = 2) -> Callable[[Spelling], Install]:
    """Refuse to create tables of a version, or to upgrade to it."""

    def asked(call: Call) -> bool:
        properties = sent_json(call).get("properties")
        wanted = properties.get("format-version") if isinstance(properties, dict) else None
        return wanted == str(version)

    def upgraded(call: Call) -> bool:
        return any(
            u.get("action") == "upgrade-format-version" and u.get("format-version") == version
            for u in updates_in(call)
        )

    def spelled(spelling: Spelling) -> Install:
        def install(registries: Registries) -> None:
            if default != 2:
                LAWFUL_TABLES[f"version-{default}-by-default"](registries)
            refuse_if(registries, "createTable", asked, spelling.status, spelling.type)
            for operation_id in ("updateTable", "commitTransaction"):
                refuse_if(registries, operation_id, upgraded, spelling.status, spelling.type)

        return install

    return spelled


def _unreadable_snapshots(spelling: Spelling) -> Install:
    """Refuse a snapshot whose manifest list does not exist when it is added."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        for update in updates_in(call):
            snapshot = update.get("snapshot") if update.get("action") == "add-snapshot" else None
            if not isinstance(snapshot, dict):
                continue
            try:
                faithful.context.files.read(str(snapshot.get("manifest-list")))
            except OSError:
                raise Problem(spelling.status, spelling.type, "No such manifest list") from None
        return outcome

    def install(registries: Registries) -> None:
        for operation_id in ("updateTable", "commitTransaction"):
            wrap(registries, operation_id, around)

    return install


def _one_case(registries: Registries) -> None:
    """Keep the case of names, but treat two that differ only in case as one."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asked = [level.lower() for level in _levels(call)]
        taken = ([level.lower() for level in path] for path, _ in state.namespaces.after())
        if asked in taken:
            raise Problem(409, "AlreadyExistsException", "There is one with this name")
        return faithful(state, call)

    wrap(registries, "createNamespace", around)


def stopped_on_the_way(status: int, *marks: str) -> Install:
    """Let a web server refuse every path with one of these, before the catalog sees it."""

    def install(registries: Registries) -> None:
        faithful = registries.gates["authorization"]

        def gate(request: Request, security: Security) -> Reply | None:
            if any(mark in request.raw_path.lower() for mark in marks):
                return Reply(status, (("content-type", "application/json"),), b'{"message":"No"}')
            return faithful(request, security)

        registries.gates["authorization"] = gate

    return install


def _every_snapshot(registries: Registries) -> None:
    """Ignore the parameter of loads: every answer has every snapshot."""

    def plain(call: Call) -> Call:
        kept = {k: v for k, v in call.query.items() if k != "snapshots"}
        kept |= {k: v for k, v in call.query.items() if k == "snapshots" and v != "refs"}
        return replace(call, query=kept)

    alter_call(registries, "loadTable", plain)


REFUSED: dict[str, tuple[Callable[[Spelling], Install], tuple[str, ...]]] = {
    "nested-namespaces": (_refusing(_is_nested, "createNamespace"), OPEN),
    "deep-namespaces": (_refusing(_is_deep, "createNamespace"), ("400", "501")),
    "stage-create": (_refusing(_is_staged, "createTable"), DEMANDED),
    "client-location": (_refusing(_has_location, "createTable"), (*PLACES, "406")),
    "client-view-location": (_refusing(_has_location, "createView"), (*PLACES, "406")),
    "table-relocation": (_refusing(_moves, "updateTable", "commitTransaction"), OPEN),
    "view-relocation": (_refusing(_moves, "replaceView"), OPEN),
    "cross-namespace-rename": (_refusing(_crosses, "renameTable"), ("406",)),
    "cross-namespace-view-rename": (_refusing(_crosses, "renameView"), ("406",)),
    "metadata-only-snapshots": (_unreadable_snapshots, OPEN),
    "branches": (_refusing(_names_ref("branch"), "updateTable", "commitTransaction"), OPEN),
    "tags": (_refusing(_names_ref("tag"), "updateTable", "commitTransaction"), OPEN),
    "format-version-1": (_format_version(1), OPEN),
    "format-version-2": (_format_version(2, default=3), OPEN),
    "format-version-3": (_format_version(3), (*OPEN, "409")),
    "purge": (_refusing(_purges, "dropTable"), DEMANDED),
    "view-dialects": (_refusing(_has_dialects, "createView", "replaceView"), OPEN),
    "mixed-case-names": (_named_with("[A-Z]"), ("400", "422")),
    "names-with-space": (_named_with(" "), ("400", "404")),
    "names-with-plus": (_named_with(r"\+"), ("400", "409")),
    "names-with-percent": (_named_with("%"), ("400", "422")),
    "names-with-unicode": (_named_with("[^\x00-\x7f]"), ("400", "422")),
    "names-with-dot": (_named_with(r"\."), ("400", "409")),
    "names-with-slash": (_named_with("/"), ("400", "422")),
}
"""Capability -> the installation of its refusal, and the spellings used here."""

QUIET: dict[str, tuple[str, Install]] = {
    "pages-ignored": ("pagination", LAWFUL["no-pagination"]),
    "no-tags": ("etag", LAWFUL_TABLES["no-etags"]),
    "current-snapshot-only": ("snapshot-history", LAWFUL_TABLES["current-snapshot-only"]),
    "every-snapshot": ("snapshots-refs", _every_snapshot),
    "properties-null": ("namespace-properties", LAWFUL["no-namespace-properties"]),
    "lower-case": ("mixed-case-names", LAWFUL["lower-case-names"]),
    "one-case": ("case-distinct-names", _one_case),
}
"""Design -> the capability that it lacks without refusing it, and its installation."""


def designs() -> dict[str, tuple[str, Install]]:
    """Return name of a design -> the capability that it lacks, and the installation."""
    refused = {
        f"{capability}-{word}": (capability, spelled(SPELLINGS[word]))
        for capability, (spelled, words) in REFUSED.items()
        for word in words
    }
    return refused | QUIET
