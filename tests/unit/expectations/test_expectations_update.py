"""Updating the file: after it the same run satisfies the gate, and nothing else was touched."""

import tomllib

import pytest

from icecheck.findings.expectations import Selection, parse
from icecheck.findings.verdict import Level
from icecheck.run.expectations import gated
from icecheck.run.expectations_update import refusal_of, update
from icecheck.targets.target import UsageError
from tests.kit.findings import a_finding

EXISTS = "createNamespace.already-exists"
CREATED = "createNamespace.created"
DROPPED = "dropNamespace.gone"
ALL = (CREATED, EXISTS, DROPPED)
WHOLE = Selection(frozenset(ALL), whole=True)


def updated(run, text="", selection=WHOLE, known=ALL):
    """The update of a text after a run, and the run that the new text would have given."""
    file = parse(text, "f")
    judged = gated(run, file if file.entries else None, selection)
    result = update(text, judged, selection, known)
    again = parse(result.text, "f")
    return result, gated(run, again if again.entries else None, selection)


def rows(result):
    return tomllib.loads(result.text).get("expectation", [])


def counts(result):
    return (result.added, result.changed, result.removed, result.left)


def test_what_fails_is_written_with_the_way_it_fails(a):
    run = a.finished(a.passed(CREATED), a.failed(EXISTS), a.blocked(DROPPED, EXISTS))
    result, after = updated(run)
    assert counts(result) == (2, 0, 0, 0)
    assert rows(result) == [
        {
            "check": EXISTS,
            "kind": "known-failure",
            "fails_with": {"symptom": "status", "actual": "200"},
            "reason": "not yet explained: expected 409, got 200",
        },
        {
            "check": DROPPED,
            "kind": "known-failure",
            "fails_with": {"symptom": "blocked", "actual": EXISTS},
            "reason": f"not yet explained: {EXISTS} did not work",
        },
    ]
    assert after.exit_code == 0
    assert after.status == "not-conformant"


def test_a_check_that_does_not_count_for_the_gate_is_not_written(a):
    run = a.finished(a.passed(CREATED), a.failed(EXISTS, gating=False), a.passed(DROPPED))
    result, _ = updated(run)
    assert counts(result) == (0, 0, 0, 0)
    assert rows(result) == []


def test_an_update_of_an_updated_file_changes_nothing(a):
    run = a.finished(a.passed(CREATED), a.failed(EXISTS))
    first, _ = updated(run)
    second, _ = updated(run, first.text)
    assert second.text == first.text
    assert counts(second) == (0, 0, 0, 0)


def test_several_findings_are_several_ways_and_names_of_the_run_are_left_out(a):
    more = (
        a_finding("value:location", "a", "s3://icecheck_abc123"),
        a_finding("body[x]", "a", "b"),
    )
    run = a.finished(a.passed(CREATED), a.failed(EXISTS, more=more))
    result, after = updated(run)
    (row,) = rows(result)
    assert row["fails_with"] == [
        {"symptom": "status", "actual": "200"},
        {"symptom": "value:location"},
        {"symptom": "body[[]x]"},
    ]
    assert after.exit_code == 0


def test_a_recommendation_and_a_missing_answer_are_not_written(a):
    low = a.failed(EXISTS, level=Level.SHOULD)
    result, _ = updated(a.finished(a.passed(CREATED), low, a.blocked(DROPPED, "target")))
    assert rows(result) == []


KEPT = f"""\
# our catalog
[target]
url = "http://catalog.test"  # staging

# the owner of this one is Ann
[[expectation]]  # since March
check = "{EXISTS}"   # aligned
kind = "known-failure"
reason = "ticket 7"  # old
fails_with = {{symptom = "status", actual = "500"}}

# about the next
[[expectation]]
check = "{CREATED}"
kind = "flaky"
reason = "the gateway"

[other]
b = [
  1,
]
"""


def test_reasons_comments_and_other_tables_are_kept(a):
    run = a.finished(a.passed(CREATED), a.failed(EXISTS), a.failed(DROPPED))
    result, after = updated(run, KEPT)
    assert counts(result) == (1, 1, 0, 0)
    before, _, added = result.text.partition(f'\n[[expectation]]\ncheck = "{DROPPED}"')
    assert before == KEPT.replace('"500"', '"200"')
    assert "[[" not in added
    assert after.exit_code == 0


