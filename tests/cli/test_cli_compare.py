"""`icecheck compare`: what is a regression and what is not, in three formats; and misuse."""

import copy
import json

import pytest

from icecheck.findings.comparison import Category, compare, read_run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.targets.target import UsageError

HOSTILE = "<script>|`\u202e\n"


def check(id_, outcome="pass", *, actual="200", level="must", **members):
    row = {
        "id": id_,
        "title": f"What {id_} demands",
        "outcome": outcome,
        "severity": level,
        "summary": f"expected 409, got {actual}" if outcome == "fail" else "",
        "skip": {"kind": "not-declared", "reason": "r"} if outcome == "skip" else None,
        "blocked_by": ["createNamespace.200"] if outcome == "blocked" else [],
        "assertions": [{"id": "status", "actual": actual}] if outcome == "fail" else [],
    }
    return row | members


def document(*checks, run_id="aaaaaa", complete=True, **blocks):
    whole = {
        "kind": "IcebergRestConformanceReport",
        "report_version": "1.0",
        "run_id": run_id,
        "generated_at": "2026-11-22T00:00:00+00:00",
        "complete": complete,
        "verdict": {"status": "not-conformant"},
        "suite": {"version": "0.1.0", "requirement_set_sha256": "sha256:0"},
        "spec": {"id": "iceberg-rest/1.10.0"},
        "target": {"url": "http://catalog.test", "fingerprint": {"config_sha256": "sha256:0"}},
        "config": {"groups": ["checks"], "globs": []},
        "checks": [check("stays"), *checks],
    }
    return whole | blocks


C = Category
# old outcome, new outcome -> category, whether that makes compare exit with 1
MOVES = [
    ("pass", "pass", None, False),
    ("pass", "fail", C.REGRESSION, True),
    ("pass", "blocked", C.NEWLY_BLOCKED, True),
    ("pass", "skip", C.NEWLY_SKIPPED, True),
    ("pass", "error", C.NEWLY_IN_ERROR, False),
    ("pass", None, C.GONE, False),
    ("fail", "pass", C.FIXED, False),
    ("fail", "fail", None, False),
    ("fail", "blocked", C.NEWLY_BLOCKED, False),
    ("fail", "skip", C.NEWLY_SKIPPED, False),
    ("fail", None, C.GONE, False),
    ("blocked", "pass", C.FIXED, False),
    ("blocked", "fail", C.FAILS_DIFFERENTLY, False),
    ("blocked", "blocked", None, False),
    ("skip", "pass", C.NEW, False),
    ("skip", "fail", C.NEW, False),
    ("skip", "skip", None, False),
    ("error", "pass", C.FIXED, False),
    ("error", "fail", C.NEW, False),
    (None, "pass", C.NEW, False),
    (None, "fail", C.NEW, False),
]


@pytest.mark.parametrize(("old", "new", "category", "lost"), MOVES)
def test_a_move_has_one_category(old, new, category, lost):
    before = document(*([check("a.b", old)] if old else []))
    after = document(*([check("a.b", new)] if new else []))
    comparison = compare(before, after)
    assert [c.category for c in comparison.changes] == ([category] if category else [])
    assert comparison.is_regression is lost
    assert comparison.unchanged == (1 if category else 2)


def test_a_skip_that_the_user_asked_for_is_no_loss():
    skip = {"kind": "excluded-by-user", "reason": "r"}
    comparison = compare(document(check("a.b")), document(check("a.b", "skip", skip=skip)))
    assert [c.category for c in comparison.changes] == [C.NEWLY_SKIPPED]
    assert not comparison.is_regression


