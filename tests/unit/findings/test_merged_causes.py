"""Catalogs that are wrong in everything: one cause says it, and no profile looks better."""

import json
from dataclasses import replace

import pytest

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.conclusion import profiles_of
from icecheck.findings.merging.kinds import COMMITS
from icecheck.findings.merging.updates import COMMITTING_ACTIONS
from icecheck.findings.verdict import Evidence, Group, Outcome, Verdict
from icecheck.scenarios.random.actions import ACTIONS, operations_of
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.unit.scenarios.test_scenario_histories import TOUR


def evidence(operation, *, status=200, body="{}", method="POST"):
    return Evidence(
        ordinal=1,
        step="do",
        operation=operation,
        request=f"{method} http://c.test/{operation}",
        status=status,
        request_body="",
        response_headers="",
        response_body=body,
        curl="",
    )


def failing(check, symptom="status", expected="404", actual="200", **members):
    given = {
        "check": check,
        "title": check,
        "group": Group.CHECKS,
        "level": Level.MUST,
        "requirements": (f"{check}.404",),
        "operations": (check,),
        "profile": "write",
        "outcome": Outcome.FAIL,
        "findings": (a_finding(symptom, expected, actual, exchange=1),),
        "evidence": (evidence(check, body=f'"{check}"'),),
        "requests": 1,
    }
    return Verdict(**given | members)


def causes(*verdicts):
    return causes_of(verdicts, CONTRACT)


ALIKE = [
    failing(f"o{i}", f"symptom-{i}", f"e{i}", f"a{i}", evidence=(evidence(f"o{i}"),))
    for i in range(6)
]


def test_one_answer_to_everything_is_one_cause():
    blocked = failing("b", outcome=Outcome.BLOCKED, findings=(), blocked_by=("o1",),
                      evidence=(evidence("b"),))  # fmt: skip
    (only,) = causes(*ALIKE, blocked)
    assert only.symptom == "same-answer"
    assert only.actual == "200 {}"
    assert only.members == tuple(f"o{i}" for i in range(6))
    assert only.blocked == ("b",)


def test_the_empty_body_of_a_head_request_does_not_count():
    head = failing("h", evidence=(evidence("h", body="", method="HEAD"),))
    assert len(causes(*ALIKE, head)) == 1


def test_one_answer_that_differs_keeps_the_causes_apart():
    other = failing("x", "another", evidence=(evidence("x", body='{"x": 1}'),))
    assert len(causes(*ALIKE, other)) == 7


def test_an_error_of_the_suite_is_not_the_catalogs_answer():
    ours = failing("e", "suite-error", "no error", "KeyError", outcome=Outcome.ERROR, evidence=())
    assert {c.symptom for c in causes(*ALIKE, ours)} == {"same-answer", "suite-error"}


ACCEPTING = [failing(f"r{s}", expected=s) for s in ("400", "404", "409 or 404", "4xx")]


def test_a_catalog_that_refuses_nothing_has_one_cause():
    (only,) = causes(*ACCEPTING)
    assert only.symptom == "never-refuses"
    assert only.expected == "404 or 409 or 4xx"
    assert len(only.members) == 4
    assert only.wrong == "Refuses nothing: answers 2xx where 404 or 409 or 4xx is due"


def test_a_catalog_that_refuses_something_keeps_its_causes():
    refused = failing("good", outcome=Outcome.PASS, findings=(), evidence=())
    kept = causes(*ACCEPTING, refused)
    assert {c.expected: c.members for c in kept} == {
        "4xx": ("r400", "r4xx"),
        "404": ("r404", "r409 or 404"),
    }


def missed(check, expected, actual):
    return failing(check, expected=expected, actual=actual)


def test_one_wrong_answer_is_one_cause_however_many_answers_are_allowed():
    (only,) = causes(
        missed("a", "404 or 406 or 409", "410"),
        missed("b", "200 or 204 or 404", "410"),
        missed("c", "404", "410"),
        missed("d", "404 or 409", "410"),
    )
    assert set(only.members) == set("abcd")
    assert (only.expected, only.actual) == ("404", "410")
    assert only.wrong == "Answers 410 where 404 is due"


