"""A profile is like the server that it is named after, as far as the suite sees."""

import json
from collections.abc import Iterable
from functools import cache

import httpx
import pytest

from icecheck.findings.verdict import Group, Outcome, Run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.profiles import PROFILES, UnknownProfile, profile_named
from icecheck.mock_server.protocol.served_contract import SERVED
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.docs.snippets import ROOT
from tests.laws.golden import expect_golden, reviewed

ALL = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
FIXTURE = "fixture-1.10"
RECORD = ROOT / "docs/catalogs/iceberg-rest-fixture-1.10.1/run.json"
GOLDEN = "profile_fixture.txt"
OF_CHANCE = ("race.", "scenario.races")
"""Whether a race shows what a server does is chance."""
LAWFUL = [profile.name for profile in PROFILES if profile.name != FIXTURE]


@cache
def run_on(name: str, groups: tuple[Group, ...]) -> Run:
    """Return the run on a mock with a profile."""
    with MockCatalog(root="memory://root", seed=1) as mock:
        profile_named(name).install(mock.registries)
        return run_checks(RunOptions(Target(mock.uri, warehouse="wh"), "prof", groups=groups))


def failed_in(run: Run) -> set[str]:
    """Return the checks that failed or were blocked."""
    bad = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}
    return steady(v.check for v in run.verdicts if v.outcome in bad)


def failed_in_the_record() -> set[str]:
    """Return the same of the run on the real server."""
    checks = json.loads(RECORD.read_text(encoding="utf-8"))["checks"]
    return steady(c["id"] for c in checks if c["outcome"] in {"fail", "blocked", "error"})


def steady(checks: Iterable[str]) -> set[str]:
    """Leave out the checks whose outcome is chance."""
    return {check for check in checks if not check.startswith(OF_CHANCE)}


def compared(run: Run) -> list[str]:
    """Return a line for each check that ends otherwise here than at the real server."""
    here, there = failed_in(run), failed_in_the_record() & {v.check for v in run.verdicts}
    lines = [f"only here | {check}" for check in here - there]
    return sorted(lines + [f"only there | {check}" for check in there - here])


@pytest.mark.complete("a whole run, compared with a record")
def test_the_profile_of_the_fixture_fails_as_the_fixture_does() -> None:
    run = run_on(FIXTURE, (Group.CHECKS,))
    known = set(reviewed(GOLDEN))
    assert [line for line in compared(run) if line not in known] == []
    assert len(failed_in(run) & failed_in_the_record()) >= 50


@pytest.mark.complete("every group; the usual command compares the checks")
def test_the_profile_of_the_fixture_differs_from_it_as_reviewed() -> None:
    run = run_on(FIXTURE, ALL)
    expect_golden(GOLDEN, compared(run))
    both = failed_in(run) & failed_in_the_record()
    assert len(both) > 4 * len(compared(run)), "it is like the fixture far more than unlike"


@pytest.mark.complete("the usual command has the one that is asked about below")
@pytest.mark.parametrize("name", LAWFUL)
def test_a_lawful_profile_is_not_blamed(name: str) -> None:
    run = run_on(name, (Group.CHECKS,))
    assert failed_in(run) == set()
    assert run.exit_code == 0


@pytest.mark.complete("every group; the usual command has the checks")
@pytest.mark.parametrize("name", LAWFUL)
def test_a_lawful_profile_passes_everything(name: str) -> None:
    run = run_on(name, ALL)
    assert failed_in(run) == set()
    assert run.exit_code == 0


def test_what_a_legacy_server_does_not_list_is_not_judged() -> None:
    run = run_on("legacy-no-endpoints", (Group.CHECKS,))
    claimed = {profile.id for profile in run.profiles if profile.claimed}
    assert claimed.isdisjoint({"views", "scan-planning", "credentials"})
    assert {"read", "write"} <= claimed
    assert failed_in(run) == set()


def test_an_unknown_profile_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownProfile, match=r"no profile 'fixture': use fixture-1\.10, legacy"):
        profile_named("fixture")


@pytest.mark.parametrize("name", [profile.name for profile in PROFILES])
def test_each_operation_of_a_profile_can_be_hidden(name: str) -> None:
    served = set(MockCatalog(root="memory://root", profile=name).registries.operations)
    for hidden in SERVED.operations:
        if hidden != "getConfig":
            mock = MockCatalog(root="memory://root", profile=name, hidden=[hidden])
            assert set(mock.registries.operations) == served - {hidden}


def test_what_is_hidden_is_not_listed_by_the_profile_of_the_fixture() -> None:
    mock = MockCatalog(root="memory://root", profile=FIXTURE, hidden=["listTables"])
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        listed = http.get("/v1/config").json()["endpoints"]
        assert http.get("/v1/warehouse/namespaces/a/tables").status_code in (404, 405)
    assert SERVED.operations["listTables"].endpoint not in listed
    assert SERVED.operations["createTable"].endpoint in listed


def test_the_configuration_of_a_profile_cannot_be_hidden() -> None:
    with pytest.raises(ValueError, match="getConfig cannot be hidden"):
        MockCatalog(root="memory://root", profile=FIXTURE, hidden=["getConfig"])
