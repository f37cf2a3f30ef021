"""The full kill matrix: what judges what, what is judged again, and what the report concludes."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import structs
from tools.matrix.__main__ import main
from tools.matrix.digests import Digests
from tools.matrix.judged import Judged, judge_cells
from tools.matrix.kept import Kept
from tools.matrix.plan import Cell, Plan, family_of, judging_checks, reach_of, slice_of
from tools.matrix.report import known_of, report, requests_of
from tools.matrix.running import judge_missing, rows_of
from tools.matrix.table import Row, read_table, row_of, write_table
from tools.matrix.worth import Known, matrix_of, needless, worth_of

from icecheck.contract import Level
from icecheck.mock_server.defects import Defect, defects
from tests.kit.contracts import CONTRACT

MUST, SHOULD = Level.MUST, Level.SHOULD
FAMILIES = ("conformance/namespaces", "conformance/listing")
CHECKS = [check for check in judging_checks(CONTRACT) if family_of(check) in FAMILIES]
LISTS = defects()["status-listNamespaces.404-is-500"]
CASCADES = defects()["namespace-drop-cascades"]
GATE = defects()["auth-any-token-loadTable"]
MODULE = "icecheck.mock_server.defects.answers.spellings"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(CHECKS, reach_of(CHECKS), Digests())


def test_checks_about_a_changed_operation_judge_a_defect(plan: Plan) -> None:
    about = [check for check in CHECKS if "listNamespaces" in check.operations]
    assert plan.judges(LISTS) == about
    assert 0 < len(about) < len(CHECKS)


def test_checks_that_only_prepare_their_ground_with_a_changed_operation_are_left_out(
    plan: Plan,
) -> None:
    judges = {check.id for check in plan.judges(defects()["status-createNamespace.200-is-500"])}
    prepared = "dropNamespace.holds-table"
    assert ("operations", "createNamespace") in plan.reach[prepared]
    assert prepared not in judges
    assert "createNamespace.created" in judges


def test_checks_that_prove_what_a_defect_breaks_judge_it_whatever_it_changes(plan: Plan) -> None:
    elsewhere = structs.replace(LISTS, breaks="dropNamespace.holds-table")
    judges = plan.judges(elsewhere)
    (added,) = [check for check in judges if check not in plan.judges(LISTS)]
    assert added.id == "dropNamespace.holds-table"


def test_the_families_that_prove_what_a_changed_gate_breaks_judge_it(plan: Plan) -> None:
    assert plan.judges(GATE) == []
    about_lists = structs.replace(GATE, breaks="listTables.404")
    lists = [check for check in CHECKS if family_of(check) == "conformance/listing"]
    assert plan.judges(about_lists) == lists


def test_checks_that_send_a_changed_update_judge_it(plan: Plan) -> None:
    reach = {check.id: frozenset({("operations", "updateTable")}) for check in CHECKS}
    reach[CHECKS[3].id] = frozenset({("updates", "set-location")})
    update = defects()["update-forgotten-set-location"]
    assert Plan(CHECKS, reach, plan.digests).judges(update) == [CHECKS[3]]


def test_the_cells_of_a_defect_have_each_of_its_checks_once(plan: Plan) -> None:
    both = structs.replace(LISTS, breaks="dropNamespace.holds-table")
    cells = plan.cells(both)
    assert {cell.family for cell in cells} == set(FAMILIES)
    assert len({cell.key for cell in cells}) == len(cells)
    judged = [check for cell in cells for check in cell.checks]
    assert sorted(judged) == sorted(check.id for check in plan.judges(both))


def test_slices_have_every_defect_once() -> None:
    every = [*defects().values()][:50]
    sliced = [defect.name for index in range(1, 8) for defect in slice_of(every, index, 7)]
    assert sorted(sliced) == [defect.name for defect in every]


def test_what_fails_is_told_with_its_level() -> None:
    found = judged(CASCADES, "dropNamespace.holds-table", "dropNamespace.dropped")
    assert found == Judged({"dropNamespace.holds-table": MUST})


def test_a_passive_check_is_told_with_the_checks_that_show_it() -> None:
    text = defects()["text-listNamespaces.404"]
    missing, listed = "listNamespaces.no-such-parent", "listNamespaces.top-level"
    assert judged(text, missing, listed).shown == {"schema.listNamespaces.404": (MUST, (missing,))}


def judged(defect: Defect, *checks: str) -> Judged:
    ((_, found),) = judge_cells([Cell(defect.name, "any", checks, "key")])
    return found


@pytest.mark.complete("a tool for developers, run by hand")
def test_an_interrupted_run_goes_on_where_it_was(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [LISTS, CASCADES]
    assert judge_missing(plan, [LISTS], Kept(tmp_path, "1-of-2"), 1) == []
    with (tmp_path / "judged-1-of-2.jsonl").open("a") as file:
        file.write('{"key": "half of a l')
    kept = Kept(tmp_path, "1-of-2")
    assert [row.defect for row in rows_of(plan, both, kept)] == [LISTS.name]
    capsys.readouterr()
    assert judge_missing(plan, both, kept, 2) == []
    assert "2 defects, 1 of them to judge" in capsys.readouterr().out
    rows = rows_of(plan, both, kept)
    assert [row.failed for row in rows if row.defect == CASCADES.name] == [
        {"dropNamespace.holds-table": MUST}
    ]
    assert rows_of(plan, both, Kept(tmp_path, "another-run")) == rows


def test_a_defect_that_breaks_off_is_named_and_not_kept(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = structs.replace(LISTS, name="of-this-process-only")
    kept = Kept(tmp_path, "1-of-1")
    assert judge_missing(plan, [unknown], kept, 1) == [unknown.name]
    assert f"{unknown.name}: KeyError" in capsys.readouterr().err
    assert rows_of(plan, [unknown], kept) == []


def package(folder: Path) -> Path:
    """Make a package with the folders that digests are made of."""
    kit = "icecheck.mock_server.defects.kit.declaring"
    for name, text in {
        "judging/judge.py": "",
        "conformance/kit/forms.py": "",
        "conformance/tables/test_tables.py": "",
        "conformance/views/test_views.py": "",
        "mock_server/app.py": "",
        "mock_server/defects/kit/declaring.py": "",
        "mock_server/defects/answers/spellings.py": f"from {kit} import by",
        "mock_server/defects/answers/errors.py": "",
        "cli/words.py": "",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("judging/judge.py", {"tables", "views"}),
        ("conformance/kit/forms.py", {"tables", "views"}),
        ("mock_server/app.py", {"tables", "views"}),
        ("mock_server/defects/kit/declaring.py", {"tables", "views"}),
        ("mock_server/defects/answers/spellings.py", {"tables", "views"}),
        ("conformance/tables/test_tables.py", {"tables"}),
        ("mock_server/defects/answers/errors.py", set()),
        ("cli/words.py", set()),
    ],
)
def test_what_a_verdict_follows_from_is_judged_again_when_it_changes(
    changed: str, again: set[str], tmp_path: Path
) -> None:
    before = keys(package(tmp_path))
    (tmp_path / changed).write_text("changed = True\n")
    after = keys(tmp_path)
    assert {family for family in before if before[family] != after[family]} == again


def keys(folder: Path) -> dict[str, str]:
    digests = Digests(folder)
    return {f: digests.of_cell(MODULE, f"conformance/{f}", ["name"]) for f in ("tables", "views")}


def test_other_checks_of_a_cell_are_judged_again(tmp_path: Path) -> None:
    digests = Digests(package(tmp_path))
    names = (["defect", "one"], ["defect", "one", "two"], ["defect", "two"])
    assert len({digests.of_cell(MODULE, "conformance/tables", each) for each in names}) == 3


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    cells = [
        Judged(
            {"a.one": MUST, "a.two.more": MUST, "race.b": SHOULD},
            {"schema.x.200": (MUST, ("a.one",))},
        ),
        Judged({"c.two": MUST}, {"schema.x.200": (MUST, ("c.two",))}, {"d.three": "KeyError"}),
    ]
    rows = [row_of("breaks-x", cells), Row("breaks-nothing", {}, {})]
    write_table(rows, tmp_path / "kills.txt")
    *_, nothing, everything = (tmp_path / "kills.txt").read_text().splitlines()
    assert nothing == "breaks-nothing"
    assert everything.split(" | ") == [
        "breaks-x",
        "must a.{one,two.more} c.two",
        "should race.b~",
        "passive schema.x.200 must a.one c.two",
        "errors d.three",
    ]
    assert read_table(tmp_path / "kills.txt") == rows[::-1]
    assert read_table(tmp_path / "none.txt") == []


ROWS = [
    Row("both", {"a": MUST, "b": MUST, "weak": SHOULD}, {}),
    Row("only-a", {"a": MUST, "weak": SHOULD, "dropped-since": MUST}, {}),
    Row("raced", {"b": MUST, "race.c": MUST}, {}),
    Row("shape", {}, {"schema.load.200": (MUST, ("b", "d", "dropped-since"))}),
    Row("lesser", {"a": MUST, "weak": SHOULD}, {}),
    Row("gone", {"a": MUST}, {}),
]
BREAKS = {"both": "r.a", "only-a": "r.a", "raced": "r.b", "shape": "load.200", "lesser": "r.weak"}
KNOWN = Known(
    breaks=BREAKS,
    levels=dict.fromkeys(BREAKS, MUST) | {"lesser": SHOULD},
    proves={
        "a": ("r.a",),
        "b": ("r.b",),
        "weak": ("r.weak",),
        "race.c": ("r.b",),
        "d": ("r.b", "r.a"),
        "e": ("r.a",),
        "schema.load.200": ("load.200",),
    },
)
REQUESTS = {"a": 5, "b": 4, "weak": 3, "race.c": 9, "d": 8, "e": 2}


def test_what_is_found_at_its_level_by_nothing_else_counts_as_found_alone() -> None:
    worth = {w.check: w for w in worth_of(matrix_of(ROWS, KNOWN), REQUESTS)}
    assert {c: (w.kills, w.alone) for c, w in worth.items()} == {
        "a": (3, 1),
        "b": (3, 1),  # whoever won the race may lose it
        "d": (1, 0),
        "e": (0, 0),
        "race.c": (1, 0),
        "weak": (1, 0),
    }


def test_a_check_is_needed_for_what_only_it_proves() -> None:
    worth = {w.check: w for w in worth_of(matrix_of(ROWS, KNOWN), REQUESTS)}
    assert {c: w.rows_alone for c, w in worth.items() if w.rows_alone} == {"weak": ("r.weak",)}
    alone = {c: w.proofs_alone for c, w in worth.items() if w.proofs_alone}
    assert alone == {"a": 2, "b": 1, "weak": 1}
    assert {c for c, w in worth.items() if w.droppable} == {"race.c", "d", "e"}
    within = {c: w.within for c, w in worth.items() if w.within}
    assert within == {"d": "b", "race.c": "b", "weak": "a"}


def test_of_two_checks_that_find_the_same_only_one_is_dropped() -> None:
    rows = [Row("both", {"a": MUST, "b": MUST}, {})]
    proves = {"a": ("r",), "b": ("r",)}
    matrix = matrix_of(rows, Known({"both": "r"}, {"both": MUST}, proves))
    worths = worth_of(matrix, {"a": 5, "b": 4})
    assert [w.droppable for w in worths] == [True, True]
    assert [w.check for w in needless(matrix, worths)] == ["a"]


def test_the_report_counts_requests_and_names_what_nothing_finds() -> None:
    defect = defects()["namespace-drop-cascades"]
    checks = [c for c in CHECKS if c.id.startswith("dropNamespace.")]
    requests = requests_of(checks)
    assert requests["dropNamespace.holds-table"] > 1
    known = known_of(CONTRACT, checks, [defect, LISTS])
    found = Row(defect.name, {"dropNamespace.holds-table": MUST}, {}, ("dropNamespace.succeeds",))
    text = report([found, Row(LISTS.name, {}, {})], known, requests)
    parts = parts_of(text)
    assert parts["Errors of the suite"] == [f"{defect.name}: dropNamespace.succeeds"]
    (unfound,) = [lines for title, lines in parts.items() if title.startswith("Defects that none")]
    assert unfound == [LISTS.name]
    (never,) = [lines for title, lines in parts.items() if "never kill alone" in title]
    assert not any("dropNamespace.holds-table" in line for line in never)
    assert len(never) == len(checks)  # a line of columns, and all checks but one


def parts_of(text: str) -> Mapping[str, list[str]]:
    _, *parts = text.split("\n\n")
    return {title.rstrip(":"): lines for title, *lines in map(str.splitlines, parts)}


def test_there_is_no_report_of_a_matrix_that_was_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--report", "--file", str(tmp_path / "none.txt")])
    assert "judge it first" in capsys.readouterr().err


def test_a_slice_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("3/2", "0/2", "2", "x"):
        with pytest.raises(SystemExit):
            main(["--slice", wrong])
        assert "--slice" in capsys.readouterr().err
