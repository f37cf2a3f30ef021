"""Checks of drawn programs of several clients: some order explains what all of them were told."""

from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, shared_namespace
from icecheck.findings.verdict import SkipKind
from icecheck.histories.history import Event
from icecheck.judging.check import check
from icecheck.objects.moves import expect_success
from icecheck.replies.expect import NotOffered
from icecheck.scenarios.races.arranging import offered
from icecheck.scenarios.races.drawing import CHANGES, NAMESPACES, READS, VIEWS, Sort, draw_programs
from icecheck.scenarios.races.programs import Program, from_json, in_words, requests_of
from icecheck.scenarios.races.replaying import replay
from icecheck.targets.target import Namespace

RANDOM_CHANGES = "race.random-changes"
RANDOM_VIEWS = "race.random-views"
RANDOM_NAMESPACES = "race.random-namespaces"
RANDOM_READS = "race.random-reads"
RACES = (RANDOM_CHANGES, RANDOM_VIEWS, RANDOM_NAMESPACES, RANDOM_READS)
"""The ids of these checks."""
ROUNDS = 4
"""For so many rounds there are as many programs as have all collisions."""
AGAIN = 5
"""How often a program of a replay file is raced: whether its clients collide is chance."""


@check(RANDOM_CHANGES)
def test_changes_have_an_order(catalog: Catalog) -> None:
    """Some order explains what several clients that change tables are told, and what is left."""
    _race(catalog, shared_namespace(catalog), CHANGES, "updateTable.200")


@check(RANDOM_VIEWS)
def test_changes_of_views_have_an_order(catalog: Catalog) -> None:
    """Some order explains what several clients that change views are told, and what is left."""
    _race(catalog, shared_namespace(catalog), VIEWS, "createView.200")


@check(RANDOM_NAMESPACES)
def test_changes_of_namespaces_have_an_order(catalog: Catalog) -> None:
    """Some order explains what clients are told that change namespaces and what they hold."""
    _race(catalog, shared_namespace(catalog), NAMESPACES, "dropNamespace.204")


@check(RANDOM_READS)
def test_reads_have_an_order(catalog: Catalog) -> None:
    """Some order explains what clients are shown while others make random changes."""
    _race(catalog, given_namespace(catalog), READS, "updateTable.200", strictly=True)


def _expect_offered(catalog: Catalog, programs: Sequence[Program]) -> None:
    """Raise NotOffered if any request would be left out: what is left has found nothing."""
    asked = [request for program in programs for request in requests_of(program)]
    sent = [each for program in programs for each in requests_of(offered(catalog, program))]
    if left_out := [in_words(each) for each in asked if each not in sent]:
        raise NotOffered(f"the catalog does not offer {', '.join(dict.fromkeys(left_out))}")


def _race(
    catalog: Catalog, namespace: Namespace, sort: Sort, due: str, *, strictly: bool = False
) -> None:
    """Race the programs that are to be run again, and as many new ones as there are rounds."""
    told: tuple[Event, ...] = ()
    undecided = 0
    replays = catalog.session.replays
    kept = [from_json(steps) for steps in replays.steps_of(catalog.check_id)]
    if replays.alone:
        _expect_offered(catalog, kept)
    programs = [program for program in kept for _ in range(AGAIN)]
    if not replays.alone:
        programs_max = -(-catalog.target.rounds * sort.variety // ROUNDS)
        programs += draw_programs(catalog.session.seed, sort, programs_max=programs_max)
    for program in programs:
        raced, decided = replay(catalog, namespace, program, strictly=strictly)
        told += raced
        undecided += not decided
    if undecided:
        why = f"{undecided} of the histories are too tangled to be judged"
        raise NotOffered(why, SkipKind.HARNESS_GAP)
    if not replays.alone:
        expect_success(told, due)
