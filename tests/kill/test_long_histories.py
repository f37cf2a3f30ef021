"""Drawn histories: each planted defect is found for every seed, cut down, and found again."""

import json

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.replay import Replays, read_replay, replay_text
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.mock_server.mock import MockCatalog
from icecheck.run.replays.understanding import understood
from icecheck.scenarios.random.actions import from_json
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE, checks_of, defects_of
from tests.kit.shares import some

(CHECK,) = checks_of("test_namespaces_and_tables")
NAMES = defects_of("commits.long_histories")
SEEDS = range(5)
SHORTEST = {
    "history-branch-where-it-was": 5,
    "history-earlier-schema-unsorted": 4,
    "history-merged-branch-goes": 4,
    "history-refused-view-keeps-schemas": 4,
    "history-rename-after-upgrade": 5,
    "history-statistics-of-the-former": 5,
    "history-table-name-in-views": 5,
    "history-tag-follows-main": 5,
    "history-transaction-drops-branches": 6,
    "history-transaction-half-undone": 4,
    "history-transaction-of-unlike-tables": 5,
    "history-view-goes-home": 4,
    "history-view-properties-roll-back": 5,
}
"""Defect -> the steps of the shortest history known; one more where it needs a second namespace."""


def verdict_of(name: str, seed: int = 0, replays: Replays | None = None) -> Verdict:
    """Return the verdict of drawn histories, or of replays alone, on a fresh mock."""
    with MockCatalog(seed=1, token=TOKEN) as mock:
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
        session = open_session(target, run_id="kill", seed=seed, transport=mock.httpx_transport())
        session.replays = replays or session.replays
        if name:
            defects()[name].install(mock.registries)
        verdict = judge(CHECK, Catalog(session, CHECK.id))
        session.close()
    assert session.residue == []
    return verdict


def test_the_shortest_history_of_every_defect_is_known() -> None:
    assert set(SHORTEST) == set(NAMES)


@pytest.mark.parametrize("name", some(NAMES, 6))
@pytest.mark.parametrize(
    "seeds",
    [
        SEEDS[:1],
        pytest.param(SEEDS[1:], marks=pytest.mark.complete("four seeds more than the usual one")),
    ],
    ids=["usual", "others"],
)
def test_every_defect_is_found_for_each_of_five_seeds(name: str, seeds: range) -> None:
    for seed in seeds:
        verdict = verdict_of(name, seed)
        assert verdict.outcome is Outcome.FAIL, seed
        (finding,) = verdict.findings
        spaces = sum(action.name == "create-namespace" for action in from_json(finding.steps))
        assert len(from_json(finding.steps)) == SHORTEST[name] + spaces - 1, finding.detail
        replay = understood(read_replay(replay_text(CHECK.id, "1.10.0", finding)))
        again = verdict_of(name, replays=Replays.of(replay, alone=True))
        assert [each.key for each in again.findings] == [finding.key]
        assert verdict_of("", replays=Replays.of(replay, alone=True)).outcome is Outcome.PASS


def test_the_card_shows_the_requests_of_the_shortest_history_and_no_others() -> None:
    verdict = verdict_of("history-view-goes-home")
    *_, shown = verdict.evidence
    made = [each for each in verdict.evidence if each.operation == "createNamespace"]
    names = [json.loads(each.request_body)["namespace"][-1] for each in made]
    assert [name for name in names if name not in shown.request] == []
    (finding,) = verdict.findings
    changing = [
        each for each in verdict.evidence if each.step == "do" and "GET" not in each.request
    ]
    assert len(changing) == len(from_json(finding.steps))
