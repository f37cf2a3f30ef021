"""Checks of drawn programs of several clients: some order explains what all of them were told."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, shared_namespace
from icecheck.findings.verdict import SkipKind
from icecheck.histories.history import Event
from icecheck.judging.check import check
from icecheck.objects.moves import expect_success
from icecheck.replies.expect import NotOffered
from icecheck.scenarios.races.drawing import CHANGES, READS, Sort, draw_programs
from icecheck.scenarios.races.replaying import replay
from icecheck.targets.target import Namespace


@check("race.random-changes")
def test_changes_have_an_order(catalog: Catalog) -> None:
    """Some order explains what several clients with random changes are told, and what is left."""
    _race(catalog, shared_namespace(catalog), CHANGES, strictly=False)


@check("race.random-reads")
def test_reads_have_an_order(catalog: Catalog) -> None:
    """Some order explains what clients are shown while others make random changes."""
    _race(catalog, given_namespace(catalog), READS, strictly=True)


def _race(catalog: Catalog, namespace: Namespace, sort: Sort, *, strictly: bool) -> None:
    """Race as many programs as there are rounds, and judge each."""
    told: tuple[Event, ...] = ()
    undecided = 0
    for program in draw_programs(catalog.session.seed, sort, programs_max=catalog.target.rounds):
        raced, decided = replay(catalog, namespace, program, strictly=strictly)
        told += raced
        undecided += not decided
    if undecided:
        why = f"{undecided} of the histories are too tangled to be judged"
        raise NotOffered(why, SkipKind.HARNESS_GAP)
    expect_success(told, "updateTable.200")
