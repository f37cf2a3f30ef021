"""The file of expectations: what is read out of it, and what is said about one that is wrong."""

from datetime import date

import pytest

from icecheck.findings.expectations import parse, refuse_unknown_checks
from icecheck.findings.expected_failures import ExpectationKind, FailsWith
from icecheck.run.expectations import expectations_from, known_checks
from icecheck.targets.target import UsageError
from tests.kit.contracts import CONTRACT

WHOLE = """\
title = "not ours"

[target]
url = "http://catalog.test"

[[expectation]]  # first
check = "replaceView.*"
kind = "known-failure"
fails_with = { symptom = "status", actual = "501" }
reason = "views are read-only until 2.8"
issue = "https://tracker.test/412"
expires = 2027-02-01

[[expectation]]
cause = "error-type-*"
kind = "waived"
reason = "we keep our own names"

[[expectation]]
check = "getConfig.answered"
kind = "flaky"
reason = "the gateway restarts"
expires = "2027-03-01"
"""


def test_a_file_is_read_with_every_member():
    file = parse(WHOLE, "icecheck.toml")
    first, second, third = file.entries
    assert first.check == "replaceView.*"
    assert first.cause is None
    assert first.kind is ExpectationKind.KNOWN_FAILURE
    assert first.fails_with == (FailsWith("status", "501"),)
    assert first.reason == "views are read-only until 2.8"
    assert first.issue == "https://tracker.test/412"
    assert first.expires == date(2027, 2, 1)
    assert (first.number, first.line) == (1, 6)
    assert (second.check, second.cause) == (None, "error-type-*")
    assert (third.kind, third.expires, third.line) == ("flaky", date(2027, 3, 1), 19)


def test_several_ways_to_fail_are_a_list():
    ways = '[{ symptom = "status" }, { actual = "timeout*" }]'
    (one,) = parse(entry("a.b", fails_with=ways), "f").entries
    assert one.fails_with == (FailsWith("status", "*"), FailsWith("*", "timeout*"))


def test_a_file_without_entries_expects_nothing():
    assert parse('[target]\nurl = "http://a.test"\n', "f").entries == ()


def test_the_lines_are_left_out_where_they_cannot_be_told():
    inline = 'expectation = [{ check = "a", kind = "flaky", reason = "r" }]'
    (one,) = parse(inline, "f").entries
    assert one.line == 0
    assert "line" not in one.words


def entry(check="a.b", kind="known-failure", reason='"r"', **members):
    rows = {"check": f'"{check}"', "kind": f'"{kind}"', "reason": reason, **members}
    kept = {key: value for key, value in rows.items() if value is not None}
    return "\n".join(["[[expectation]]", *(f"{k} = {v}" for k, v in kept.items()), ""])


BAD = {
    "no TOML": ("[[expectation]]\ncheck = \n", "line 2"),
    "unknown key": (entry(owner='"me"'), "line 5: expectation 1: unknown key 'owner': use check,"),
    "missing reason": (entry(reason=None), "`reason` is missing"),
    "empty reason": (entry(reason='"  "'), "line 4: expectation 1: `reason` must be a text"),
    "reason of another type": (entry(reason="7"), "`reason` must be a text"),
    "missing kind": ('[[expectation]]\ncheck = "a"\nreason = "r"', "`kind` is missing: use known"),
    "unknown kind": (entry(kind="ignored"), "line 3: expectation 1: unknown kind 'ignored': use"),
    "kind of another type": ('[[expectation]]\ncheck="a"\nkind=["flaky"]\nreason="r"', "unknown"),
    "no glob": ('[[expectation]]\nkind = "flaky"\nreason = "r"', "one of `check` and `cause`"),
    "two globs": (entry(cause='"c"'), "one of `check` and `cause`"),
    "empty glob": (entry(check=""), "`check` must be a text"),
    "date that is none": (entry(expires='"soon"'), "line 5: expectation 1: `expires` is no date"),
    "date of no calendar": (entry(expires='"2027-02-30"'), "`expires` is no date: 2027-02-30"),
    "point in time": (entry(expires="2027-02-01T10:00:00Z"), "`expires` is no date"),
    "date as a number": (entry(expires="20270201"), "`expires` is no date"),
    "fails_with as a text": (entry(fails_with='"500"'), "`fails_with` is a table"),
    "fails_with of nothing": (entry(fails_with="{}"), "`fails_with` is a table"),
    "fails_with of no way": (entry(fails_with="[]"), "`fails_with` is a table"),
    "fails_with of a number": (entry(fails_with="{ actual = 500 }"), "`fails_with` is a table"),
    "fails_with of another key": (entry(fails_with='{ code = "5" }'), "`fails_with` is a table"),
    "fails_with of a flaky one": (
        entry(kind="flaky", fails_with='{ actual = "500" }'), "leave it out of kind 'flaky'",
    ),
    "duplicates": (entry() + entry(kind="flaky"), "line 5: expectation 2: names the same as entry"),
    "a table of one": ('[expectation]\ncheck = "a"', "as a table of its own, [[expectation]]"),
    "a misspelt table": (entry().replace("[[expectation]]", "[[expectations]]"), "[[expectation]]"),
    "another name": (entry().replace("[[expectation]]", "[[expect]]"), "'expect' is not read"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_with_its_place(text, words):
    with pytest.raises(UsageError) as caught:
        parse(text, "icecheck.toml")
    said = str(caught.value)
    assert said.startswith("icecheck.toml")
    assert words in said
    assert "\n" not in said


def test_a_glob_that_matches_no_check_is_misuse_and_close_ids_are_named():
    file = parse(entry("createNamespace.creatd"), "f")
    with pytest.raises(UsageError, match=r"did you mean createNamespace\.created"):
        refuse_unknown_checks(file, ["createNamespace.created", "dropTable.gone"])
    with pytest.raises(UsageError, match="see `icecheck list`"):
        refuse_unknown_checks(parse(entry("nothing.*"), "f"), ["createNamespace.created"])


def test_checks_of_every_group_and_passive_ones_are_known():
    known = known_checks(CONTRACT)
    for check in ("getConfig.answered", "schema.loadTable.200", "error.code-equals-status"):
        assert check in known
    assert any(c.startswith("generated.") for c in known)
    assert len(known) == len(set(known))


def test_causes_are_not_known_before_a_run(tmp_path):
    text = '[[expectation]]\ncause = "whatever"\nkind = "waived"\nreason = "r"\n'
    file = expectations_from(text, tmp_path / "f", CONTRACT)
    assert [e.cause for e in file.entries] == ["whatever"]
