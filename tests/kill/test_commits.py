"""Checks of updateTable and commitTransaction: the faithful mock passes, defects fail them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.kill.killing import (
    ISOLATIONS,
    checks_of,
    defects_of,
    mock_session,
    not_caught,
    not_killed,
    words,
)
from tests.kill.lawful import LAWFUL, Install, lawful_session
from tests.kill.lawful_commits import LAWFUL_COMMITS
from tests.kill.lawful_tables import LAWFUL_TABLES, secretive

from icecheck.causes import causes_of
from icecheck.client import Catalog
from icecheck.contract import load
from icecheck.exchange import Exchange
from icecheck.judge import judge
from icecheck.mock_server.context import Call, Context, Registries
from icecheck.mock_server.context import Outcome as Decided
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.rewriting import forget_effect, refuse_as
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState
from icecheck.passive import observe, passive_verdicts
from icecheck.probes import has_capability
from icecheck.verdict import Outcome, Verdict

# Conformance modules of a family, and the modules of defects that prove them.
FAMILIES = {
    "protocol": (
        ("test_commits", "test_commits_together", "test_commits_create"),
        ("commits", "commits_together"),
    ),
    "assertions": (("test_assertions",), ("assertions",)),
    "updates": (
        (
            "test_updates_table",
            "test_updates_schemas",
            "test_updates_layout",
            "test_updates_snapshots",
            "test_updates_files",
            "test_columns",
            "test_metadata_laws",
        ),
        (
            "updates_table",
            "updates_schemas",
            "updates_layout",
            "updates_snapshots",
            "columns",
            "metadata_laws",
        ),
    ),
    "transactions": (("test_transactions",), ("transactions",)),
}
CHECKS = checks_of(*(module for modules, _ in FAMILIES.values() for module in modules))
REQUESTS_MAX = 950


def together(*names: str) -> Install:
    """A catalog with all these peculiarities; what is named later changes answers last."""

    def install(registries: Registries) -> None:
        for name in names:
            (LAWFUL_COMMITS | LAWFUL_TABLES | LAWFUL)[name](registries)

    return install


EVERY_LAWFUL: dict[str, Install] = {
    "answers-otherwise": together(
        "newest-first", "explicit-nulls", "vending-credentials", "busy-metadata", "other-spelling"
    ),
    "stores-otherwise": together(
        "sparse-ids", "marks-versions", "empty-commit-is-a-version", "unsorted-order-too"
    ),
    "refuses-more": together(
        "refs-guard-snapshots", "fixed-location", "views-are-unsupported", "one-change-a-table"
    ),
    "offers-less": together("no-staging", "main-only", "no-transactions", "plain-text-400"),
    **{
        name: together(name)
        for name in (
            "client-ids",
            "current-snapshot-only",
            "read-only",
            "version-1-by-default",
            "version-2-only",
            "version-3-by-default",
        )
    },
    "secretive": secretive,
}


@dataclass(frozen=True, slots=True)
class FaithfulRun:
    """What all checks of the families did on a mock without defects."""

    verdicts: tuple[Verdict, ...]
    exchanges: tuple[Exchange, ...]
    owner: str
    residue: list[str]
    foreign: list[str]


@cache
def faithful_run(isolation: str) -> FaithfulRun:
    with mock_session(isolation=isolation) as (_, session):
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
        exchanges = tuple(session.exchanges)
        passive = passive_verdicts(observe(exchanges, session.schemas), load())
    everything = (*verdicts, *passive)
    return FaithfulRun(everything, exchanges, session.owner, session.residue, session.foreign)


def names_in(exchange: Exchange) -> Iterator[str]:
    """The names of namespaces and tables that a request bears in its path and body."""
    segments = urlsplit(exchange.url).path.split("/")
    yield from (unquote(s) for before, s in pairwise(segments) if before == "namespaces")
    try:
        body = json.loads(exchange.request_body or b"null")
    except ValueError:
        return
    if not isinstance(body, dict):
        return
    changes: Any = body.get("table-changes")
    for change in (body, *(changes if isinstance(changes, list) else ())):
        if isinstance(change, dict) and isinstance(change.get("identifier"), dict):
            yield "/".join(change["identifier"]["namespace"])


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_check_passes_on_the_faithful_mock(isolation: str) -> None:
    run = faithful_run(isolation)
    assert len(run.verdicts) > len(CHECKS) > 110
    assert words(run.verdicts) == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nothing_is_left_behind_and_nothing_foreign_is_touched(isolation: str) -> None:
    run = faithful_run(isolation)
    assert (run.residue, run.foreign) == ([], [])
    named = [name for exchange in run.exchanges for name in names_in(exchange)]
    assert len(named) > len(CHECKS)
    assert [name for name in named if run.owner not in name] == []


def test_the_families_stay_small() -> None:
    assert len(faithful_run("nested").exchanges) < REQUESTS_MAX


def test_the_same_run_sends_the_same_requests() -> None:
    runs = (faithful_run("nested"), faithful_run.__wrapped__("nested"))
    first, second = ([*map(without_times, run.exchanges)] for run in runs)
    assert first == second


def without_times(exchange: Exchange) -> tuple[str, str, bytes]:
    """A request without the server's times, the one thing that a seed does not fix."""
    body = exchange.request_body or b""
    return exchange.method, exchange.url, re.sub(rb"\b1\d{12}\b", b"<ms>", body)


