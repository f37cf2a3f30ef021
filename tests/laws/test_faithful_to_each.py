"""Law 1 for each version: the mock of a version passes by it, and by older ones."""

from collections import Counter

import pytest

from icecheck.contract import DEFAULT_SPEC_VERSION, SPEC_VERSIONS, load
from icecheck.contract.releases import is_newer
from icecheck.findings.verdict import Outcome, SkipKind
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.kit.shares import in_shares, share
from tests.laws.test_faithful import GROUPS, Cell, direct_run, expect_faithful

LATER = tuple(v for v in SPEC_VERSIONS if is_newer(v, DEFAULT_SPEC_VERSION))
MORE_REQUESTS_MAX = 400
"""How many requests the demands of one version more may cost."""
JUDGED_OTHERWISE = {"names.unit-separator", "names.separator-letter-case"}
"""Checks of the unit separator alone: a catalog that announces another one has others."""
SECURED = Cell("nested", None, secured=True)


def own_checks(version: str) -> set[str]:
    """Return the checks that a version has and the default one has not."""
    before = {check.id for check in collect(GROUPS, CONTRACT)}
    return {check.id for check in collect(GROUPS, load(version))} - before


@in_shares
@pytest.mark.parametrize("version", LATER)
def test_the_mock_of_a_version_passes_by_it(version: str) -> None:
    own = own_checks(version)
    checks = share(collect(GROUPS, load(version)), 0, 24, always=lambda check: check.id in own)
    run, left = direct_run(
        SECURED, workers=1, order=None, checks=checks, served=version, spec=version
    )
    expect_faithful(run, left)
    skipped = {v.check for v in run.verdicts if v.outcome is Outcome.SKIP}
    assert skipped == {check.id for check in checks} & JUDGED_OTHERWISE


@in_shares
@pytest.mark.parametrize("version", LATER)
def test_the_mock_of_a_version_is_blamed_for_nothing_by_the_default_one(version: str) -> None:
    checks = share(
        collect(GROUPS, CONTRACT), 1, 24, always=lambda check: check.profile in {"core", "register"}
    )
    run, left = direct_run(SECURED, workers=1, order=None, checks=checks, served=version)
    expect_faithful(run, left)
    other = [v for v in run.verdicts if v.skip and v.skip.kind is not SkipKind.SPEC_VERSION]
    assert {verdict.check for verdict in other} <= JUDGED_OTHERWISE


@pytest.mark.parametrize("version", LATER)
def test_the_demands_of_a_later_version_cost_few_requests(version: str) -> None:
    own = own_checks(version)
    asking: Counter[str] = Counter()
    direct_run(
        SECURED,
        workers=1,
        order=None,
        checks=[check for check in collect(GROUPS, load(version)) if check.id in own],
        on_exchange=lambda exchange: asking.update([exchange.check]),
        served=version,
        spec=version,
    )
    assert sum(asking[check] for check in own) <= MORE_REQUESTS_MAX
