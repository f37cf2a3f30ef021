"""Scripts are read exactly, and what is wrong with one is said with file and line."""

from pathlib import Path

import pytest

from icecheck.spark_tests.engines import Bound
from icecheck.spark_tests.outcomes import MayRefuse, Refusal, Rows, Save, ScriptError
from icecheck.spark_tests.script import Script, parse_script, read_scripts

PATH = Path("scripts/x.sql")
HEADER = "-- check: spark.x\n-- title: Words\n-- proves: client.spark.x\n\n"
ENOUGH = "\nSELECT 1;\n-- expect:\n-- 1\n"


def parsed(body: str) -> Script:
    return parse_script(PATH, HEADER + body)


def rows_of(text: str, sql: str = "SELECT 1") -> Rows:
    outcome = parsed(f"{sql};\n-- expect:\n{text}\n").statements[0].outcome
    assert isinstance(outcome, Rows)
    return outcome


def test_the_header_says_what_the_check_is() -> None:
    text = "-- check: spark.a-b.c\n-- title: Two words\n-- proves: r.one, r.two\n-- needs: n\n"
    script = parse_script(Path("scripts/a_b.sql"), text + ENOUGH)
    assert (script.check, script.title, script.slug) == ("spark.a-b.c", "Two words", "a_b")
    assert script.proves == ("r.one", "r.two")
    assert script.needs == ("n",)


def test_the_header_says_which_engine_is_needed() -> None:
    assert parsed(ENOUGH).engine == ()
    assert parsed("-- engine: spark >= 4.0, iceberg < 1.11\n" + ENOUGH).engine == (
        Bound("Spark", (4, 0)),
        Bound("Iceberg", (1, 11), below=True),
    )


def test_statements_keep_their_lines_and_text() -> None:
    script = parsed("CREATE TABLE {table} (\n  id INT\n) USING iceberg;\n" + ENOUGH)
    first, second = script.statements
    assert (first.line, first.sql) == (5, "CREATE TABLE {table} (\n  id INT\n) USING iceberg")
    assert (second.line, second.sql) == (9, "SELECT 1")


def test_a_semicolon_inside_quotation_marks_ends_nothing() -> None:
    script = parsed("CALL f('a;b', \"c;d\", 'it\\';s',\n `e;f`);\n" + ENOUGH)
    assert script.statements[0].sql.endswith("`e;f`)")


def test_cells_are_text_null_or_json_strings() -> None:
    outcome = rows_of('-- 1 | two words |  NULL | "" | "NULL" | "a | b" | {1, null}')
    assert outcome.rows == (("1", "two words", None, "", "NULL", "a | b", "{1, null}"),)


def test_the_rows_end_at_the_first_line_that_is_no_comment() -> None:
    script = parsed("SELECT 1;\n-- expect:\n-- 1\n\n-- A remark.\nSELECT 2;\n-- expect:\n-- 2\n")
    assert [s.outcome for s in script.statements] == [
        Rows((("1",),), ordered=False),
        Rows((("2",),), ordered=False),
    ]


def test_no_rows_can_be_expected() -> None:
    outcome = parsed("SELECT 1;\n-- expect: no rows\n").statements[0].outcome
    assert outcome == Rows((), ordered=False)


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t\norder\n  by a", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1)", False),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'order by' FROM t", False),
        ("SELECT ')', a FROM t ORDER BY a", True),
    ],
)
def test_only_the_outermost_order_by_makes_order_count(sql: str, ordered: bool) -> None:
    assert rows_of("-- 1", sql).ordered is ordered


def test_the_other_directives_are_read() -> None:
    script = parsed(
        "DROP TABLE {table};\n-- expect-error: AnalysisException\n"
        "SELECT 1, 2;\n-- save: first, second\n"
        "CREATE TABLE {table} (i INT);\n-- may-refuse: no tables here\n"
        "SHOW TABLES IN {catalog}.{namespace};\n-- expect-including:\n-- {first} | {name}\n"
    )
    assert [s.outcome for s in script.statements] == [
        Refusal("AnalysisException"),
        Save(("first", "second")),
        MayRefuse("no tables here"),
        Rows((("{first}", "{name}"),), ordered=False, partial=True),
    ]


