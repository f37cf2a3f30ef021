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
    mock_session,
    not_caught,
    not_killed,
    words,
)

from icecheck.client import Catalog
from icecheck.contract import load
from icecheck.exchange import Exchange
from icecheck.judge import judge
from icecheck.passive import observe, passive_verdicts
from icecheck.verdict import Verdict

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
        ),
        ("updates_table", "updates_schemas", "updates_layout", "updates_snapshots"),
    ),
    "transactions": (("test_transactions",), ("transactions",)),
}
CHECKS = checks_of(*(module for modules, _ in FAMILIES.values() for module in modules))
REQUESTS_MAX = 950


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


@pytest.mark.parametrize("family", FAMILIES)
def test_every_check_is_failed_by_a_defect(family: str) -> None:
    assert not_killed(*FAMILIES[family]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_defect_fails_a_check(family: str) -> None:
    assert not_caught(*FAMILIES[family]) == []
