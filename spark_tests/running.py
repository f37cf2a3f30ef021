"""Runs a script on a catalog, statement by statement, and judges each outcome."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.findings.symptoms import Severity, declare
from icecheck.replies.expect import NotOffered, Violation
from icecheck.spark_tests.engines import require_engine
from icecheck.spark_tests.outcomes import MayRefuse, Refusal, Rows, Save
from icecheck.spark_tests.own_tables import SPARK_ROWS
from icecheck.spark_tests.script import Script, Statement
from icecheck.targets.target import Namespace
from icecheck.wire.unreachable import Unreachable
from icecheck.witnesses.spark_failures import Failure, read_failure
from icecheck.witnesses.spark_statements import (
    Row,
    SparkSource,
    failure_outcome,
    fetch_rows,
    qualified,
    quoted_name,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ERROR_CLASS = declare(
    "spark-error-class",
    "A statement of Spark fails with another error than is due",
    Severity.WRONG_STATUS,
    "Spark: takes it for another error",
)
_STATEMENT_SUCCEEDS = declare(
    "spark-statement-succeeds",
    "A statement of Spark succeeds that has to fail",
    Severity.FALSE_OR_LOST,
    "Spark: sees no error",
)

ROWS_SHOWN = 6

# Placeholder of a bare name -> placeholder of the name with namespace and catalog.
_WHOLE = {"name": "table", "name2": "table2", "view_name": "view", "view_name2": "view2"}


def run_script(script: Script, catalog: Catalog, spark: SparkSource) -> None:
    """Run every statement of a script; raise Violation at the first unexpected outcome.

    Raises NotOffered, before anything is created, if the script needs another Spark or Iceberg.
    """
    if script.engine:
        require_engine(spark_session(catalog, spark)[0], script.engine)
    names = _names(script, catalog)
    session, names["catalog"] = spark_session(catalog, spark)
    within = f"{names['catalog']}.{names['namespace']}"
    for bare, whole in _WHOLE.items():
        names[whole] = f"{within}.{names[bare]}"
    names["parent"] = ".".join(filter(None, (names["catalog"], names["parent"])))
    for statement in script.statements:
        _Step(script, statement, session, names).run()


class _Step:
    """Runs one statement of a script."""

    __slots__ = ("_names", "_script", "_session", "_sql", "_statement")

    def __init__(
        self,
        script: Script,
        statement: Statement,
        session: "SparkSession",
        names: dict[str, str],
    ) -> None:
        self._script = script
        self._statement = statement
        self._session = session
        self._names = names
        self._sql = self._filled(statement.sql)

    def run(self) -> None:
        """Execute the statement and judge its outcome."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        outcome = self._statement.outcome
        try:
            rows = self._execute()
        except (Py4JError, PySparkException) as error:
            failure = read_failure(error, self._own_names)
            if failure is None:
                raise
            if isinstance(outcome, Refusal) and failure.is_a(outcome.exception):
                return
            raise self._raised(failure) from error
        match outcome:
            case Rows():
                self._judge_rows(outcome, rows)
            case Refusal():
                raise Violation(
                    _STATEMENT_SUCCEEDS,
                    f"the statement fails with {outcome.exception}",
                    "it succeeds",
                    detail=self._where,
                )
            case Save():
                self._save(outcome, rows)

    @property
    def _own_names(self) -> dict[str, str]:
        """The names that differ from run to run, that is all but the catalog's."""
        catalog = self._names["catalog"]
        return {key: name for key, name in self._names.items() if name != catalog}

    @property
    def _where(self) -> str:
        place = f"{self._script.path.name}:{self._statement.line}"
        return f"spark_tests/scripts/{place}: {self._sql}"

    def _execute(self) -> list[Row]:
        frame = self._session.sql(self._sql)
        # Commands run at once; rows are fetched only if the outcome needs them.
        wanted = isinstance(self._statement.outcome, Rows | Save | Refusal)
        return fetch_rows(frame) if wanted else []

    def _raised(self, failure: Failure) -> Violation | NotOffered | Unreachable:
        outcome = self._statement.outcome
        optional = outcome.reason if isinstance(outcome, MayRefuse) else ""
        raised = failure_outcome(failure, self._where, optional)
        if isinstance(outcome, Refusal) and isinstance(raised, Violation):
            expected = f"the statement fails with {outcome.exception}"
            return Violation(_ERROR_CLASS, expected, failure.words, detail=self._where)
        return raised

    def _judge_rows(self, expected: Rows, rows: list[Row]) -> None:
        wanted = [
            tuple(None if cell is None else self._filled(cell) for cell in row)
            for row in expected.rows
        ]
        if expected.partial:
            same, how = not Counter(wanted) - Counter(rows), " among others"
        elif expected.ordered:
            same, how = rows == wanted, " in this order"
        else:
            same, how = Counter(rows) == Counter(wanted), ""
        if not same:
            raise Violation(
                SPARK_ROWS,
                f"{self._shown(wanted)}{how}",
                self._shown(rows),
                detail=self._where,
            )

    def _save(self, outcome: Save, rows: list[Row]) -> None:
        if len(rows) != 1 or None in rows[0]:
            raise Violation(SPARK_ROWS, "one row", self._shown(rows), detail=self._where)
        if len(rows[0]) != len(outcome.names):
            raise ValueError(f"{self._where}: {len(rows[0])} cells for {outcome.names}")
        self._names.update(zip(outcome.names, (cell or "" for cell in rows[0]), strict=True))

    def _filled(self, text: str) -> str:
        return re.sub(
            r"\{([a-z][a-z0-9_]*)\}", lambda found: self._names.get(found[1], found[0]), text
        )

    def _shown(self, rows: Sequence[Row]) -> str:
        """Return rows for a report, without the run's own names."""
        if not rows:
            return "no rows"
        lines = [" | ".join("NULL" if cell is None else cell for cell in row) for row in rows]
        text = "; ".join(lines[:ROWS_SHOWN])
        for placeholder in (*_WHOLE.values(), "namespace", "namespace2", *_WHOLE):
            if placeholder in self._names:
                text = text.replace(self._names[placeholder], f"{{{placeholder}}}")
        more = len(rows) - ROWS_SHOWN
        count = f"{len(rows)} row{'s' if len(rows) > 1 else ''}"
        return f"{count}: {text}" + (f"; and {more} more" if more > 0 else "")


def _names(script: Script, catalog: Catalog) -> dict[str, str]:
    """Return names for a script's placeholders; record the objects that it may create."""
    namespace = given_namespace(catalog)
    names = {"namespace": qualified(namespace), "parent": qualified(namespace[:-1])}
    for placeholder in ("name", "name2"):
        names[placeholder] = _entered(script, catalog, namespace, placeholder)
    another = catalog.new_namespace_name()
    names["namespace2"] = qualified(another)
    if script.uses("namespace2"):
        catalog.ledger_namespace(another)
    for placeholder in ("view_name", "view_name2"):
        names[placeholder] = _entered(script, catalog, namespace, placeholder)
    return names


def _entered(script: Script, catalog: Catalog, namespace: Namespace, placeholder: str) -> str:
    """Return a name for a table or view; record it if the script uses it."""
    name = catalog.new_name()
    if script.uses(placeholder, _WHOLE[placeholder]):
        enter = catalog.ledger_view if placeholder.startswith("view") else catalog.ledger_table
        enter(namespace, name)
    return quoted_name(name)