def test_another_answer_is_another_failure():
    old, new = check("a.b", "fail", actual="500"), check("a.b", "fail", actual="501")
    comparison = compare(document(old), document(new))
    assert [c.category for c in comparison.changes] == [C.FAILS_DIFFERENTLY]
    assert not comparison.is_regression


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("icecheck_aaaaaa.n1", "icecheck_bbbbbb.n1"),
        ("1790000000123", "1790000004567"),
        ("0b7e4c1e-58ab-4f6f-9f63-0f1f7f0a2f11", "7c1e2d3f-1111-4f6f-9f63-aaaaaaaaaaaa"),
    ],
)
def test_the_names_and_ids_of_a_run_are_no_difference(old, new):
    rows = [check("a.b", "fail", actual=actual) for actual in (old, new)]
    comparison = compare(document(rows[0]), document(rows[1], run_id="bbbbbb"))
    assert comparison.changes == ()


def test_a_check_blocked_by_something_else_fails_differently():
    rows = [check("a.b", "blocked", blocked_by=[by]) for by in ("x", "y")]
    comparison = compare(document(rows[0]), document(rows[1]))
    assert [c.category for c in comparison.changes] == [C.FAILS_DIFFERENTLY]


def test_what_explains_a_difference_is_noted():
    other = document(
        suite={"version": "0.2.0", "requirement_set_sha256": "sha256:1"},
        target={"url": "http://other.test", "fingerprint": {"config_sha256": "sha256:1"}},
        config={"groups": ["checks", "spark"], "globs": ["a*"]},
        complete=False,
    )
    notes = "\n".join(compare(document(), other).notes)
    for words in (
        "the new run is incomplete", "the suite differs (0.1.0 → 0.2.0)", "set of requirements",
        "http://catalog.test → http://other.test", "configuration differs",
        "groups differs (checks → checks, spark)", "checks differs (all → a*)",
    ):  # fmt: skip
        assert words in notes
    assert compare(document(), document()).notes == ()


# the command


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return written


@pytest.fixture
def pair(write):
    def written(old, new):
        return write("old.json", old), write("new/run.json", new).parent

    return written


MIXED = (
    document(check("a.b"), check("c.d", "fail"), check("e.f", level="should"), check("g.h")),
    document(
        check("a.b", "fail"),
        check("c.d"),
        check("e.f", "fail", level="should"),
        check("n.n", "fail"),
    ),
)


def test_a_regression_is_exit_1_and_the_required_checks_come_first(icecheck, pair):
    result = icecheck("compare", *pair(*MIXED))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "REGRESSION: 2 checks lost (2 regressions, 1 gone, 1 new, 1 fixed, 1 unchanged)"
    )
    at = lines.index("regression (2): Passed before, and fails now")
    assert lines[at + 1] == "  must    a.b (pass → fail): expected 409, got 200"
    assert lines[at + 2].startswith("  should  e.f ")


def test_no_regression_is_exit_0(icecheck, pair):
    repaired = document(check("a.b", "fail")), document(check("a.b"), check("n.n", "fail"))
    better = icecheck("compare", *pair(*repaired))
    assert better.exit_code == 0
    assert better.stdout.startswith("NO REGRESSION (1 new, 1 fixed, 1 unchanged)\n")
    same = icecheck("compare", *pair(MIXED[0], MIXED[0]))
    assert same.exit_code == 0
    assert same.stdout.startswith("NO REGRESSION (5 unchanged)\n")


def test_a_new_run_that_ended_early_is_never_green(icecheck, pair):
    result = icecheck("compare", *pair(document(), document(complete=False)))
    assert result.exit_code == 1
    assert result.stdout.startswith("NOT KNOWN: the new run is incomplete (1 unchanged)\n")
    assert icecheck("compare", *pair(document(complete=False), document())).exit_code == 0


def test_markdown_is_for_a_pull_request(icecheck, pair):
    result = icecheck("compare", *pair(*MIXED), "--format", "markdown")
    assert result.exit_code == 1
    assert result.stdout.startswith("## REGRESSION: 2 checks lost")
    assert "### Regression: 2\n" in result.stdout
    assert "| must | a.b | pass → fail | expected 409, got 200 |" in result.stdout