def test_what_was_only_read_off_other_exchanges_is_no_refusal():
    passive = failing("schema.x", outcome=Outcome.PASS, findings=(), evidence=(), passive=True)
    assert len(causes(*ACCEPTING, passive)) == 1


def test_a_missing_effect_is_one_cause_whatever_the_values_were():
    first = failing("a", "effect-missing:properties", '"icecheck"', "null")
    second = failing("b", "effect-missing:properties", '"second"', "null")
    other = failing("c", "effect-missing:drop-namespace", "404", "200")
    found = causes(first, second, other)
    assert [c.members for c in found] == [("a", "b"), ("c",)]
    assert found[0].wrong == "Accepts a change and shows something else afterwards: properties"
    assert {c.severity for c in found} == {0}


def test_the_witness_of_a_cause_is_of_its_level_and_has_an_exchange():
    lesser = failing("a", level=Level.SHOULD)
    mute = failing("b", evidence=())
    best = failing("c")
    (only,) = causes(lesser, mute, best)
    assert only.witness == "c"


# profiles


def profiles(*verdicts, endpoints=("POST /v1/{prefix}/transactions/commit",)):
    config = {"defaults": {}, "overrides": {}, "endpoints": list(endpoints)}
    offer = Offer.read(config, Target("http://c.test"))
    return {p.id: p.status for p in profiles_of(verdicts, offer, CONTRACT)}


CORE = failing("getConfig", profile="core")


def test_where_the_core_fails_a_claimed_profile_that_was_not_judged_fails_with_it():
    assert profiles(CORE)["transactions"] == "not-conformant"
    assert profiles(CORE)["views"] == "not-claimed"


def test_where_the_core_holds_a_claimed_profile_that_was_not_judged_is_not_verified():
    held = replace(CORE, outcome=Outcome.PASS, findings=())
    assert profiles(held)["transactions"] == "not-verified"


def test_a_profile_that_was_judged_keeps_its_own_status():
    passed = failing("commit", profile="transactions", outcome=Outcome.PASS, findings=(),
                     requirements=("commitTransaction.204",))  # fmt: skip
    assert profiles(CORE, passed)["transactions"] == "conformant"


def test_a_profile_of_which_only_refusals_were_seen_is_not_verified():
    passed = failing("commit", profile="transactions", outcome=Outcome.PASS, findings=())
    assert profiles(CORE, passed)["transactions"] == "not-verified"


def test_a_missing_answer_never_turns_into_a_failure():
    blocked = failing("commit", profile="transactions", outcome=Outcome.BLOCKED, findings=(),
                      blocked_by=("target",))  # fmt: skip
    assert profiles(CORE, blocked)["transactions"] == "not-verified"


def test_what_contenders_are_told_that_cannot_be_true_together_is_one_cause():
    back = failing("back", "anomaly:resurrected", "it stays dropped", "it is there again")
    lost = failing("lost", "anomaly:lost-update", "what was acknowledged", "its loss")
    (cause,) = causes(back, lost)
    assert (cause.symptom, cause.members) == ("anomaly:lost-update", ("lost", "back"))


def test_what_contenders_contradict_below_a_must_is_another_cause():
    half = failing("half", "anomaly:half-visible", "all of it", "a part", level=Level.INTEROP)
    read = failing("read", "anomaly:phantom-success", "none", "one", level=Level.INTEROP)
    lost = failing("lost", "anomaly:lost-update", "what was acknowledged", "its loss")
    must, interop = causes(half, lost, read)
    assert (must.level, must.members, must.lesser) == (Level.MUST, ("lost",), ())
    assert (interop.level, {*interop.members}) == (Level.INTEROP, {"half", "read"})


LOST = failing("twice", "effect-missing:second-change-of-a-table", '"2"', '"1"')
HALF = failing("half", "anomaly:half-visible", "all of it", "a part", level=Level.INTEROP)


def test_a_transaction_of_single_commits_is_one_cause() -> None:
    (cause,) = causes(LOST, HALF)
    assert cause.symptom == "effect-missing:second-change-of-a-table"
    assert cause.level is Level.MUST
    assert cause.witness == "twice"
    assert (cause.members, cause.lesser) == (("twice",), ("half",))