def test_a_script_knows_which_names_it_uses() -> None:
    script = parsed("CREATE TABLE {table2} (i INT);\n" + ENOUGH)
    assert script.uses("table2", "name2")
    assert not script.uses("table", "name", "namespace2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1;\n-- expect:\n-- 1\n", "x.sql:1: the script has no line '-- check: ...'"),
        (
            "-- check: spark.x\n-- title: t\n" + ENOUGH,
            "x.sql:1: the script has no line '-- proves: ...'",
        ),
        (HEADER.replace("spark.x", "merge", 1) + ENOUGH, "x.sql:1: check 'merge' is not an id"),
        (HEADER + "-- title: again\n" + ENOUGH, "x.sql:5: 'title:' must be given once"),
        (HEADER + "-- engine: spark > 4.0\n" + ENOUGH, "x.sql:5: 'spark > 4.0' is not a bound"),
        (HEADER + "-- engine: spark >= 4\n" + ENOUGH, "x.sql:5: 'spark >= 4' is not a bound"),
        (HEADER + "-- engine: flink >= 2.0\n" + ENOUGH, "x.sql:5: 'flink >= 2.0' is not a bound"),
        (HEADER + "-- engine: spark >= 4.0,\n" + ENOUGH, "x.sql:5: '' is not a bound"),
        (
            HEADER + "-- engine: spark >= 4.0, spark >= 4.1\n" + ENOUGH,
            "x.sql:5: 'spark >=' is given twice",
        ),
        (HEADER + "-- engine:\n" + ENOUGH, "x.sql:5: 'engine:' must be given once"),
        (HEADER + ENOUGH + "\n-- engine: spark < 4.0\n", "x.sql:10: 'engine:' belongs above"),
        (HEADER + "-- chekc: x\n" + ENOUGH, "x.sql:5: 'chekc:' is no line of the header"),
        (HEADER + ENOUGH + "\n-- title: late\n", "x.sql:10: 'title:' belongs above the SQL"),
        (HEADER + "SELECT 1;\n-- expct:\n-- 1\n", "x.sql:6: there is no directive 'expct:'"),
        (HEADER + "SELECT 1;\n\nSELECT 2;\n-- expect:\n-- 2\n", "x.sql:5: a query without"),
        (HEADER + "DROP TABLE {table};\n", "x.sql:1: the script has no 'expect:'"),
        (HEADER + "DROP TABLE {tabel};\n" + ENOUGH, "x.sql:5: nothing is called {tabel} here"),
        (HEADER + "SELECT 1;\n-- expect:\n-- {x}\n", "x.sql:7: nothing is called {x} here"),
        (HEADER + "SELECT 1\n", "x.sql:5: the statement that starts here is not ended"),
        (HEADER + "SELECT 1\n-- expect:\n-- 1\n", "x.sql:5: the statement that starts here"),
        (HEADER + "SELECT 1; SELECT 2;\n", "x.sql:5: one statement a line"),
        (HEADER + "SELECT 1;\n-- expect:\n\n", "x.sql:6: rows are missing below"),
        (HEADER + "SELECT 1;\n-- expect: 1\n", "x.sql:6: rows stand below"),
        (HEADER + "SELECT 1;\n-- expect:\n-- 1\n-- 1 | 2\n", "x.sql:8: 2 cells, but"),
        (HEADER + "SELECT 1;\n-- expect:\n-- 1 |\n", "x.sql:7: an empty cell"),
        (HEADER + 'SELECT 1;\n-- expect:\n-- "a\n', "x.sql:7: a double quote is not closed"),
        (HEADER + 'SELECT 1;\n-- expect:\n-- "a" b\n', 'x.sql:7: "a" b is not a JSON string'),
        (HEADER + ENOUGH + "\n-- expect:\n-- 1\n", "x.sql:10: the statement above has a directive"),
        (HEADER + "SELECT 1;\n-- save: table\n", "x.sql:6: 'save:' may not replace {table}"),
        (HEADER + "SELECT 1;\n-- save: A\n", "x.sql:6: 'save:' takes names"),
        (HEADER + "SELECT 1;\n-- expect-error: no\n", "x.sql:6: 'expect-error:' takes"),
        (HEADER + "SELECT 1;\n-- may-refuse: x\n", "x.sql:6: 'may-refuse:' is for statements"),
        (HEADER + "DROP TABLE {table};\n-- may-refuse:\n", "x.sql:6: 'may-refuse:' says"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(text: str, said: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(PATH, text)
    assert str(caught.value).startswith(said)


def test_an_id_used_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(HEADER + ENOUGH)
    (tmp_path / "b.sql").write_text(HEADER + ENOUGH)
    with pytest.raises(ScriptError, match=r"b\.sql:1: check 'spark\.x' is already a\.sql"):
        read_scripts(tmp_path)
