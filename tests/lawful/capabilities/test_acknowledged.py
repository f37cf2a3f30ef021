"""What a catalog acknowledges and does not keep is one cause, and what leans on it is blocked."""

from typing import Any

import pytest
from msgspec.structs import replace

from icecheck.judging.check import Check
from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.storing import with_metadata
from icecheck.mock_server.defects.kit.updating import ignore_update
from icecheck.mock_server.protocol import replies
from tests.lawful.capabilities.serving import Said, every_check, said_of
from tests.lawful.lawful import Install


def ref_not_kept(ref_type: str) -> Install:
    """Acknowledge branches or tags beside main, and keep none."""

    def unkept(update: Any, _draft: object) -> bool:
        return update.ref_name != "main" and update.type == ref_type

    def install(registries: Registries) -> None:
        ignore_update(registries, "set-snapshot-ref", unkept)

    return install


def first_level_only(registries: Registries) -> None:
    """Answer a namespace of several levels with its first one, which alone is there."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        first, *more = sent_json(call)["namespace"]
        if not more:
            return faithful(state, call)
        kept = state if state.namespace((first,)) else state.with_namespace((first,), {})
        return Outcome(kept, replies.json_reply({"namespace": [first], "properties": {}}))

    wrap(registries, "createNamespace", around)


def named_snapshots_only(registries: Registries) -> None:
    """Acknowledge snapshots that no ref names, and keep none."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = outcome.state.table(call.namespace, call.name)
        if entry is None:
            return outcome
        named = {ref.snapshot_id for ref in entry.metadata.refs.values()}
        snapshots = tuple(s for s in entry.metadata.snapshots if s.snapshot_id in named)
        metadata = replace(entry.metadata, snapshots=snapshots)
        kept = with_metadata(faithful.context, entry, metadata)
        after = outcome.state.with_table(call.namespace, call.name, kept)
        return Outcome(after, publication.load_reply(kept), outcome.effects)

    wrap(registries, "updateTable", around)


def needing(*capabilities: str) -> tuple[Check, ...]:
    """Return the checks that need one of the capabilities, and the scenarios."""
    wanted = set(capabilities)
    return tuple(c for c in every_check() if wanted & {*c.needs} or c.id.startswith("world."))


def causes(said: Said) -> list[tuple[str, tuple[str, ...]]]:
    return [(cause.id, cause.members) for cause in said.causes]


@pytest.mark.parametrize(("ref_type", "capability"), [("tag", "tags"), ("branch", "branches")])
def test_a_ref_that_is_not_kept_is_the_finding_of_setting_refs(
    ref_type: str, capability: str
) -> None:
    said = said_of(needing(capability), ref_not_kept(ref_type))
    assert {cause.symptom for cause in said.causes} == {"effect-missing:ref"}
    proving = {c.id for c in every_check() if "update.set-snapshot-ref.effect" in c.proves}
    assert {check for cause in said.causes for check in cause.members} <= proving
    assert capability not in said.lacking
    assert sum(len(cause.blocked) for cause in said.causes) > 3


@pytest.mark.parametrize("install", [first_level_only, defects()["namespace-flattened"].install])
def test_a_namespace_that_keeps_one_level_is_the_finding_of_creating_it(install: Install) -> None:
    said = said_of(needing("nested-namespaces"), install)
    (cause,) = said.causes
    assert cause.members == ("createNamespace.nested",)
    assert len(cause.blocked) > 3
    assert "nested-namespaces" not in said.lacking
    assert said.residue == ()


def test_snapshots_without_a_ref_that_are_not_kept_make_no_race_unfair() -> None:
    wanted = ("update.add-snapshot", "race.independent-commits")
    said = said_of([c for c in every_check() if c.id in wanted], named_snapshots_only)
    assert [cause.members for cause in said.causes] == [("update.add-snapshot",)]
