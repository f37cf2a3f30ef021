"""The marks of secrets: equal within a run, of no use to others, and no part of what lasts."""

import json
from hashlib import blake2s

import pytest

from icecheck.client.session import SessionSummary
from icecheck.findings.comparison import Category, compare
from icecheck.findings.expected_failures import FailsWith
from icecheck.findings.verdict import Outcome
from icecheck.judging.evidence import finding_without_secrets
from icecheck.reports import run_json
from icecheck.run.facts import facts_of
from icecheck.run.options import RunOptions
from icecheck.targets.secret_marks import SecretMarks, is_mark, without_marks
from icecheck.targets.target import Target
from icecheck.wire.redaction import Redactor
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.kit.finished_runs import STARTED, finished, verdict

SECRET = "hush-Hush-0123456789"
TOLD = f"said {SECRET} to you"


def found(redactor, slug="value"):
    """What one run writes of a finding whose texts hold the secret."""
    return finding_without_secrets(a_finding(slug, TOLD, TOLD), redactor)


def two_runs():
    return Redactor([SECRET]), Redactor([SECRET])


def test_equal_secrets_have_equal_marks_in_one_run():
    redactor = Redactor([SECRET, "another-Secret-4321"])
    assert redactor.text(SECRET) == redactor.text(SECRET)
    assert redactor.text(SECRET) != redactor.text("another-Secret-4321")
    assert is_mark(redactor.text(SECRET))


def test_the_mark_of_a_secret_is_another_one_in_every_run():
    first, second = two_runs()
    assert first.text(SECRET) != second.text(SECRET)


def test_nobody_can_try_which_secret_a_mark_stands_for():
    shown = Redactor().json({"client_secret": "hunter2"})["client_secret"]
    guessed = blake2s(b"hunter2", digest_size=4).hexdigest()
    assert guessed[:6] not in shown


def test_a_process_that_is_handed_the_key_makes_the_same_marks():
    marks = SecretMarks()
    assert SecretMarks.from_handed(marks.handed).of(SECRET) == marks.of(SECRET)


def test_no_representation_tells_the_key():
    redactor = Redactor()
    options = RunOptions(Target("http://c.test"), "r1", redactor=redactor)
    for shown in (repr(redactor), repr(redactor.marks), repr(options), str(vars(redactor))):
        assert redactor.marks.handed not in shown
        assert repr(bytes.fromhex(redactor.marks.handed)) not in shown


@pytest.mark.parametrize(
    "text",
    ["a <redacted:12ab34cd> b", "a <redacted:second:12ab34cd> b", "a <redacted:12ab34> b",
     "a <redacted:12ab", "a=%3Credacted%3A12ab34cd%3E&b"],
)  # fmt: skip
def test_a_text_without_marks_has_no_digest_left(text):
    assert "12ab" not in without_marks(text)
    assert without_marks(text).startswith(("a <redacted>", "a=<redacted>"))


def test_only_a_whole_mark_is_taken_for_one():
    assert is_mark("<redacted:reader:12ab34cd>")
    for text in (f"<redacted:{SECRET}>", "<redacted:12ab34cd> ", "<redacted:>"):
        assert not is_mark(text)


def test_what_only_begins_like_a_mark_is_hidden():
    body = {"config": {"s3.session-token": f"<redacted:{SECRET}>"}}
    assert SECRET not in json.dumps(Redactor().json(body))


# what lasts from run to run


def test_a_finding_has_the_same_cause_in_every_run():
    first, second = map(found, two_runs())
    assert first.actual != second.actual
    assert first.key == second.key


def test_a_symptom_has_the_same_slug_in_every_run():
    first, second = (found(redactor, f"value:{SECRET}") for redactor in two_runs())
    assert SECRET not in first.symptom.slug
    assert first.symptom.slug == second.symptom.slug


def report(redactor):
    """A report with one failed check, whose finding quotes the secret."""
    failed = verdict("loadTable.succeeds", Outcome.FAIL, findings=(found(redactor),))
    return run_json.document(finished(failed))


def test_a_comparison_sees_no_other_failure_in_another_mark():
    old, new = map(report, two_runs())
    assert old["checks"][0]["assertions"] != new["checks"][0]["assertions"]
    assert not compare(old, new).of(Category.FAILS_DIFFERENTLY)


def test_the_fingerprint_of_a_failure_has_no_mark():
    first, second = (report(each)["checks"][0]["failure_fingerprint"] for each in two_runs())
    assert first == second


def test_an_expectation_that_was_copied_from_a_report_holds_in_the_next_run():
    first, second = map(found, two_runs())
    assert FailsWith("value", first.actual).covers("value", second.actual)
    assert not FailsWith("value", f"{first.actual} twice").covers("value", second.actual)


def test_the_hash_of_a_config_is_the_same_in_every_run():
    def hashed(redactor):
        config = redactor.json({"overrides": {"token": SECRET, "prefix": "p"}})
        session = SessionSummary(config, "flat", "o", None, 0, {}, 0, 0, [], [])
        times = {"started_at": STARTED, "finished_at": STARTED, "wall": 0.0, "checks_total": 0}
        facts = facts_of(RunOptions(Target("http://c.test"), "r1"), session, CONTRACT, **times)
        return facts["target"]["fingerprint"]["config_sha256"]

    first, second = map(hashed, two_runs())
    assert first == second
