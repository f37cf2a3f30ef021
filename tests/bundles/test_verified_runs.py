"""What a bundle holds gives every verdict of its run again, on catalogs of many designs."""

import pytest

from tests.bundles.recorded import (
    GLOBS,
    lines_of,
    open_catalog,
    recorded_run,
    secured_catalog,
    verification_of,
)
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.serving import design_transport

PLANTED = (
    "status-updateTable.400-is-500",
    "view-rename-forgotten",
    "text-dropNamespace.404",
    "other-code-loadTable.404",
    "mistypes-replaceView-metadata",
)


def test_a_run_on_a_faithful_catalog_is_derived_again(tmp_path):
    with open_catalog() as transport:
        run = recorded_run(tmp_path, transport, globs=GLOBS)
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    active = [v for v in run.verdicts if not v.passive]
    only_read = [check for checks in shown.only_read.values() for check in checks]
    assert only_read == ["race.drop"]
    assert (shown.replayed, shown.passive) == (len(active) - 1, len(run.verdicts) - len(active))
    assert shown.compared > 100
    assert shown.disagreements == 0


def test_findings_are_derived_again_with_their_evidence(tmp_path):
    with open_catalog(*PLANTED) as transport:
        run = recorded_run(tmp_path, transport, globs=GLOBS)
    assert run.causes
    assert lines_of(verification_of(tmp_path)) == []


def test_a_run_with_secrets_is_derived_again_from_their_digests(tmp_path):
    with secured_catalog() as (transport, target):
        recorded_run(tmp_path, transport, target=target, globs=(*GLOBS, "auth.*"))
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    assert sorted(check for checks in shown.only_read.values() for check in checks) == [
        "getToken.lifetime",
        "getToken.no-wrong-client",
        "race.drop",
    ]


def test_checks_that_came_in_the_order_of_threads_are_derived_again(tmp_path):
    with open_catalog(*PLANTED[:2]) as transport:
        recorded_run(tmp_path, transport, globs=GLOBS, workers=3)
    assert lines_of(verification_of(tmp_path)) == []


@pytest.mark.parametrize("name", ["hadoop-veteran", "azure-lake"])
def test_a_run_on_a_catalog_unlike_ours_is_derived_again(tmp_path, name):
    freedoms = [FREEDOMS[each] for each in DESIGNS[name].freedoms]
    with design_transport(freedoms) as transport:
        recorded_run(tmp_path, transport, globs=GLOBS)
    assert lines_of(verification_of(tmp_path)) == []