def test_what_another_change_loses_has_nothing_to_do_with_readers() -> None:
    other = failing("other", "effect-missing:properties", '"2"', '"1"')
    assert {c.members for c in causes(other, HALF)} == {("other",), ("half",)}


def test_what_else_contenders_are_told_stays_apart_from_a_lost_change() -> None:
    update = failing("update", "anomaly:lost-update", "what was acknowledged", "its loss")
    assert {c.members for c in causes(LOST, HALF, update)} == {("twice",), ("update",)}


@pytest.mark.parametrize(
    ("operations", "together"),
    [(("commitTransaction", "loadTable"), True), (("commitTransaction", "updateTable"), False)],
)
def test_what_two_transactions_at_once_lose_is_one_cause_with_what_one_loses(
    operations: tuple[str, ...], together: bool
) -> None:
    raced = failing("raced", "anomaly:lost-update", "what came", "its loss", operations=operations)
    assert (len(causes(LOST, raced)) == 1) is together
    assert len(causes(HALF, raced)) == 2


def test_what_a_lesser_check_of_other_commits_loses_does_not_part_a_transaction() -> None:
    """It is shown in one run and not in the next: the causes of both are the same."""
    words = ("anomaly:lost-update", "what came", "its loss")
    raced = failing("raced", *words, operations=("commitTransaction",))
    reads = failing("reads", *words, operations=("updateTable",), level=Level.INTEROP)
    assert [c.id for c in causes(LOST, raced, reads)] == [c.id for c in causes(LOST, raced)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:/tmp/a1/metadata.json", "file:/tmp/b2/metadata.json"),
        ("s3://bucket/a?x=1 and more", "s3://other/b?x=2 and more"),
        ("9c12d441-03fe-4693-9a96-a0705ddf69c1", "00000000-03FE-4693-9a96-a0705ddf69c2"),
        ("the namespace icecheck_5c1fe2_home", "the namespace icecheck_77aa01_home"),
        ("1763942686123", "1763942999999"),
    ],
)
def test_what_a_catalog_generates_makes_no_cause_of_its_own(one, other):
    (first,) = causes(failing("a", "answer-differs-from-load", "what a load shows", one))
    (again,) = causes(failing("a", "answer-differs-from-load", "what a load shows", other))
    assert first.id == again.id
    (both,) = causes(
        failing("a", "answer-differs-from-load", "what a load shows", one),
        failing("b", "answer-differs-from-load", "what a load shows", other),
    )
    assert both.members == ("a", "b")


@pytest.mark.parametrize(("last", "many"), [("evolve", 1), ("drop-table", 2)])
def test_a_drawn_history_that_a_commit_ends_is_about_that_commit(last: str, many: int) -> None:
    lost = [
        failing(f"u{kind}", f"effect-missing:{kind}", operations=("updateTable",))
        for kind in ("schema", "refs", "statistics")
    ]
    steps = json.dumps([["create-table", ["n0.x0"], ["1"]], [last, ["n0.x0"], []]])
    drawn = failing("drawn", "changed-beside:snapshot", operations=("createTable", "updateTable"))
    drawn = replace(drawn, findings=(replace(drawn.findings[0], steps=steps),))
    assert len(causes(*lost, drawn)) == many


IGNORED = failing("asserted", "requirement-ignored", "409", "200", operations=("updateTable",))
UNHEEDED = (
    IGNORED,
    failing("raced", "anomaly:lost-update", "it", "its loss", operations=("updateTable",)),
    failing("name", requirements=("assertion.assert-create.violated",), expected="409"),
    failing("first", requirements=("commit.requirements-before-updates",), expected="409"),
)


def test_a_catalog_that_ignores_requirements_has_one_cause() -> None:
    (cause,) = causes(*UNHEEDED)
    assert (cause.symptom, cause.witness) == ("requirement-ignored", "asserted")


def test_other_lost_updates_and_names_given_twice_are_no_ignored_requirements() -> None:
    beside = failing("beside", "anomaly:lost-update", operations=("updateProperties",))
    twice = failing("twice", requirements=("createTable.409",), expected="409")
    named = failing("name", requirements=("assertion.assert-create.violated",), expected="409")
    assert len(causes(IGNORED, beside)) == 2
    assert {c.members for c in causes(IGNORED, named, twice)} == {("asserted",), ("name", "twice")}


