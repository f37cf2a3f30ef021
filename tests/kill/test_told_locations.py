"""Locations in answers to commits tell which version a load shows, if they are comparable."""

import itertools
from typing import Any

import msgspec
from tests.capabilities.serving import every_check, said_of

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update
from icecheck.mock_server.metadata.builder import Draft


def test_a_location_spelled_otherwise_in_answers_to_commits_is_no_older_version() -> None:
    """What is missing after the commit is told, not that the load shows an earlier version."""
    turns = itertools.count()

    def install(registries: Registries) -> None:
        def elsewhere(body: dict[str, Any]) -> dict[str, Any]:
            return body | {"metadata-location": f"http://files.invalid/{next(turns)}.json"}

        alter_body(registries, "updateTable", elsewhere)
        alter_update(registries, "set-properties", other_values)

    def other_values(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        changed = {key: f"{value}!" for key, value in update.updates.items()}
        faithful(msgspec.structs.replace(update, updates=changed), draft)

    checks = [c for c in every_check() if c.id == "update.set-properties"]
    (cause,) = said_of(checks, install).causes
    assert cause.symptom != "effect-missing:commit"
