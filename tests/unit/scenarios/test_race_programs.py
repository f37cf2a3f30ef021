"""Programs of several clients are data: drawn by seed, written and read as JSON, raced, shrunk."""

import json
import os
import subprocess
import sys

import pytest
from msgspec import structs

from icecheck.client.given import given_namespace
from icecheck.findings.verdict import SkipKind
from icecheck.histories.explaining import Judgement
from icecheck.histories.history import AnomalyKind, is_read
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.replies import json_reply
from icecheck.replies.expect import NotOffered, Violation
from icecheck.scenarios.races.contest import contest
from icecheck.scenarios.races.drawing import CHANGES, NAMESPACES, READS, VIEWS, draw_programs
from icecheck.scenarios.races.programs import (
    READING,
    SHAPES,
    from_json,
    from_words,
    in_words,
    requests_of,
    to_json,
    told,
)
from icecheck.scenarios.races.replaying import SHRINKING_REQUESTS_MAX, replay
from tests.kill.killing import checks_of
from tests.kill.refusing import refuse_if

CHECKS = checks_of("test_random_races")
SORTS = (CHANGES, VIEWS, NAMESPACES, READS)
REQUESTS_MAX = 250
"""What all checks together send by default."""
SCRIPT = """
import sys
sys.path[:0] = [sys.argv[1]]
if len(sys.argv) > 2:
    import constants
    import icecheck.cli, icecheck.mock_server
from icecheck.scenarios.races.drawing import CHANGES, NAMESPACES, READS, VIEWS, draw_programs
from icecheck.scenarios.races.programs import to_json
for sort in (CHANGES, VIEWS, NAMESPACES, READS):
    for program in draw_programs(7, sort, programs_max=4):
        print(to_json(program))
"""


def program_of(*parts):
    """A program in words: a text for each part, clients apart by ``|``, requests by ``;``."""
    return tuple(
        tuple(
            tuple(from_words(each) for each in script.split("; ")) if script else ()
            for script in part.split(" | ")
        )
        for part in parts
    )


TOUR = program_of(
    "create x2 1 | create-by-commit x2 2 | set x0 p 3 x0; set x2 q 4 any | move-main x0 1 0",
    "together x0 x1 p 5; move-main-together x1 x0 2 0 6 | load x0; exists x1; list",
    "rename x1 x3; drop x0",
    "create v2 7; set v0 p 8 v0 | define v0 9 v0; define v2 10 any | rename v1 n0.v3 | list-views",
    "create n2 11; set n2 p 12 any | register n0.x4 0 | drop n1 | list-namespaces; exists v0",
    "load n0; exists n2 | drop v0; drop n0.x4 | load v2; load n0.x4",
)


def drawn(seed, *sorts):
    """All programs that are drawn by default for a seed."""
    programs = [draw_programs(seed, sort, programs_max=sort.variety) for sort in sorts or SORTS]
    return [program for each in programs for program in each]


# ---- as data


def test_the_same_seed_draws_the_same_programs_and_another_seed_others():
    for sort in SORTS:
        assert drawn(3, sort) == drawn(3, sort)
        assert drawn(3, sort) != drawn(4, sort)
        assert len(set(drawn(3, sort))) == sort.variety


def test_programs_depend_neither_on_hashing_nor_on_the_modules_that_are_loaded(tmp_path):
    (tmp_path / "constants.py").write_text("\n".join(f"a{i} = {i * 977}" for i in range(200)))
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path), *more],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed, more in (("1", []), ("2", ["constants"]))
    ]
    assert said[0] == said[1]
    assert said[0].count("\n") == 16


def test_the_programs_of_a_run_have_every_collision():
    for sort in SORTS:
        named = {
            each.partition(" ")[0]
            for part in sort.beginnings
            for collision in part
            for script in collision.split(" | ")
            for each in script.split("; ")
        }
        for seed in range(5):
            programs = drawn(seed, sort)
            assert {each.name for program in programs for each in requests_of(program)} >= named
            assert all(len(program) == len(sort.beginnings) for program in programs)


def test_no_two_requests_of_a_program_set_the_same_value():
    for program in (p for seed in range(5) for p in drawn(seed)):
        values = [
            each.values[at]
            for each in requests_of(program)
            for at, choices in enumerate(SHAPES[each.name].values)
            if not choices and each.values[at] not in {"p", "q"}
        ]
        assert len(set(values)) == len(values)


def test_each_metadata_file_is_registered_once_in_a_program():
    """A catalog may delete a file with the first of its tables."""
    for program in (p for seed in range(5) for p in drawn(seed)):
        files = [each.values for each in requests_of(program) if each.name == "register"]
        assert len(set(files)) == len(files)


def test_programs_survive_json_and_have_words():
    for program in (p for seed in range(3) for p in drawn(seed)):
        assert from_json(to_json(program)) == program
    assert from_json(to_json(TOUR)) == TOUR
    assert {each.name for each in requests_of(TOUR)} == set(SHAPES)
    assert told(program_of("drop x0 | rename x1 x2; list", "set x0 p 1 x1"), ("a", "b")) == (
        "a: drop table x0; b: rename table x1 to x2, then list tables; "
        "when all are done, a: set p of table x0 to 1 if it is the first x1"
    )


