"""Statements of Spark on the catalog under test, and what their failures mean for a check."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered, Violation
from icecheck.wire.unreachable import Unreachable
from icecheck.witnesses.spark_failures import Failure, read_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STATEMENT_FAILS = declare(
    "spark-statement-fails",
    "A statement of Spark fails",
    Severity.REFUSED,
    "Spark: the statement fails",
)

Row = tuple[str | None, ...]


class SparkSource(Protocol):
    """Gives a check its own Spark session, as ``icecheck.spark.SparkWorkbench`` does."""

    def session(self, catalog: Catalog) -> "tuple[SparkSession, str]":
        """Return a new session for the catalog under test, and the catalog's name in it."""
        ...


def spark_session(catalog: Catalog, spark: SparkSource) -> "tuple[SparkSession, str]":
    """Return a new session for the catalog under test, and the catalog's name in it.

    Raises NotOffered if Spark would send the run's secrets to a token endpoint that the user did
    not choose: in Java's client the overrides of a config take precedence over every setting.
    """
    target = catalog.target
    if target.credential or target.token:
        server = catalog.session.offer.overrides.get("oauth2-server-uri")
        if isinstance(server, str) and server not in {"", target.token_endpoint}:
            raise NotOffered(
                f"the config makes Java's client ask {server} for tokens, and the run asks "
                f"{target.token_endpoint}: Spark is not given the credentials",
                SkipKind.SAFETY_LEVEL,
            )
    return spark.session(catalog)


def fetch_rows(frame: "DataFrame") -> list[Row]:
    """Return the rows of a frame as text, cast by Spark, in the frame's order."""
    if not frame.columns:
        return []
    from pyspark.sql.functions import col

    columns = [f"c{number}" for number in range(len(frame.columns))]
    text = frame.toDF(*columns).select(*(col(name).cast("string") for name in columns))
    return [tuple(row) for row in text.collect()]


@contextlib.contextmanager
def judged_by_spark(what: str, names: Mapping[str, str]) -> Iterator[None]:
    """Raise the outcome that an error of Spark means for the check; ``what`` names the step.

    ``names`` are the run's own, placeholder -> text; they are removed from the finding.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        failure = read_failure(error, names)
        if failure is None:
            raise
        raise failure_outcome(failure, what) from error


def qualified(namespace: Sequence[str]) -> str:
    """Return a namespace in SQL, with levels quoted only if they need it."""
    return ".".join(quoted_name(level) for level in namespace)


def failure_outcome(
    failure: Failure, where: str, optional: str = ""
) -> Violation | NotOffered | Unreachable:
    """Return the outcome that a failed statement means for its check.

    ``where`` names script, line and statement; ``optional`` is what a catalog may refuse, or empty.
    """
    match failure.kind:
        case "no-answer":
            return Unreachable(f"Spark got no answer from the catalog: {failure.words}")
        case "not-claimed":
            return NotOffered(failure.words, SkipKind.NOT_DECLARED)
        case "no-object-store":
            return NotOffered(
                "the catalog keeps tables where this Spark has no client to reach: name the "
                "runtime and the store's bundle in ICECHECK_ICEBERG_PACKAGES",
                SkipKind.HARNESS_GAP,
            )
        case _ if optional and failure.refused:
            return NotOffered(f"{optional}: {failure.words}", SkipKind.NOT_APPLICABLE)
        case _:
            return Violation(
                _STATEMENT_FAILS, "the statement succeeds", failure.words, detail=where
            )


def quoted_name(name: str) -> str:
    """Return a name in SQL, quoted only if it needs it."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    return name if plain else "`" + name.replace("`", "``") + "`"
