"""For a catalog that lacks one capability by design, the report says so and finds no fault."""

import pytest

from icecheck.findings.verdict import Outcome
from icecheck.judging.probes import CAPABILITIES
from icecheck.mock_server.core.context import Registries
from tests.kit.shares import in_shares, some
from tests.lawful.capabilities.designs import QUIET, REFUSED, SPELLINGS, designs
from tests.lawful.capabilities.serving import every_check, said_of
from tests.lawful.capabilities.watching import watched

# A small catalog: many designs at once, with different refusals.
SMALL = (
    "nested-namespaces-400", "stage-create-403", "client-location-403", "client-view-location-403",
    "table-relocation-400", "view-relocation-406", "metadata-only-snapshots-422", "purge-403",
    "format-version-1-400", "format-version-3-409", "view-dialects-422", "names-with-space-404",
    "names-with-plus-409", "names-with-percent-422", "names-with-unicode-400", "names-with-dot-409",
    "names-with-slash-400", "cross-namespace-rename-406", "cross-namespace-view-rename-406",
    "pages-ignored", "no-tags", "properties-null", "lower-case",
)  # fmt: skip
# These cannot be observed on a catalog that refuses snapshots, changes the case of names, or has
# one level of namespaces.
UNSEEN = {
    "deep-namespaces",
    "branches",
    "tags",
    "snapshot-history",
    "snapshots-refs",
    "case-distinct-names",
}


@in_shares
@pytest.mark.parametrize("design", some(designs(), 10))
def test_one_capability_is_lacking_and_nothing_else_is_wrong(design: str) -> None:
    capability, install = designs()[design]
    checks = watched().checks_of_design(design, capability)
    assert len(checks) > 0
    said = said_of(checks, install)
    assert said.wrong == []
    assert said.lacking == {capability}
    assert said.residue == ()


def test_a_whole_catalog_lacks_nothing_and_everything_is_found_out() -> None:
    said = watched().said
    assert said.wrong == []
    assert said.capabilities == dict.fromkeys(CAPABILITIES, True)


def test_there_is_a_design_without_each_capability() -> None:
    assert {capability for capability, _ in designs().values()} == {*CAPABILITIES}


def test_every_refusal_is_told_in_the_document_s_words_or_in_several() -> None:
    single = {capability for capability, (_, words) in REFUSED.items() if len(words) == 1}
    # The document's tables for moves have 406, and the others are demanded of everybody who may:
    # anything else is a wrong status.
    moves = {"cross-namespace-rename", "cross-namespace-view-rename"}
    assert single == moves | {"stage-create", "purge"}
    assert {word for _, words in REFUSED.values() for word in words} == {*SPELLINGS}


@pytest.mark.complete("the lacks of which each has a test of its own, in one catalog")
def test_a_small_catalog_is_told_what_it_lacks_and_blamed_for_nothing() -> None:
    def install(registries: Registries) -> None:
        for name in SMALL:
            designs()[name][1](registries)

    said = said_of(every_check(), install)
    assert said.wrong == []
    assert said.residue == ()
    assert said.lacking == {designs()[name][0] for name in SMALL}
    assert {*CAPABILITIES} - {*said.capabilities} <= UNSEEN
    assert {name for name, seen in said.capabilities.items() if seen is None} <= UNSEEN
    passed = sum(v.outcome is Outcome.PASS for v in said.verdicts)
    assert passed > len(said.verdicts) / 2


def test_quiet_designs_are_told_from_refusals() -> None:
    assert {capability for capability, _ in QUIET.values()} & {*REFUSED} == {"mixed-case-names"}