WORDS = {
    "move-main x0 2 any": "move main of table x0 to snapshot 2",
    "create-by-commit x2 7": "create by commit table x2 as 7",
    "create n2 7": "create namespace n2 as 7",
    "register n0.x2 1": "register table n0.x2 from metadata file 1",
    "define v0 3 v1": "define view v0 as SELECT 3 if it is the first v1",
    "set n0 p 3 any": "set p of namespace n0 to 3",
    "together x0 x1 p 5": "set p of tables x0 and x1 to 5 in one transaction",
    "list-views": "list views",
    "list-namespaces": "list namespaces",
}


@pytest.mark.parametrize("text", WORDS)
def test_a_request_has_words(text):
    assert in_words(from_words(text)) == WORDS[text]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "no json",
        "[[]]",
        "[[[]]]",
        '{"parts":[[[["list",[],[]]]]]}',
        '[{"a":1}]',
        '[[[["explode",["x0"],[]]]]]',
        '[[[["drop",[],[]]]]]',
        '[[[["drop",["y0"],[]]]]]',
        '[[[["rename",["x0","x0"],[]]]]]',
        '[[[["set",["x0"],["p","1","x2"]]]]]',
        '[[[["set",["x0"],["p","../..","x0"]]]]]',
        '[[[["move-main",["x0"],["9","0"]]]]]',
        '[[[["create-by-commit",["x0"],["5"]]]]]',
        '[[[["set",["x0"],["mark","5","any"]]]]]',
        '[[[["together",["x0","x1"],["mark","5"]]]]]',
        '[[[["rename",["x0","v2"],[]]]]]',
        '[[[["rename",["n0","n2"],[]]]]]',
        '[[[["set",["v0"],["p","1","x0"]]]]]',
        '[[[["set",["n0"],["p","1","n0"]]]]]',
        '[[[["define",["x0"],["1","any"]]]]]',
        '[[[["register",["v2"],["0"]]]]]',
        '[[[["register",["x2"],["2"]]]]]',
        '[[[["drop",["n0.n1"],[]]]]]',
        '[[[["create-by-commit",["n0.x2"],["1"]]]]]',
        json.dumps([[[["list", [], []]] * 13]]),
        json.dumps([[[["list", [], []]]] * 9]),
    ],
)
def test_what_is_no_program_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r".") as refused:
        from_json(text)
    assert "\n" not in str(refused.value)


# ---- raced


@pytest.mark.parametrize("isolation", ["nested", "flat"])
def test_the_checks_pass_leave_nothing_and_are_cheap(isolation, open_catalog):
    for seed in (0, 5):
        requests = 0
        for check in CHECKS:
            catalog = open_catalog(check.id, seed=seed, isolation=isolation)
            verdict = judge(check, catalog)
            catalog.session.close()
            assert verdict.outcome == "pass", verdict.summary
            assert catalog.session.residue == []
            requests += verdict.requests
        assert requests <= REQUESTS_MAX


def test_the_checks_strain_no_catalog():
    assert not any(check.disruptive for check in CHECKS)


def test_every_request_is_sent_and_recorded_with_its_place(catalog):
    raced = contest(catalog, given_namespace(catalog), TOUR, strictly=True)
    assert raced.judgement.anomaly is None
    sent = [place.request for place in raced.asked.values()]
    assert sorted(map(in_words, sent)) == sorted(map(in_words, requests_of(TOUR)))
    assert {(place.part, place.client) for place in raced.asked.values()} == {
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0),
        (3, 0), (3, 1), (3, 2), (3, 3), (4, 0), (4, 1), (4, 2), (4, 3), (5, 0), (5, 1), (5, 2),
    }  # fmt: skip
    for ordinal, place in raced.asked.items():
        (event, *_) = [e for e in raced.raced if e.exchange == ordinal]
        assert event.label.startswith(in_words(place.request))
        assert (place.request.name in READING) == is_read(event)


def test_only_what_a_program_needs_is_made_before(catalog):
    contest(catalog, given_namespace(catalog), program_of("drop x1"), strictly=True)
    asked = [exchange.operation for exchange in catalog.exchanges]
    made = ["createNamespace", "createTable"]
    assert asked == [*made, "dropTable", "loadTable", "dropTable"]


def test_a_staged_table_that_is_refused_is_the_reason_of_the_end(mock, open_catalog):
    refuse_if(mock.registries, "createTable", lambda call: sent_json(call)["stage-create"], 403)
    catalog = open_catalog("race.random-changes")
    catalog.session.capabilities["stage-create"] = True  # as other names have shown
    with pytest.raises(NotOffered, match="createTable answered 403"):
        contest(
            catalog, given_namespace(catalog), program_of("create-by-commit x2 2"), strictly=True
        )