def test_windows_line_endings_are_kept(a):
    run = a.finished(a.passed(CREATED), a.failed(EXISTS), a.failed(DROPPED))
    unix, _ = updated(run, KEPT)
    windows, _ = updated(run, KEPT.replace("\n", "\r\n"))
    assert windows.text == unix.text.replace("\n", "\r\n")


def test_a_stale_entry_goes_and_its_neighbours_stay(a):
    run = a.finished(a.passed(CREATED), a.passed(EXISTS), a.passed(DROPPED))
    result, after = updated(run, KEPT)
    assert counts(result) == (0, 0, 1, 0)
    assert EXISTS not in result.text
    for line in ("# our catalog", "# about the next", 'reason = "the gateway"', "b = ["):
        assert line in result.text
    assert after.exit_code == 0


def test_a_glob_of_which_a_part_passes_is_narrowed_with_its_reason(a):
    text = a.entry("*", issue='"T-1"', expires="2090-01-01")
    run = a.finished(a.passed(CREATED), a.failed(EXISTS), a.failed(DROPPED))
    result, after = updated(run, text)
    assert counts(result) == (1, 1, 0, 0)
    assert [r["check"] for r in rows(result)] == [EXISTS, DROPPED]
    assert {(r["reason"], r["issue"], str(r["expires"])) for r in rows(result)} == {
        ("ticket 7", "T-1", "2090-01-01")
    }
    assert after.exit_code == 0


def test_an_entry_of_which_the_run_judged_a_part_only_stays(a):
    text = a.entry("createNamespace.*")
    run = a.finished(a.passed(CREATED))
    result, _ = updated(run, text, Selection(frozenset({CREATED}), whole=False))
    assert result.text == text
    assert counts(result) == (0, 0, 0, 1)


def test_an_expired_entry_is_left_to_a_person(a):
    text = a.entry(EXISTS, expires="2020-01-01")
    result, after = updated(a.finished(a.passed(CREATED), a.failed(EXISTS)), text)
    assert result.text == text
    assert counts(result) == (0, 0, 0, 1)
    assert (after.exit_code, after.exit_reason) == (1, "expired-expectation")


def test_a_cause_becomes_no_check(a):
    text = a.entry(cause="status-*")
    run = a.finished(a.passed(CREATED), a.failed(EXISTS), a.failed(DROPPED))
    result, _ = updated(run, text)
    assert result.text == text


def test_entries_in_one_line_are_not_edited(a):
    text = f'expectation = [{{ check = "{EXISTS}", kind = "known-failure", reason = "r" }}]\n'
    with pytest.raises(UsageError, match=r"\[\[expectation\]\]"):
        updated(a.finished(a.passed(CREATED), a.passed(EXISTS)), text)


def test_a_text_that_only_looks_like_an_entry_is_not_cut(a):
    text = a.entry(EXISTS, reason="'''\n[[expectation]]\n'''")
    with pytest.raises(UsageError, match="to have them updated"):
        updated(a.finished(a.passed(CREATED), a.failed(DROPPED)), text)


def test_ways_in_a_table_of_their_own_are_replaced(a):
    text = a.entry(EXISTS) + '[expectation.fails_with]\nsymptom = "status"\nactual = "500"\n'
    result, after = updated(a.finished(a.passed(CREATED), a.failed(EXISTS)), text)
    assert rows(result)[0]["fails_with"] == {"symptom": "status", "actual": "200"}
    assert after.exit_code == 0


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ({"interrupted": True}, "incomplete (interrupted)"),
        ({"tripped": True}, "incomplete (target-unusable)"),
    ],
)
def test_nothing_is_learnt_from_an_incomplete_run(a, ending, words):
    assert words in refusal_of(a.finished(a.failed(EXISTS), **ending))


def test_nothing_is_learnt_from_a_run_that_verified_nothing(a):
    assert refusal_of(a.finished(a.skipped(EXISTS))) == "the run verified nothing"
    assert refusal_of(a.finished(a.passed(EXISTS))) is None