def test_markdown_escapes_what_a_catalog_said(icecheck, pair):
    said = check("a.b", "fail", title=HOSTILE, summary=HOSTILE)
    for form in ("markdown", "text"):
        result = icecheck(
            "compare", *pair(document(check("a.b")), document(said)), "--format", form
        )
        assert "\u202e" not in result.stdout
        assert form == "text" or "<script>" not in result.stdout
    rows = [line for line in result.stdout.splitlines() if "a.b" in line]
    assert len(rows) == 1


def test_json_holds_every_change(icecheck, pair):
    result = icecheck("compare", *pair(*MIXED), "--format", "json")
    said = json.loads(result.stdout)
    assert said["regression"] is True
    assert said["counts"]["regression"] == 2
    assert said["unchanged"] == 1
    assert {c["check"]: (c["category"], c["lost"]) for c in said["changes"]} == {
        "a.b": ("regression", True),
        "e.f": ("regression", True),
        "c.d": ("fixed", False),
        "g.h": ("gone", False),
        "n.n": ("new", False),
    }


def test_several_runs_are_compared_one_with_the_next(icecheck, write):
    names = [
        write("one.json", document(check("a.b"), run_id="one")),
        write("two.json", document(check("a.b", "fail"), run_id="two")),
        write("three.json", document(check("a.b"), run_id="three")),
    ]
    repaired = icecheck("compare", *names)
    assert repaired.exit_code == 0  # what was lost on the way works again
    heads = [line for line in repaired.stdout.splitlines() if line.partition(" ")[0].isupper()]
    assert [head.partition(" (")[0] for head in heads] == [
        "REGRESSION: 1 check lost", "NO REGRESSION",
    ]  # fmt: skip
    broken = icecheck("compare", names[0], names[2], names[1], "--format", "json")
    assert broken.exit_code == 1
    told = json.loads(broken.stdout)
    assert told["regression"]
    assert [step["new"]["run_id"] for step in told["steps"]] == ["three", "two"]