PAGE = replace(evidence("paged"), request="GET http://c.test/v1/n/a/tables?pageToken=&pageSize=1")
PAGED = (
    failing("cover", "pages-incomplete", "every entry once", "an entry is missing"),
    failing("start", "pages-incomplete", "a first page", "neither", operations=("cover",)),
    failing("names", "name-altered", evidence=(PAGE,)),
)


def test_what_pages_show_wrongly_is_one_cause_with_pages_that_are_incomplete() -> None:
    (cause,) = causes(*PAGED)
    assert (cause.symptom, {*cause.members}) == ("pages-incomplete", {"cover", "start", "names"})
    assert len(causes(*PAGED[:2], failing("names", "name-altered"))) == 2
    assert len(causes(PAGED[2], failing("other", "listing"))) == 2


EMPTIED = (
    failing("holds", requirements=("dropNamespace.409",), expected="409"),
    failing("raced", "anomaly:lost-update", operations=("createTable", "dropNamespace")),
)


def test_full_namespaces_that_are_dropped_are_one_cause_with_what_a_race_loses_by_it() -> None:
    (cause,) = causes(*EMPTIED)
    assert (cause.symptom, cause.members) == ("status", ("holds", "raced"))
    table = failing("table", "anomaly:lost-update", operations=("updateTable",))
    assert len(causes(EMPTIED[0], table)) == 2


def test_what_several_races_lose_is_named_after_the_plain_check_that_explains_one_of_them() -> None:
    back = failing("back", "anomaly:resurrected", operations=("dropNamespace", "updateProperties"))
    (cause,) = causes(*EMPTIED, back)
    assert (cause.symptom, cause.witness) == ("status", "holds")
    changed = failing("changed", "anomaly:stale-read", operations=("updateTable",))
    (cause,) = causes(*EMPTIED, changed)
    assert (cause.symptom, cause.witness) == ("status", "holds")


MADE_IN_MISSING = failing("made", requirements=("createTable.404",))
COME_BACK = failing("back", "anomaly:resurrected", operations=("dropNamespace", "updateProperties"))


def test_dropped_namespaces_that_come_back_are_one_cause_with_tables_made_in_missing_ones() -> None:
    table = failing("table", "anomaly:resurrected", operations=("dropTable", "updateTable"))
    (cause,) = causes(MADE_IN_MISSING, COME_BACK)
    assert (cause.symptom, cause.members) == ("status", ("made", "back"))
    assert len(causes(MADE_IN_MISSING, table)) == 2


def test_actions_of_histories_are_known_to_be_commits_by_how_their_names_begin() -> None:
    commits = {each.name for each in TOUR if operations_of([each]) & COMMITS}
    assert commits == {name for name in ACTIONS if name.startswith(COMMITTING_ACTIONS)}


def test_metadata_that_are_kept_otherwise_are_told_with_the_ways():
    operations = ("updateTable",)
    kinds = ("statistics", "snapshot-log", "last-column-id")
    lost = [failing(kind, f"effect-missing:{kind}", operations=operations) for kind in kinds]
    beside = failing("beside", "changed-beside:current-snapshot-id", operations=operations)
    made = failing("made", "effect-missing:sort-orders", operations=("createTable", "loadTable"))
    (cause,) = [
        cause
        for cause in causes_of([*lost, beside, made], CONTRACT)
        if cause.symptom == "ignores-updates"
    ]
    assert "made" in cause.members
    ways = cause.wrong.partition("Keeps other metadata than was sent, in several ways: ")[2]
    assert ways.split(", ") == [
        "members changed that no update names",
        "counters that stay behind",
        "logs without their entries",
        "members left out at creation",
        "updates without their effect",
    ]
    few = causes_of(
        [failing(f"u{n}", f"effect-missing:{n}", operations=operations) for n in ("a", "b", "c")],
        CONTRACT,
    )
    assert few[0].wrong.endswith("in several ways: updates without their effect")
