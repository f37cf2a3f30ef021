"""Configuration, namespaces, lists, names, errors, credentials: each check, proven by a defect."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest
from tests.kill.killing import (
    GIVEN_PARENT,
    ISOLATIONS,
    WAREHOUSE,
    checks_of,
    defects_of,
    killed_by,
    mock_session,
    not_caught,
    not_killed,
    run_checks,
    words,
)
from tests.kill.lawful import LAWFUL, OPEN, lawful_session

from icecheck.client import Catalog
from icecheck.contract import Level, load
from icecheck.error_types import REQUIREMENT
from icecheck.exchange import Exchange, Step
from icecheck.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.passive import observe, passive_verdicts
from icecheck.session import Session
from icecheck.target import Namespace
from icecheck.verdict import Outcome, SkipKind, Verdict

FAMILIES = {
    "test_config": ("config",),
    "test_namespaces": ("namespaces", "namespace_drops"),
    "test_namespace_properties": ("namespace_properties",),
    "test_listing": ("listing",),
    "test_pagination": ("pagination",),
    "test_names": ("names",),
    "test_errors": ("errors",),
    "test_authorization": ("authorization",),
}
MODULES = tuple(FAMILIES)


def all_verdicts(session: Session) -> list[Verdict]:
    session.exchanges.clear()
    verdicts = [judge(check, Catalog(session, check.id)) for check in checks_of(*MODULES)]
    observed = observe(session.exchanges, session.schemas)
    return verdicts + passive_verdicts(observed, load())


@dataclass(frozen=True)
class FaithfulRun:
    """What one run of all the checks on the faithful mock said, sent and left."""

    verdicts: list[Verdict]
    exchanges: list[Exchange]
    residue: list[str]
    foreign: list[str]
    namespaces: list[Namespace]


@cache
def faithful(isolation: str) -> FaithfulRun:
    with mock_session(isolation=isolation) as (mock, session):
        verdicts = all_verdicts(session)
        exchanges = [*session.exchanges]
        session.close()
        left = [namespace for namespace, _ in mock.state(WAREHOUSE).namespaces.after(None)]
    return FaithfulRun(verdicts, exchanges, session.residue, session.foreign, left)


# ------------------------------------------------------------------- the faithful mock
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_check_passes_on_the_faithful_mock(isolation: str) -> None:
    verdicts = faithful(isolation).verdicts
    assert len(verdicts) > 120
    assert words(verdicts) == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nothing_is_left_and_nothing_foreign_is_touched(isolation: str) -> None:
    run = faithful(isolation)
    assert (run.residue, run.foreign) == ([], [])
    assert run.namespaces == ([GIVEN_PARENT] if isolation == "parent" else [])


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_no_request_names_what_the_run_does_not_own(isolation: str) -> None:
    named = [(e, name) for e in faithful(isolation).exchanges for name in names_in(e)]
    assert len(named) > 400
    assert [f"{e.method} {e.url}" for e, name in named if "icecheck_kill" not in name] == []


def test_the_families_stay_small() -> None:
    assert len(faithful("nested").exchanges) < 700


def test_the_same_run_sends_the_same_requests() -> None:
    sent = [(e.method, e.url, e.request_body) for e in faithful("flat").exchanges]
    faithful.cache_clear()
    assert [(e.method, e.url, e.request_body) for e in faithful("flat").exchanges] == sent


def names_in(exchange: Exchange) -> Iterator[str]:
    """The namespaces that a request names, each as one text."""
    segments = urlsplit(exchange.url).path.split("/")
    if "namespaces" in segments[:-1]:
        yield unquote(segments[segments.index("namespaces") + 1])
    try:
        body = json.loads(exchange.request_body or b"null")
    except ValueError:
        return
    bodies = body if isinstance(body, list) else [body]
    for each in bodies:
        if isinstance(each, dict):
            for part in (each, each.get("source"), each.get("destination")):
                if isinstance(part, dict) and isinstance(part.get("namespace"), list):
                    yield "/".join(part["namespace"])


# ---------------------------------------------------------------------------- killing
@pytest.mark.parametrize("family", MODULES)
def test_every_check_is_failed_by_a_defect(family: str) -> None:
    assert not_killed((family,), FAMILIES[family]) == []


@pytest.mark.parametrize("family", MODULES)
def test_every_defect_fails_a_check(family: str) -> None:
    assert not_caught((family,), FAMILIES[family]) == []


@pytest.mark.parametrize("family", MODULES)
def test_a_defect_fails_what_proves_the_requirement_it_breaks(family: str) -> None:
    for name in defects_of(*FAMILIES[family]):
        breaks = defects()[name].breaks
        aimed = {check.id for check in checks_of(family) if breaks in check.proves} or {breaks}
        assert aimed & killed_by(name, (family,)), name


def test_a_defect_says_who_suffers() -> None:
    for name in defects_of(*(module for modules in FAMILIES.values() for module in modules)):
        defect = defects()[name]
        assert defect.suffering.endswith("."), name
        assert defect.breaks in load().requirements, name


# --------------------------------------------------------------------- what is lawful
@pytest.mark.parametrize("name", LAWFUL)
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    with lawful_session(LAWFUL[name]) as session:
        verdicts = all_verdicts(session)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []
    assert sum(v.outcome is Outcome.PASS for v in verdicts) > 5


def test_what_a_catalog_does_not_offer_is_skipped_with_its_reason() -> None:
    with lawful_session(LAWFUL["no-pagination"]) as session:
        skipped = {v.check: v.skip for v in all_verdicts(session) if v.outcome is Outcome.SKIP}
    assert {check.split(".")[1] for check in skipped} == {
        "pages-cover-all",
        "token-null-at-end",
        "page-size-bound",
        "bad-page-size",
    }
    assert {skip.kind for skip in skipped.values() if skip} == {SkipKind.NOT_APPLICABLE}


def test_an_open_catalog_is_only_told_that_it_takes_any_token() -> None:
    with lawful_session(OPEN) as session:
        failed = [v for v in all_verdicts(session) if v.outcome is Outcome.FAIL]
    assert [(v.check, v.level) for v in failed] == [("auth.bad-token-refused", Level.SHOULD)]


# --------------------------------------------------------- one cause is one finding
def test_own_type_names_are_one_cause() -> None:
    verdicts = run_checks(checks_of("test_errors", "test_names"), ("error-own-type-names",))
    failed = [v for v in verdicts.values() if v.outcome is Outcome.FAIL]
    assert {v.check for v in failed} == {REQUIREMENT, "error.type-of-missing-namespace"}
    assert len({finding.key for v in failed for finding in v.findings}) == 1
    assert all(v.level is not Level.MUST for v in failed)


def test_properties_that_are_not_kept_are_one_cause() -> None:
    verdicts = run_checks(checks_of("test_namespace_properties"), ("properties-update-forgotten",))
    failed = [v for v in verdicts.values() if v.outcome is Outcome.FAIL]
    assert len(failed) > 4
    assert len({finding.key for v in failed for finding in v.findings}) == 1


def test_a_finding_shows_the_request_that_proves_it() -> None:
    check = next(c for c in checks_of("test_namespaces") if c.id == "dropNamespace.holds-table")
    with mock_session(("namespace-drop-cascades",)) as (_, session):
        verdict = judge(check, Catalog(session, check.id))
    assert verdict.findings[0].key == ("status", "409", "204")
    assert verdict.evidence[-1].step == Step.DO
    assert "curl" in verdict.evidence[-1].curl
    assert "$ICECHECK_TOKEN" in verdict.evidence[-1].curl
