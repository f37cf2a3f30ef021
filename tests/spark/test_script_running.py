"""Scripts run statement by statement, on a pretended Spark that answers from a table."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered, Violation
from icecheck.spark_tests import running
from icecheck.spark_tests.engines import read_bounds, require_engine
from icecheck.spark_tests.running import run_script
from icecheck.spark_tests.script import parse_script
from icecheck.targets.target import Target
from icecheck.witnesses.spark_statements import qualified

HEADER = "-- check: spark.x\n-- title: Words\n-- proves: client.spark.x\n\n"
NAMESPACE = ("root", "with space")


class Refused(Py4JError):
    """An error with a Java exception of one class in it."""

    def __init__(self, name: str) -> None:
        super().__init__("x")
        self.java_exception = self
        self.name = name

    def getClass(self) -> "Refused":  # noqa: N802 - Java's name
        return self

    def getSimpleName(self) -> str:  # noqa: N802 - Java's name
        return self.name

    def getMessage(self) -> str:  # noqa: N802 - Java's name
        return "said the catalog about icecheck.root.`with space`.n1"

    def getCause(self) -> None:  # noqa: N802 - Java's name
        return None


@pytest.fixture(autouse=True)
def _namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script begins with a namespace of its own, which nobody has to create here."""
    monkeypatch.setattr(running, "given_namespace", lambda _catalog: NAMESPACE)


@dataclass
class FakeCatalog:
    """A catalog that only names things."""

    names: int = 0
    target: Target = field(default_factory=lambda: Target("http://c"))
    ledger: list[tuple[str, ...]] = field(default_factory=list)

    def new_name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def new_namespace_name(self) -> tuple[str, ...]:
        return ("root", self.new_name())

    def ledger_table(self, namespace: tuple[str, ...], name: str) -> None:
        self.ledger.append((*namespace, name))

    def ledger_view(self, namespace: tuple[str, ...], name: str) -> None:
        self.ledger.append((*namespace, name, "view"))

    def ledger_namespace(self, namespace: tuple[str, ...]) -> None:
        self.ledger.append(namespace)


@dataclass
class FakeSpark:
    """A Spark whose session answers a statement with rows, or with an error."""

    answers: dict[str, Any]
    heard: list[str] = field(default_factory=list)

    def session(self, catalog: FakeCatalog) -> "tuple[FakeSpark, str]":
        assert catalog.names, "names are chosen before Spark is asked for a session"
        return self, "icecheck"

    def sql(self, text: str) -> list[tuple[str | None, ...]]:
        self.heard.append(text)
        answer = self.answers.get(text.split(maxsplit=1)[0], [])
        if isinstance(answer, Exception):
            raise answer
        return list(answer)


@pytest.fixture(autouse=True)
def _rows_are_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "fetch_rows", lambda frame: frame)


def run(body: str, **answers: Any) -> tuple[FakeSpark, FakeCatalog]:
    spark, catalog = FakeSpark(answers), FakeCatalog()
    run_script(parse_script(Path("x.sql"), HEADER + body), catalog, spark)  # type: ignore[arg-type]
    return spark, catalog


def test_placeholders_become_the_runs_own_names() -> None:
    spark, catalog = run(
        "USE {catalog}.{namespace};\nDROP {table} {name} {table2} {parent} {namespace2};\n"
        "SELECT 1;\n-- expect:\n-- {name2}\n",
        SELECT=[("n2",)],
    )
    assert spark.heard == [
        "USE icecheck.root.`with space`",
        "DROP icecheck.root.`with space`.n1 n1 icecheck.root.`with space`.n2 icecheck.root root.n3",
        "SELECT 1",
    ]
    assert catalog.ledger == [(*NAMESPACE, "n1"), (*NAMESPACE, "n2"), ("root", "n3")]


def test_views_have_names_of_their_own() -> None:
    spark, catalog = run("DROP {view} {view_name2};\nSELECT 1;\n-- expect: no rows\n")
    assert spark.heard[0] == "DROP icecheck.root.`with space`.n4 n5"
    assert catalog.ledger == [(*NAMESPACE, "n4", "view"), (*NAMESPACE, "n5", "view")]


def test_what_a_script_does_not_mention_is_not_in_the_ledger() -> None:
    _, catalog = run("SELECT 1;\n-- expect: no rows\n")
    assert catalog.ledger == []


def test_rows_in_any_order_are_equal_where_the_statement_does_not_sort() -> None:
    body = "SELECT a FROM t;\n-- expect:\n-- 1\n-- 2\n-- 2\n"
    spark, _ = run(body, SELECT=[("2",), ("1",), ("2",)])
    assert spark.heard == ["SELECT a FROM t"]


@pytest.mark.parametrize("rows", [[("1",), ("2",)], [("1",), ("1",), ("2",)], []])
def test_rows_that_are_missing_or_too_many_are_a_violation(rows: list[tuple[str]]) -> None:
    with pytest.raises(Violation):
        run("SELECT a FROM t;\n-- expect:\n-- 1\n-- 2\n-- 2\n", SELECT=rows)


def test_the_violation_names_the_place_and_shows_rows_without_the_runs_names() -> None:
    with pytest.raises(Violation) as caught:
        run("SELECT a FROM {table};\n-- expect:\n-- {name} | NULL\n", SELECT=[("n1", "x")])
    finding = caught.value.finding
    assert finding.symptom.slug == "spark-rows"
    assert finding.expected == "1 row: {name} | NULL"
    assert finding.actual == "1 row: {name} | x"
    assert finding.detail == (
        "spark_tests/scripts/x.sql:5: SELECT a FROM icecheck.root.`with space`.n1"
    )


