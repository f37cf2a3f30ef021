"""Causes: one root cause is one finding, with what it fails and what it blocks."""

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import (
    CREDENTIALS,
    TARGET,
    Evidence,
    Group,
    Outcome,
    Verdict,
)
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding

REGISTER = CONTRACT.requirements


def verdict(check, outcome=Outcome.FAIL, finding=None, **members):
    given = {
        "check": check,
        "title": f"title of {check}",
        "group": Group.CHECKS,
        "level": Level.MUST,
        "requirements": (),
        "operations": (),
        "profile": "core",
        "outcome": outcome,
        "findings": () if finding is None else (a_finding(*finding),),
    }
    return Verdict(**{**given, **members})


def causes(*verdicts):
    return causes_of(verdicts, CONTRACT)


def test_a_server_that_fails_on_what_it_should_refuse_is_one_cause():
    (only,) = causes(
        verdict("malformed", finding=("status", "400", "500")),
        verdict("generated", finding=("status", "4xx", "500")),
        verdict("allowed", finding=("status", "2xx or 4xx", "500")),
        verdict("file", finding=("status", "a refusal", "500")),
        verdict("both", finding=("status", "400 or 404", "500")),
    )
    assert only.members == ("malformed", "generated", "allowed", "file", "both")
    assert only.wrong == (
        "Breaks down at what is malformed or cannot be done (500 where 4xx is due)"
    )


def test_a_success_is_the_same_mistake_with_the_status_of_each_operation():
    assert {c.members for c in causes(
        verdict("load", finding=("status", "404", "200")),
        verdict("drop", finding=("status", "404", "204")),
        verdict("sent", finding=("status", "400", "200")),
        verdict("mistyped", finding=("mistyped-value-accepted", "4xx", "204")),
        verdict("empty", finding=("status", "204", "200")),
    )} == {("load", "drop"), ("sent", "mistyped"), ("empty",)}  # fmt: skip


def test_one_status_of_one_operation_that_is_missed_in_two_ways_is_one_cause():
    dropping = {"operations": ("dropNamespace",)}
    first, second = causes(
        verdict("holds-table", finding=("status", "409", "400"), **dropping),
        verdict("holds-namespace", finding=("status", "409", "200"), **dropping),
        verdict("other", finding=("status", "409", "400"), operations=("renameTable",)),
    )
    assert {first.members, second.members} == {("holds-table", "other"), ("holds-namespace",)}
    (only,) = causes(
        verdict("holds-table", finding=("status", "409", "400"), **dropping),
        verdict("holds-namespace", finding=("status", "409", "200"), **dropping),
    )
    assert only.members == ("holds-table", "holds-namespace")
    assert only.wrong == "Answers 2xx or 400 where 409 is due"


def test_the_operation_that_is_missed_is_the_one_that_answered_last():
    asked = Evidence(1, "do", "dropNamespace", "DELETE http://c.test/x", 400, "", "", "", "")
    walk = {"operations": ("createNamespace", "dropNamespace"), "evidence": (asked,)}
    (only,) = causes(
        verdict("walk", finding=("status", "409", "400"), **walk),
        verdict("holds", finding=("status", "409", "200"), operations=("dropNamespace",)),
    )
    assert {*only.members} == {"holds", "walk"}


def test_a_name_that_is_given_twice_is_one_cause_with_or_without_a_race():
    raced = verdict("race", finding=("anomaly:duplicate-success", "one success", "several"))
    again = verdict("again", finding=("status", "409", "200"))
    assert [c.members for c in causes(raced, again)] == [("again", "race")]
    assert [c.members for c in causes(raced)] == [("race",)]


def test_what_is_blocked_by_no_update_does_not_belong_to_updates_that_are_left_out():
    lost = [
        verdict(what, finding=(f"effect-missing:{what}", "a change", "none"),
                operations=("updateTable",))
        for what in ("schema", "partition-spec", "sort-orders")
    ]  # fmt: skip

    def blocked_together(by):
        stopped = verdict("stopped", outcome=Outcome.BLOCKED, blocked_by=(by,),
                          operations=("updateTable",))  # fmt: skip
        return [c.blocked for c in causes(*lost, stopped) if c.members] == [("stopped",)]

    assert blocked_together("updateTable.200")
    assert blocked_together("update.add-schema.effect")
    assert not blocked_together("createTable.200")
    assert not blocked_together(TARGET)
    assert not blocked_together(CREDENTIALS)


