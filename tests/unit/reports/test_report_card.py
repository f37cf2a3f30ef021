"""The card of a failed check: everything to believe it and to reproduce it, safe to print."""

import json
from dataclasses import replace

import pytest

from icecheck.findings.shared_symptoms import ANOMALY, CHANGED_BESIDE
from icecheck.findings.statuses import Statuses
from icecheck.findings.telling.finding_card import card_of, describe, legible, one_line
from tests.kit.contracts import CONTRACT


def test_a_card_has_all_its_parts(runs):
    failure = next(
        v for v in runs["failed"].verdicts if v.check == "createNamespace.already-exists"
    )
    lines = card_of(failure, CONTRACT).splitlines()
    assert lines[0].startswith("FAIL createNamespace.already-exists (must): ")
    labels = [line[2:14].strip() for line in lines[1:] if line[2:14].strip()]
    assert labels == [
        "requirement",
        "hurts",
        "expected",
        "actual",
        "request",
        "answer",
        "note",
        "first",
        "reproduce",
    ]
    permalink = CONTRACT.permalink(CONTRACT.requirements["createNamespace.409"].lines)
    assert lines[2].strip() == permalink
    assert lines[-1].strip().startswith("reproduce    curl ")


def test_a_blocked_card_names_what_blocks_it(runs):
    blocked = next(v for v in runs["failed"].verdicts if v.blocked_by)
    text = card_of(blocked, CONTRACT)
    assert text.startswith("BLOCKED dropNamespace.dropped")
    assert "blocked by   createNamespace.already-exists" in text
    assert "an ordinary request" in text


def test_the_witness_is_the_exchange_the_finding_points_at(fail_verdict):
    failure = fail_verdict("x")
    first, second = failure.evidence
    assert failure.shown_by is second
    pointed = replace(failure, findings=(replace(failure.findings[0], exchange=1),))
    assert pointed.shown_by is first
    assert replace(failure, evidence=()).shown_by is None


def test_what_led_up_to_a_finding_is_shown_with_its_answers_and_a_race_as_such(fail_verdict):
    failure = fail_verdict("x")
    first = failure.evidence[0]
    card = describe(failure, CONTRACT)
    assert (card.arrange, card.led_up) == ((first.curl,), (f"{first.curl}  # {first.status}",))
    raced = replace(failure.findings[0], symptom=ANOMALY.of("lost-update"))
    assert "at the same time" not in card_of(failure, CONTRACT)
    assert "at the same time" in card_of(replace(failure, findings=(raced,)), CONTRACT)


@pytest.mark.parametrize(
    ("pointer", "qualifier", "shown"),
    [
        ("", "", ("200 {", "x…")),
        ("", "rename", ("200 {", "x…")),
        ("", "refs", ("200 …", '"refs": {"main": 7}')),
        ("/metadata/refs", "last", ("200 …", '"refs": {"main": 7}')),
        ("/metadata/schemas/0/no~1such", "", ("200 …", '"schemas": ')),
    ],
)
def test_a_long_answer_is_shown_around_the_member_in_question(
    fail_verdict, pointer, qualifier, shown
):
    long = json.dumps(
        {
            "refs": "x" * 900,
            "metadata": {"schemas": [{"a": "y" * 900}], "refs": {"main": 7}, "last": "z" * 900},
        }
    )
    failure = fail_verdict("x")
    evidence = tuple(replace(e, status=200, response_body=long) for e in failure.evidence)
    symptom = CHANGED_BESIDE.of(qualifier) if qualifier else failure.findings[0].symptom
    finding = replace(failure.findings[0], pointer=pointer, symptom=symptom)
    answer = describe(replace(failure, evidence=evidence, findings=(finding,)), CONTRACT).answer
    begins, holds = shown
    assert answer.startswith(begins)
    assert holds in answer
    assert len(answer) < 620


def test_a_card_says_what_was_due_of_the_thing_in_question(fail_verdict):
    failure = fail_verdict("x")
    finding = replace(failure.findings[0], made="refs {}", shown='refs {"b": 7}')
    card = describe(replace(failure, findings=(finding,)), CONTRACT)
    assert card.expected == f"{finding.expected}: refs {{}}"
    assert card.actual == f'{finding.actual}: refs {{"b": 7}}'


def test_more_findings_of_one_check_are_listed_up_to_a_limit(fail_verdict):
    failure = fail_verdict("x")
    many = replace(failure, findings=failure.findings * 9)
    assert card_of(many, CONTRACT).count("  also ") == 5


def test_a_requirement_that_the_register_lacks_is_left_out(fail_verdict):
    card = describe(fail_verdict("x", requirements=("no.such", "createNamespace.409")), CONTRACT)
    assert [c.id for c in card.clauses] == ["createNamespace.409"]


def test_a_card_says_since_when_and_what_was_different_before(fail_verdict):
    text = card_of(fail_verdict("x", requirements=("dropNamespace.409",)), CONTRACT)
    said = "since Iceberg 1.9.0; changed in 1.9.0: 409; before, it had to be empty"
    assert said in text
    first = describe(fail_verdict("x", requirements=("createNamespace.409",)), CONTRACT)
    assert first.clauses[0].age == ""
    created = fail_verdict("x", requirements=("createNamespace.409",))
    assert "since Iceberg" not in card_of(created, CONTRACT)


def test_a_card_says_of_a_status_that_came_late_what_was_due_before(fail_verdict):
    failure = fail_verdict("states.namespaces")
    drop = replace(failure.evidence[-1], operation="dropNamespace")
    missed = replace(failure.findings[0], due=Statuses.of(409), answered=400, exchange=drop.ordinal)
    walk = replace(
        failure,
        requirements=("states.namespaces",),
        evidence=(*failure.evidence[:-1], drop),
        findings=(missed,),
    )
    assert "changed in 1.9.0: 409; before, it had to be empty" in card_of(walk, CONTRACT)
    named = replace(walk, findings=(replace(missed, due=Statuses.of(404)),))
    assert "changed in" not in card_of(named, CONTRACT)


def test_nothing_hostile_reaches_a_terminal(runs, hostile):
    for verdict in runs["hostile"].verdicts:
        text = card_of(verdict, CONTRACT)
        assert all(c == "\n" or c.isprintable() for c in text)
    assert legible(hostile).isprintable()


def test_escapes_say_which_character_stood_there():
    assert legible("a\x1fb\u202ec\ud800") == "a\\x1fb\\u202ec\\ud800"
    assert legible("two\nlines\tand a tab, é, 漢") == "two\nlines\tand a tab, é, 漢"


def test_one_line_is_one_line_and_no_longer_than_asked():
    assert one_line("a\n b\t\tc\x1f") == "a b c\\x1f"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