def test_a_run_that_lost_what_worked_two_runs_before_is_a_regression(icecheck, write):
    names = [
        write("one.json", document(check("a.b"))),
        write("two.json", document(check("a.b", "fail"))),
        write("three.json", document(check("a.b", "fail"))),
    ]
    assert icecheck("compare", *names).exit_code == 1
    assert icecheck("compare", *names[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("blocks", "changed"),
    [
        ({}, []),
        ({"suite": {"version": "0.2.0", "requirement_set_sha256": "sha256:0"}}, ["suite"]),
        ({"spec": {"id": "iceberg-rest/1.10.0", "sha256": "sha256:1"}}, ["document"]),
        ({"target": {"url": "u", "fingerprint": {"config_sha256": "sha256:1"}}}, ["server"]),
        ({"target": {"url": "u", "fingerprint": {"config_sha256": None}}}, []),
        ({"config": {"groups": [], "globs": ["a.*"]}}, ["selection"]),
    ],
)
def test_what_else_changed_is_told(icecheck, pair, blocks, changed):
    names = pair(document(check("a.b")), document(check("a.b", "fail"), **blocks))
    told = json.loads(icecheck("compare", *names, "--format", "json").stdout)
    assert told["changed"] == changed
    (why,) = (w for w in icecheck("compare", *names).stdout.splitlines() if w.startswith("why: "))
    words = [f"the {each} changed" in why for each in changed] or ["neither" in why]
    assert all(words)


def required(**rows):
    return [
        {"id": id_.replace("_", "."), "level": level, "text": text, "condition": None, "since": "1"}
        for id_, (level, text) in rows.items()
    ]


def test_a_requirement_that_is_demanded_otherwise_is_named(icecheck, pair):
    before = required(a_b=("must", "one"), c_d=("must", "two"), gone_x=("must", "three"))
    after = required(a_b=("should", "one"), c_d=("must", "otherwise"), new_x=("must", "four"))
    names = pair(document(requirements=before), document(requirements=after))
    told = json.loads(icecheck("compare", *names, "--format", "json").stdout)
    assert told["notes"] == [
        "requirement a.b: its level differs (must → should)",
        "requirement c.d: its text differs",
        "requirement gone.x is gone",
        "requirement new.x is new",
    ]
    many = required(**{f"a_n{n}": ("must", "x") for n in range(30)})
    names = pair(document(requirements=before), document(requirements=many))
    told = json.loads(icecheck("compare", *names, "--format", "json").stdout)
    assert len(told["notes"]) == 21
    assert told["notes"][-1] == "and 13 more requirements differ"


def test_one_run_alone_is_misuse(icecheck, write):
    result = icecheck("compare", write("one.json", document()))
    assert result.exit_code == 2
    assert "name two runs or more" in result.stderr


def test_many_changes_are_shortened(icecheck, pair):
    many = [f"a.n{i}" for i in range(150)]
    before = document(*[check(m) for m in many])
    after = document(*[check(m, "fail") for m in many])
    result = icecheck("compare", *pair(before, after))
    assert "… and 50 more" in result.stdout
    assert len(result.stdout.splitlines()) < 120


OTHER_SPEC = document(spec={"id": "iceberg-rest/1.11.0"})
NOTHING = document(checks=[check("stays", "skip")])
DAMAGED = {
    "text": "hello",
    "deep": "[" * 100_000,
    "list": [],
    "another kind": document(kind="pytest"),
    "no checks": document(checks=None),
    "check without id": document(checks=[{"outcome": "pass"}]),
    "unknown outcome": document(check("a.b", "perhaps")),
    "no spec": document(spec={}),
    "no suite": document(suite=None),
    "newer format": document(report_version="2.0"),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_file_that_is_no_run_is_exit_2_and_one_line(icecheck, write, content):
    good, bad = write("good.json", document()), write("bad.json", copy.copy(content))
    for arguments in ((good, bad), (bad, good)):
        result = icecheck("compare", *arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert "bad.json" in line


def test_a_file_that_is_not_there_is_exit_2(icecheck, write, tmp_path):
    good = write("good.json", document())
    (tmp_path / "empty").mkdir()
    for missing in ("gone.json", "empty"):
        result = icecheck("compare", good, missing)
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"icecheck: {missing} cannot be read (No such file")
        assert line.endswith("name a run.json or its directory")


@pytest.mark.parametrize(
    ("other", "words"),
    [(OTHER_SPEC, "iceberg-rest/1.10.0 and iceberg-rest/1.11.0"), (NOTHING, "no judged check")],
)
def test_runs_that_have_nothing_in_common_are_exit_2(icecheck, pair, other, words):
    result = icecheck("compare", *pair(document(), other))
    assert result.exit_code == 2
    assert words in result.stderr


def test_reading_says_what_it_was_given():
    with pytest.raises(UsageError, match=r"^x is no report of icecheck"):
        read_run(b"\xff", "x")


def test_a_defect_is_found_between_two_runs_of_the_mock(icecheck):
    def verify(output, defect=None):
        with MockCatalog(seed=1, token="t", warehouses=["wh"]) as mock:
            if defect:
                defects()[defect].install(mock.registries)
            icecheck(
                "run", mock.uri, "--warehouse", "wh", "--token", "t", "--output", output, "-q",
                "--only", "checks", "--check", "createNamespace.*",
            )  # fmt: skip

    verify("faithful")
    verify("again")
    verify("broken", "namespace-created-201")
    assert icecheck("compare", "faithful", "again/run.json").exit_code == 0
    worse = icecheck("compare", "faithful", "broken")
    assert worse.exit_code == 1
    assert "createNamespace.created (pass → fail): expected 200, got 201" in worse.stdout
    better = icecheck("compare", "broken", "faithful", "--format", "json")
    assert json.loads(better.stdout)["counts"]["fixed"] > 0
    assert json.loads(better.stdout)["counts"]["regression"] == 0