def test_what_led_up_to_a_lost_effect_does_not_put_the_check_under_another_cause():
    shown = Evidence(2, "do", "loadTable", "GET http://c.test/x", 404, "", "", "", "")
    lost = verdict("moves", finding=("effect-missing:rename", "a move", "none"),
                   requirements=("renameTable.moves",))  # fmt: skip
    other = verdict("other", finding=("status", "200", "400"), level=Level.SHOULD)
    blocked = verdict("blocked", outcome=Outcome.BLOCKED, blocked_by=("renameTable.moves",),
                      evidence=(shown,))  # fmt: skip
    assert {c.members: c.blocked for c in causes(lost, other, blocked)} == {
        ("moves",): ("blocked",),
        ("other",): (),
    }


def test_what_is_blocked_by_a_blocked_check_stands_under_what_blocks_that():
    def stopped(check, by, *requirements):
        return verdict(check, outcome=Outcome.BLOCKED, blocked_by=(by,), requirements=requirements)

    shape = verdict("schema.loadTable.200", finding=("schema:type", "x", "y"))
    (only,) = causes(
        shape,
        stopped("kept", "schema.loadTable.200", "createTable.properties-kept"),
        stopped("set", "createTable.properties-kept", "update.set-properties.effect"),
        stopped("other", "update.set-properties.effect"),
    )
    assert only.blocked == ("kept", "set", "other")
    turning = causes(stopped("one", "second", "first"), stopped("two", "first", "second"))
    assert sorted(check for cause in turning for check in cause.blocked) == ["one", "two"]


def test_an_arrange_step_that_fails_like_a_check_stands_under_its_cause():
    shown = Evidence(1, "given", "updateTable", "POST http://c.test/x", 500, "", "", "", "")
    shape = verdict("shape", finding=("schema:required", "x", "y"),
                    requirements=("updateTable.200",))  # fmt: skip
    failed = verdict("failed", finding=("status", "200", "500"))
    blocked = verdict("blocked", Outcome.BLOCKED, blocked_by=("updateTable.200",),
                      evidence=(shown,))  # fmt: skip
    made = {c.members: c.blocked for c in causes(shape, failed, blocked)}
    assert made == {("shape",): (), ("failed",): ("blocked",)}


def test_an_answer_that_hides_a_missing_effect_is_no_second_cause():
    first, second = causes(
        verdict("kept", finding=("effect-missing:registered", "2", "0", "", "/last-column-id")),
        verdict("told", finding=("answer-differs-from-load", "2", "0", "", "/last-column-id")),
        verdict("else", finding=("answer-differs-from-load", "1", "0", "", "/last-column-id")),
    )
    assert first.members == ("kept", "told")
    assert second.members == ("else",)


def test_what_is_blocked_stands_under_what_blocks_it_by_requirement():
    failed = verdict("createTable.succeeds", finding=("status", "200", "500"),
                     requirements=("createTable.200",))  # fmt: skip
    blocked = verdict("loadTable.succeeds", Outcome.BLOCKED, blocked_by=("createTable.200",))
    (only,) = causes(blocked, failed)
    assert only.members == ("createTable.succeeds",)
    assert only.blocked == ("loadTable.succeeds",)


def test_what_is_blocked_stands_under_what_blocks_it_by_check():
    failed = verdict("schema.loadTable.200", finding=("schema:required", "x", "y"))
    blocked = verdict("other", Outcome.BLOCKED, blocked_by=("schema.loadTable.200",))
    (only,) = causes(failed, blocked)
    assert only.blocked == ("other",)


def test_a_block_whose_root_nobody_judged_is_a_cause_of_its_own():
    (only,) = causes(*(
        verdict(f"c{i}", Outcome.BLOCKED, blocked_by=("createTable.200",)) for i in range(3)
    ))  # fmt: skip
    assert only.blocked == ("c0", "c1", "c2")
    assert only.members == ()
    assert "createTable.200" in only.title


def test_the_gravest_comes_first():
    ordered = causes(
        verdict("shape", finding=("schema:type", "x", "y")),
        verdict("interop", finding=("status", "404", "502"), level=Level.INTEROP),
        verdict("status", finding=("status", "404", "500")),
        verdict("lost", finding=("effect-missing:table", "a", "b")),
    )
    assert [c.members[0] for c in ordered] == ["lost", "status", "shape", "interop"]


def test_a_cause_says_who_is_hurt():
    hurting = next(r for r in REGISTER.values() if r.hurts != "no known client")
    (only,) = causes(verdict("a", finding=("x", "a", "b"), requirements=(hurting.id,)))
    assert only.hurts == (hurting.hurts,)
    (nobody,) = causes(verdict("a", finding=("x", "a", "b")))
    assert nobody.hurts == ("no known client",)