# ---------------------------------------------------------------------------- killing


@pytest.mark.parametrize("family", FAMILIES)
def test_every_check_is_failed_by_a_defect(family: str) -> None:
    assert not_killed(*FAMILIES[family]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_defect_fails_a_check_that_proves_what_it_breaks(family: str) -> None:
    modules, homes = FAMILIES[family]
    assert not_caught(modules, homes) == []
    proven = {requirement for check in checks_of(*modules) for requirement in check.proves}
    assert [name for name in defects_of(*homes) if defects()[name].breaks not in proven] == []


def test_a_defect_says_who_suffers() -> None:
    for name in defects_of(*(home for _, homes in FAMILIES.values() for home in homes)):
        assert defects()[name].suffering.endswith("."), name


def test_every_row_of_these_families_is_proven_by_a_check() -> None:
    families = ("commit.", "assertion.", "update.", "transaction.", "commitTransaction.")
    due = {
        id_: row
        for id_, row in load().requirements.items()
        if id_.startswith((*families, "updateTable.")) and row.not_tested is None
    }
    proven = {requirement for check in CHECKS for requirement in check.proves}
    unproven = [id_ for id_ in due if id_ not in proven and not id_.endswith(".401")]
    assert len(due) > 110
    assert unproven == []


# --------------------------------------------------------------------- what is lawful


@pytest.mark.parametrize("name", EVERY_LAWFUL)
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    with lawful_session(EVERY_LAWFUL[name]) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []


def test_what_a_catalog_does_not_offer_is_not_judged() -> None:
    with lawful_session(LAWFUL_COMMITS["fixed-location"]) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    skipped = [v.check for v in verdicts if v.outcome is Outcome.SKIP]
    assert skipped == ["update.set-location"]


@pytest.mark.parametrize(
    ("capability", "lacking"),
    [
        ("branches", "main-only"),
        ("snapshot-history", "current-snapshot-only"),
        ("stage-create", "no-staging"),
        ("format-version-3", "version-2-only"),
    ],
)
def test_a_capability_is_found_out_by_trying(capability: str, lacking: str) -> None:
    found = []
    for install in (together(), together(lacking)):
        with lawful_session(install) as session:
            found.append(has_capability(Catalog(session, "probing"), capability))
            assert session.residue == []
    assert found == [True, False]


# ---------------------------------------------------------- one cause is one finding


def _forgets(registries: Registries) -> None:
    """Every commit is answered, and none is kept."""
    forget_effect(registries, "updateTable")
    forget_effect(registries, "commitTransaction")


def _conflicts_are_400(registries: Registries) -> None:
    """Failed requirements are bad requests."""
    refuse_as(registries, "updateTable", 409, 400)
    refuse_as(registries, "commitTransaction", 409, 400)


def _transactions_are_missing(registries: Registries) -> None:
    """A catalog that lists no endpoints has no transactions."""

    def no_route(_context: Context, _state: WarehouseState, _call: Call) -> Decided:
        raise Problem(404, "NotFoundException", "No such path")

    registries.operations["commitTransaction"] = no_route


@pytest.mark.parametrize(
    ("install", "family", "symptom", "members_min", "causes_max"),
    [
        (_forgets, "updates", "effect-missing:commit", 20, 10),
        (_conflicts_are_400, "assertions", "status", 10, 1),
        (_transactions_are_missing, "transactions", "not-served", 1, 1),
    ],
)
def test_one_slip_of_a_server_is_one_cause(
    install: Install, family: str, symptom: str, members_min: int, causes_max: int
) -> None:
    modules, _ = FAMILIES[family]
    with lawful_session(install) as session:
        verdicts = [judge(c, Catalog(session, c.id)) for c in checks_of(*modules)]
    causes = causes_of(verdicts, load().requirements)
    assert len(causes) <= causes_max
    main = max(causes, key=lambda cause: len(cause.members))
    assert main.symptom == symptom
    assert len(main.members) >= members_min
    assert all(v.outcome is not Outcome.ERROR for v in verdicts)