def test_what_the_catalog_does_not_offer_is_left_out(mock, open_catalog):
    for operation_id in ("renameTable", "commitTransaction", "tableExists"):
        del mock.registries.operations[operation_id]
    catalog = open_catalog("race.random-reads")
    catalog.session.capabilities["metadata-only-snapshots"] = False
    catalog.session.capabilities["stage-create"] = False
    raced = contest(catalog, given_namespace(catalog), TOUR, strictly=True)
    left = {in_words(place.request).split(" ")[0] for place in raced.asked.values()}
    assert left == {
        "create",
        "set",
        "load",
        "list",
        "drop",
        "define",
        "register",
        "exists",
        "rename",
    }
    assert contest(catalog, given_namespace(catalog), program_of("rename x0 x1"), strictly=True)


def test_what_is_sent_depends_on_no_answer(open_catalog, mock):
    sent = []
    for _ in range(2):
        before = mock.snapshot()
        catalog = open_catalog("race.random-changes", seed=3)
        judge(CHECKS[0], catalog)
        sent.append([(e.method, e.url) for e in catalog.exchanges])
        catalog.session.close()
        mock.restore(before)
    assert sent[0] == sent[1]


# ---- shrunk


def contradicts(catalog, program):
    """Whether a program shows a contradiction in ten races: that its clients collide is chance."""
    namespace = given_namespace(catalog)
    for _ in range(10):
        try:
            replay(catalog, namespace, program, strictly=False)
        except Violation:
            return True
    return False


@pytest.mark.complete("test_cli_replay has one that is kept and fails again")
def test_a_contradiction_is_shrunk_and_can_be_replayed(mock, open_catalog):
    defects()["race-last-writer-wins"].install(mock.registries)
    catalog = open_catalog("race.random-changes")
    verdict = judge(CHECKS[0], catalog)
    (finding,) = verdict.findings
    assert finding.symptom.slug.startswith("anomaly:")
    said, smallest = finding.detail, from_json(finding.steps)
    assert len(requests_of(smallest)) <= 4
    assert told(smallest, ("client 1", "client 2", "client 3")) in said
    assert any(evidence.ordinal == finding.exchange for evidence in verdict.evidence)
    assert verdict.requests < 70 + SHRINKING_REQUESTS_MAX + 60
    assert contradicts(catalog, smallest)


def test_a_contradiction_is_told_where_no_smaller_program_can_begin(
    mock, open_catalog, misbehave, monkeypatch
):
    """Once a table was dropped, the catalog makes no others."""

    def forget(outcome, state, call):
        return structs.replace(outcome, state=state)

    def refuse(outcome, state, call):
        if any(each.operation == "dropTable" for each in catalog.exchanges):
            raise Problem(500, "InternalServerError", "no more")
        return outcome

    misbehave("updateTable", forget)
    misbehave("createTable", refuse)
    catalog = open_catalog("race.random-changes")
    program = program_of("set x0 p 1 x0 | load x0")
    with pytest.raises(Violation) as caught:
        replay(catalog, given_namespace(catalog), program, strictly=False)
    assert from_json(caught.value.finding.steps) == program


@pytest.mark.parametrize("left_out", ["current-snapshot-id", "refs"])
def test_main_may_be_shown_in_either_form(left_out, catalog, misbehave):
    def without(outcome, state, call):
        body = json.loads(outcome.reply.body)
        body["metadata"].pop(left_out, None)
        return structs.replace(outcome, reply=json_reply(body))

    for operation_id in ("createTable", "updateTable", "loadTable"):
        misbehave(operation_id, without)
    program = program_of("move-main x0 1 0 | load x0", "set x0 p 5 x0")
    for strictly in (True, False):
        raced = contest(catalog, given_namespace(catalog), program, strictly=strictly)
        assert raced.judgement == Judgement(None)


def test_what_a_second_look_shows_was_not_lost(open_catalog, mock):
    """The first load after a commit is answered from before it: that is a stale read."""
    faithful = mock.registries.operations["loadTable"]
    kept, shown = {}, []

    def stale(context, state, call):
        before = kept.get(call.name)
        shown.append(call.name)
        if before is not None and shown.count(call.name) == 1:
            return Outcome(state, before)
        return faithful(context, state, call)

    def remember(operation, context, state, call):
        kept[call.name] = faithful(context, state, call).reply
        return operation(context, state, call)

    update = mock.registries.operations["updateTable"]
    mock.registries.operations["loadTable"] = stale
    mock.registries.operations["updateTable"] = lambda *args: remember(update, *args)
    catalog = open_catalog("race.random-reads")
    namespace = given_namespace(catalog)
    program = program_of("set x0 p 1 x0")
    found = contest(catalog, namespace, program, strictly=True).judgement.anomaly
    assert found is not None
    assert found.kind is AnomalyKind.STALE_READ
    assert contest(catalog, namespace, program, strictly=False).judgement.anomaly is None


def test_histories_that_are_too_tangled_are_no_verdict(catalog, monkeypatch):
    undecided = Judgement(None, decided=False)
    monkeypatch.setattr("icecheck.scenarios.races.contest.judged", lambda *_, **__: undecided)
    verdict = judge(CHECKS[0], catalog)
    assert (verdict.outcome, verdict.skip.kind) == ("skip", SkipKind.HARNESS_GAP)
    assert "2 of the histories" in verdict.skip.reason
