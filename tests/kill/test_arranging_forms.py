"""A catalog that takes commits in one form alone fails the check of the other, rarer form only."""

import itertools
from typing import Any

import msgspec
from tests.capabilities.serving import every_check, said_of
from tests.kill.refusing import refuse_if, updates_in

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update
from icecheck.mock_server.metadata.builder import Draft


def last_column_id_is_needed(registries: Registries) -> None:
    """Refuse to add a schema to a table without the deprecated last-column-id."""
    for operation_id in ("updateTable", "commitTransaction"):
        refuse_if(
            registries,
            operation_id,
            lambda call: any(
                u.get("action") == "add-schema" and "last-column-id" not in u
                for u in updates_in(call)
            ),
            400,
            "BadRequestException",
        )


def test_only_one_check_leaves_the_last_column_id_out() -> None:
    families = ("update.", "commit.", "assertion.", "world.", "states.", "second-life.")
    checks = [c for c in every_check() if c.id.startswith(families)]
    said = said_of(checks, last_column_id_is_needed)
    assert [line.split(":")[0] for line in said.wrong] == ["fail update.add-schema.last-column-id"]


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
