"""Locations in answers to commits tell which version a load shows, if they are comparable."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import pytest

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update
from icecheck.mock_server.metadata.builder import Draft
from tests.lawful.capabilities.serving import every_check, said_of


def answers_elsewhere(registries: Registries, operation_ids: Sequence[str]) -> None:
    """Answer an http location that no load shows."""
    turns = itertools.count()

    def elsewhere(body: dict[str, Any]) -> dict[str, Any]:
        return body | {"metadata-location": f"https://files.invalid/{next(turns)}.json"}

    for operation_id in operation_ids:
        alter_body(registries, operation_id, elsewhere)


TOLD = {
    "createTable": ("createTable.answer-agrees-with-load", "registerTable.succeeds"),
    "createView": ("createView.answer-agrees-with-load",),
    "registerTable": ("registerTable.answer-agrees-with-load",),
    "replaceView": ("replaceView.answer-agrees-with-load",),
    "updateTable": (
        "commit.answer-agrees-with-load", "commit.several-updates", "commit.metadata-log",
        "loadTable.shows-last-commit", "registerTable.answer-agrees-with-load",
        "registerTable.keeps-identity", "scenario.namespaces-and-tables",
    ),
}  # fmt: skip
"""Operation -> checks that look at the metadata locations in its answers."""


@pytest.mark.parametrize("operation_id", TOLD)
def test_a_location_that_no_load_shows_is_one_finding(operation_id: str) -> None:
    """It is no stale read, no second version, and nothing that was not carried out."""
    checks = [c for c in every_check() if c.id in TOLD[operation_id]]
    said = said_of(checks, partial(answers_elsewhere, operation_ids=(operation_id,)))
    (cause,) = said.causes
    assert cause.symptom == "answer-differs-from-load"
    assert TOLD[operation_id][0] in cause.members
    assert cause.blocked == ()


def test_all_locations_that_no_load_shows_are_one_finding() -> None:
    checks = [c for c in every_check() if any(c.id == ids[0] for ids in TOLD.values())]
    (cause,) = said_of(checks, partial(answers_elsewhere, operation_ids=[*TOLD])).causes
    assert len(cause.members) == len(TOLD)


def test_a_location_spelled_otherwise_in_answers_to_commits_is_no_older_version() -> None:
    """What is missing after the commit is told, not that the load shows an earlier version."""

    def install(registries: Registries) -> None:
        answers_elsewhere(registries, ["updateTable"])
        alter_update(registries, "set-properties", other_values)

    def other_values(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        changed = {key: f"{value}!" for key, value in update.updates.items()}
        faithful(msgspec.structs.replace(update, updates=changed), draft)

    checks = [c for c in every_check() if c.id == "update.set-properties"]
    (cause,) = said_of(checks, install).causes
    assert cause.symptom != "effect-missing:commit"
