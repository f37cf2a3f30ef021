"""Runs that judged parts of one catalog make one run, with the verdict of all of them."""

import json
from dataclasses import replace

import pytest

from icecheck.findings.expectations import Selection, parse
from icecheck.findings.symptoms import symptom_named
from icecheck.findings.verdict import Outcome, Skip, SkipKind
from icecheck.reports import run_json
from icecheck.reports.restored import restored
from icecheck.run.expectations import gated
from icecheck.run.stored.merge import merge
from icecheck.targets.target import UsageError
from tests.kit.finished_runs import finished, verdict
from tests.unit.reports.golden_runs import RUNS

WHOLE = RUNS["forty-failures"]
LEFT_OUT = Skip(SkipKind.EXCLUDED_BY_USER, "not in this part")


@pytest.fixture(autouse=True)
def no_other_checks(monkeypatch):
    """These runs have checks of their own: nothing of them is left out."""
    monkeypatch.setattr("icecheck.run.stored.merge.collect", lambda *_: ())


def part(run_id, *verdicts, **ending):
    return replace(finished(*verdicts, **ending), run_id=run_id)


def stored(run):
    """The run as its report says it, which is what is merged."""
    return restored(json.loads(run_json.render(run)), symptom_named)


def passed(check="createNamespace.created"):
    return verdict(check, requirements=("createNamespace.200",))


def failed(check="createNamespace.created"):
    (one,) = [v for v in WHOLE.verdicts if v.check == "updateTable.conflict"]
    return replace(one, check=check)


def test_the_parts_of_a_run_make_its_verdict_again():
    parts = [stored(part(f"part{n}", *WHOLE.verdicts[n::3])) for n in range(3)]
    whole = merge(parts)
    assert {v.check for v in whole.verdicts} == {v.check for v in WHOLE.verdicts}
    assert {c.id: {*c.members} for c in whole.causes} == {c.id: {*c.members} for c in WHOLE.causes}
    assert [(p.id, p.status, p.counts) for p in whole.profiles] == [
        (p.id, p.status, p.counts) for p in WHOLE.profiles
    ]
    assert (whole.status, whole.headline) == (WHOLE.status, WHOLE.headline)
    assert (whole.exit_code, whole.exit_reason) == (WHOLE.exit_code, WHOLE.exit_reason)
    assert run_json.problems_of(run_json.render(whole)) == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_failure_in_one_part_counts_and_the_contradiction_is_told(order):
    parts = [part("one", passed()), part("two", failed())]
    whole = merge([parts[at] for at in order])
    (only,) = whole.verdicts
    assert only.outcome is Outcome.FAIL
    (told,) = whole.observations
    assert told["id"] == "one-of-several-runs.createNamespace.created"
    assert whole.status == "not-conformant"


def test_a_check_that_one_part_left_out_has_the_verdict_of_the_other():
    skipped = verdict("createNamespace.created", Outcome.SKIP, skip=LEFT_OUT, summary="left out")
    absent = Skip(SkipKind.NOT_DECLARED, "not claimed")
    for other in (passed(), failed(), replace(skipped, skip=absent)):
        for parts in ((skipped, other), (other, skipped)):
            (only,) = merge([part("one", parts[0]), part("two", parts[1])]).verdicts
            assert only == other


@pytest.mark.parametrize(
    ("ending", "status", "reason"),
    [
        ({}, "conformant", "gate-satisfied"),
        ({"interrupted": True}, "partial", "interrupted"),
        ({"tripped": True}, "no-verdict", "target-unusable"),
        ({"residue": ("namespace a",)}, "conformant", "residue-left"),
    ],
)
def test_a_whole_ends_as_badly_as_its_worst_part(ending, status, reason):
    rest = [v for v in RUNS["all-pass"].verdicts if v.check != "createTable.created"]
    whole = merge([part("one", *rest), part("two", passed("createTable.created"), **ending)])
    assert (whole.status, whole.exit_reason) == (status, reason)


def test_counts_and_files_of_the_parts_are_added():
    artifact = {"name": "exchanges.jsonl.zst", "sha256": f"sha256:{'0' * 64}", "bytes": 1}
    parts = [part("one", passed()), part("two", passed("createNamespace.again"))]
    parts = [
        replace(p, facts=p.facts | {"artifacts": {"exchanges": artifact | {"exchanges": 2}}})
        for p in parts
    ]
    document = json.loads(run_json.render(merge(parts)))
    assert document["timing"]["requests"] == 14
    assert document["timing"]["operations"][0]["requests"] == 6
    assert (document["safety"]["created"], document["safety"]["deleted"]) == (6, 6)
    assert [a["name"] for a in document["artifacts"]] == [
        "one/exchanges.jsonl.zst", "two/exchanges.jsonl.zst",
    ]  # fmt: skip
    assert document["suite"]["checks_total"] == 2


ENTRIES = """
[[expectation]]
check = "createNamespace.a"
kind = "known-failure"
reason = "ticket 1"

[[expectation]]
check = "createNamespace.b"
kind = "known-failure"
reason = "ticket 2"
"""


def expecting(run, text=ENTRIES, **selection):
    checks = frozenset(v.check for v in run.verdicts)
    return gated(run, parse(text, "icecheck.toml"), Selection(checks, whole=False))


def test_what_a_part_expects_is_expected_of_the_whole():
    parts = [
        expecting(part("one", failed("createNamespace.a"), *RUNS["all-pass"].verdicts)),
        expecting(part("two", failed("createNamespace.b"))),
    ]
    whole = merge(parts)
    assert (whole.exit_code, whole.status) == (0, "not-conformant")
    assert {m.check for m in whole.expectations.marks} == {
        "createNamespace.a", "createNamespace.b",
    }  # fmt: skip


def test_an_entry_that_a_part_shows_to_be_stale_fails_the_whole():
    parts = [
        expecting(part("one", failed("createNamespace.a"), *RUNS["all-pass"].verdicts)),
        expecting(part("two", passed("createNamespace.b"))),
    ]
    whole = merge(parts)
    assert (whole.exit_code, whole.exit_reason) == (1, "stale-expectation")


def with_(run, **blocks):
    return replace(run, facts=run.facts | {k: run.facts[k] | v for k, v in blocks.items()})


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ({"spec": {"sha256": f"sha256:{'2' * 64}"}}, "documents"),
        ({"suite": {"version": "9"}}, "releases of the suite"),
        ({"suite": {"requirement_set_sha256": "sha256:2"}}, "sets of requirements"),
        ({"target": {"implementation": {"project": "other"}}}, "catalogs"),
        ({"target": {"fingerprint": {"config_sha256": "sha256:2"}}}, "configurations"),
    ],
)
def test_runs_that_are_no_parts_of_one_are_refused(blocks, words):
    one, two = part("one", passed()), part("two", passed())
    with pytest.raises(UsageError, match=f"of different {words}.*report matrix"):
        merge([one, with_(two, **blocks)])


def test_one_run_is_no_several():
    one = part("one", passed())
    with pytest.raises(UsageError, match="two runs or more"):
        merge([one])
    with pytest.raises(UsageError, match="named twice"):
        merge([one, one])


def test_parts_with_different_expectations_are_refused():
    one, two = expecting(part("one", failed("createNamespace.a"))), part("two", passed())
    with pytest.raises(UsageError, match="different files of expectations"):
        merge([one, two])