def test_order_counts_where_the_statement_sorts() -> None:
    body = "SELECT a FROM t ORDER BY a;\n-- expect:\n-- 1\n-- 2\n"
    run(body, SELECT=[("1",), ("2",)])
    with pytest.raises(Violation, match="in this order"):
        run(body, SELECT=[("2",), ("1",)])


def test_other_rows_may_come_where_the_script_says_so() -> None:
    body = "SHOW NAMESPACES;\n-- expect-including:\n-- a\n"
    run(body, SHOW=[("b",), ("a",)])
    with pytest.raises(Violation, match="among others"):
        run(body, SHOW=[("b",)])


def test_text_that_reads_null_is_not_a_null() -> None:
    with pytest.raises(Violation):
        run("SELECT 1;\n-- expect:\n-- NULL\n", SELECT=[("NULL",)])


def test_saved_cells_are_used_in_statements_and_rows() -> None:
    spark, _ = run(
        "SELECT 1;\n-- save: first, second\nCALL f({first});\n-- expect:\n-- {second}\n",
        SELECT=[("17", "18")],
        CALL=[("18",)],
    )
    assert spark.heard[-1] == "CALL f(17)"


@pytest.mark.parametrize("rows", [[], [("1",), ("2",)], [(None,)]])
def test_only_a_single_row_can_be_saved(rows: list[tuple[str | None]]) -> None:
    with pytest.raises(Violation, match="one row"):
        run("SELECT 1;\n-- save: first\nSELECT 2;\n-- expect:\n-- 2\n", SELECT=rows)


REST = "SELECT 1;\n-- expect: no rows\n"


def test_an_expected_error_is_no_violation() -> None:
    run("DROP x;\n-- expect-error: Refused\n" + REST, DROP=Refused("Refused"))


def test_an_expected_error_that_does_not_come_is_a_violation() -> None:
    with pytest.raises(
        Violation, match="expected the statement fails with Wanted, got it succeeds"
    ):
        run("DROP x;\n-- expect-error: Wanted\n" + REST)


def test_an_error_of_another_class_is_a_violation_that_says_which() -> None:
    with pytest.raises(Violation, match="got Other: said the catalog about") as caught:
        run("DROP x;\n-- expect-error: Wanted\n" + REST, DROP=Refused("Other"))
    assert caught.value.finding.symptom.slug == "spark-error-class"


def test_an_unexpected_error_is_a_violation_without_the_runs_names() -> None:
    with pytest.raises(Violation) as caught:
        run("DROP x;\n" + REST, DROP=Refused("Other"))
    finding = caught.value.finding
    assert finding.symptom.slug == "spark-statement-fails"
    assert finding.actual == "Other: said the catalog about {table}"


def test_what_may_be_refused_is_not_offered() -> None:
    with pytest.raises(NotOffered, match="no branches"):
        run("ALTER x;\n-- may-refuse: no branches\n" + REST, ALTER=Refused("BadRequestException"))


def test_a_lost_jvm_is_not_the_catalogs_fault() -> None:
    with pytest.raises(Py4JError):
        run("DROP x;\n" + REST, DROP=Py4JError("the JVM is gone"))


class OfVersions:
    """A session that tells its version of Spark, and that of Iceberg through the JVM."""

    def __init__(self, spark: str, iceberg: str) -> None:
        self.version = spark
        told = SimpleNamespace(version=lambda: iceberg)
        packages = SimpleNamespace(
            apache=SimpleNamespace(iceberg=SimpleNamespace(IcebergBuild=told))
        )
        self.sparkContext = SimpleNamespace(_jvm=SimpleNamespace(org=packages))


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ("spark >= 4.0", "needs Spark 4.0; this is Spark 3.5.9"),
        ("spark < 3.5", "needs Spark before 3.5; this is Spark 3.5.9"),
        ("spark >= 3.5, iceberg >= 1.11", "needs Iceberg 1.11; this is Iceberg 1.10.2"),
        ("spark >= 3.5, iceberg >= 1.9, iceberg < 1.11", ""),
    ],
)
def test_a_check_with_another_engine_than_it_needs_is_not_applicable(
    bounds: str, said: str
) -> None:
    def judge() -> None:
        require_engine(OfVersions("3.5.9", "1.10.2"), read_bounds(bounds))  # type: ignore[arg-type]

    if not said:
        judge()
        return
    with pytest.raises(NotOffered) as caught:
        judge()
    assert (caught.value.reason, caught.value.kind) == (said, SkipKind.HARNESS_GAP)


def test_a_script_for_another_engine_ends_before_it_names_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = OfVersions("3.5.9", "1.10.2")
    monkeypatch.setattr(running, "spark_session", lambda _catalog, _spark: (session, "icecheck"))
    script = parse_script(Path("x.sql"), HEADER.strip() + "\n-- engine: spark >= 4.0\n" + REST)
    catalog = FakeCatalog()
    with pytest.raises(NotOffered):
        run_script(script, catalog, None)  # type: ignore[arg-type]
    assert (catalog.names, catalog.ledger) == (0, [])


def test_names_are_quoted_only_where_they_must_be() -> None:
    assert qualified(("a_1", "b c", "d`e", "1f")) == "a_1.`b c`.`d``e`.`1f`"
