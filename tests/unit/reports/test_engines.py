"""What works in Spark, of several runs side by side."""

import json
from typing import Any

from icecheck.reports.many.engines import (
    BROKEN,
    Engine,
    as_html,
    as_json,
    as_markdown,
    engines_side_by_side,
)


def document(versions: str, **statuses: str) -> dict[str, Any]:
    """The parts of a run.json that matter here; an underscore stands for a dot of an id."""
    ids = {name.replace("_", "."): status for name, status in statuses.items()}
    workflows = [
        {
            "id": id_,
            "statement": f"{id_} <works>",
            "status": "broken" if status == "error" else status,
            "because": [],
            "reason": "" if status == "works" else f"why {id_} | {status}",
        }
        for id_, status in ids.items()
    ]
    return {
        "environment": {"spark": versions},
        "target": {"url": "http://c.test", "implementation": {"project": "a <catalog>"}},
        "checks": [
            {"id": id_, "outcome": status if status == "error" else "pass"}
            for id_, status in ids.items()
        ],
        "engine_profiles": [
            {"id": "java", "workflows": [{"id": "dialect.java", "status": "works"}]},
            {"id": "spark", "workflows": workflows},
        ],
    }


OLD = Engine(
    "old", document("Spark 3.5.9, Iceberg 1.10.2", spark_a="works", spark_b="works"), "o.html"
)
NEW = Engine(
    "new",
    document("Spark 4.0.5, Iceberg 1.11.0", spark_a="broken", spark_b="works", spark_c="error"),
    "n.html",
)
NEWEST = Engine(
    "newest", document("Spark 4.1.4, Iceberg 1.11.0", spark_a="works", spark_b="not-looked-at")
)
ABSENT = Engine("absent", None, trouble="PySpark <is> not there")
TABLE = engines_side_by_side([OLD, NEW, NEWEST, ABSENT])


def test_each_statement_is_a_line_with_a_field_for_each_engine() -> None:
    values = {line.id: [entry.value for entry in line.entries] for line in TABLE.lines}
    assert values == {
        "spark.a": ["works", "broken", "works", "not-run"],
        "spark.b": ["works", "works", "not-looked-at", "not-run"],
        "spark.c": ["not-run", "error", "not-run", "not-run"],
    }


def test_what_is_broken_somewhere_comes_first_and_what_works_everywhere_last() -> None:
    one = Engine(
        "one", document("Spark 1", spark_a="works", spark_b="not-offered", spark_c="works")
    )
    two = Engine("two", document("Spark 2", spark_a="works", spark_b="works", spark_c="broken"))
    lines = engines_side_by_side([one, two]).lines
    assert [line.id for line in lines] == ["spark.c", "spark.b", "spark.a"]


def test_an_engine_that_could_not_be_run_is_not_framed_as_the_odd_one() -> None:
    fine = document("Spark 1", spark_a="works")
    absent = Engine("absent", None, trouble="no network")
    (line,) = engines_side_by_side([Engine("a", fine), Engine("b", fine), absent]).lines
    assert [entry.odd for entry in line.entries] == [False, False, False]


def test_a_failure_of_the_suite_is_not_told_as_one_of_spark() -> None:
    assert TABLE.count(1, BROKEN) == 1
    assert TABLE.others(1) == "1 the suite failed"
    assert NEW.errors == {"spark.c"}


def test_a_reason_is_told_where_something_does_not_work_and_nowhere_else() -> None:
    reasons = {line.id: [TABLE.reason(at, line) for at in range(4)] for line in TABLE.lines}
    assert reasons["spark.a"] == ["", "why spark.a | broken", "", ""]
    assert reasons["spark.b"] == ["", "", "why spark.b | not-looked-at", ""]


def test_the_page_escapes_what_runs_say_and_leads_to_their_pages() -> None:
    page = as_html(TABLE)
    assert "a &lt;catalog&gt;" in page
    assert "<works>" not in page
    assert 'href="n.html#check-spark.a"' in page
    assert "could not be run: PySpark &lt;is&gt; not there" in page
    assert "<script" not in page


def test_markdown_has_a_row_for_each_statement_and_every_reason() -> None:
    text = as_markdown(TABLE)
    assert "| Spark 3.5.9, Iceberg 1.10.2 |" in text
    assert "absent: PySpark" in text
    rows = [line for line in text.splitlines() if line.startswith("| spark.")]
    assert [row.count("|") - row.count("\\|") for row in rows] == [6] * 3


def test_json_has_the_values_in_the_order_of_the_engines() -> None:
    read = json.loads(as_json(TABLE))
    assert [each["name"] for each in read["engines"]] == ["old", "new", "newest", "absent"]
    assert read["statements"]["spark.a"]["values"] == ["works", "broken", "works", "not-run"]
    assert read["statements"]["spark.a"]["reasons"][1] == "why spark.a | broken"
