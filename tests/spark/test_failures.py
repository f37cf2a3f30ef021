"""What errors of Spark are taken for, with pretended Java exceptions."""

import pytest

from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered, Violation
from icecheck.wire.unreachable import Unreachable
from icecheck.witnesses.spark_failures import read_failure
from icecheck.witnesses.spark_statements import failure_outcome


class FakeThrowable:
    """A Java exception as py4j shows it."""

    def __init__(self, name: str, message: str | None, cause: "FakeThrowable | None" = None):
        self.name, self.message, self.cause = name, message, cause

    def getClass(self) -> "FakeThrowable":  # noqa: N802 - Java's name
        return self

    def getSimpleName(self) -> str:  # noqa: N802 - Java's name
        return self.name

    def getMessage(self) -> str | None:  # noqa: N802 - Java's name
        return self.message

    def getCause(self) -> "FakeThrowable | None":  # noqa: N802 - Java's name
        return self.cause


class JavaError(Exception):
    """As py4j raises it."""

    def __init__(self, throwable: FakeThrowable) -> None:
        super().__init__("x")
        self.java_exception = throwable


class AnalysisException(Exception):
    """As PySpark raises what it knows."""

    def __init__(self, throwable: FakeThrowable) -> None:
        super().__init__("x")
        self._origin = throwable


def java(*chain: tuple[str, str | None]) -> FakeThrowable:
    """Make a chain of causes, outermost first."""
    made: FakeThrowable | None = None
    for name, message in reversed(chain):
        made = FakeThrowable(name, message, made)
    assert made is not None
    return made


NAMES = {"table": "cat.ns.t1", "namespace": "ns", "name": "t1"}


def test_the_catalogs_answer_is_what_is_told_without_the_runs_names() -> None:
    error = JavaError(
        java(
            ("SparkException", "Job aborted"),
            ("BadRequestException", "Malformed request: cat.ns.t1\nat a.b.c"),
        )
    )
    failure = read_failure(error, NAMES)
    assert failure is not None
    assert failure.kind == "finding"
    assert failure.words == "BadRequestException: Malformed request: {table}"


def test_numbers_and_uuids_that_differ_in_each_run_are_taken_out() -> None:
    text = "snapshot 6171398312345678901 of 0f8fad5b-d9cb-469f-a165-70867728950e, 3 rows"
    failure = read_failure(JavaError(java(("ValidationException", text))), NAMES)
    assert failure is not None
    assert failure.words == "ValidationException: snapshot {number} of {uuid}, 3 rows"


def test_ids_of_requests_to_an_object_store_are_taken_out() -> None:
    said = (
        "Access denied. (Service: S3, Status Code: 403, Request ID: 18EA4B1DD0E16D52B600D20C, "
        "Extended Request ID: a/B+c==) (SDK Attempt Count: 1)"
    )
    failure = read_failure(JavaError(java(("S3Exception", said))), NAMES)
    assert failure is not None
    assert failure.words == (
        "S3Exception: Access denied. (Service: S3, Status Code: 403, Request ID: {id}, "
        "Extended Request ID: {id}) (SDK Attempt Count: 1)"
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('{\n "url": "/v1/ns/t1",\n "message": "Ambiguous URI"\n}', "Ambiguous URI"),
        ('{"error": {"message": "no such\\nthing", "code": 400}}', "no such"),
        ('{"status": 400}', '{"status": 400}'),
        ('{\n "message": 4\n}', "{"),
        ("{t1} is no JSON", "{{name}} is no JSON"),
    ],
)
def test_of_an_answer_that_the_client_could_not_read_the_message_is_told(
    said: str, words: str
) -> None:
    error = JavaError(java(("BadRequestException", f"Malformed request: {said}")))
    failure = read_failure(error, NAMES)
    assert failure is not None
    assert failure.words == f"BadRequestException: Malformed request: {words}"


def test_an_error_is_known_by_pysparks_class_and_by_every_java_class() -> None:
    error = AnalysisException(java(("TableAlreadyExistsException", "t1"), ("Cause", None)))
    failure = read_failure(error, NAMES)
    assert failure is not None
    for name in ("AnalysisException", "TableAlreadyExistsException", "Cause"):
        assert failure.is_a(name)
    assert not failure.is_a("Exception")


@pytest.mark.parametrize(
    ("chain", "outcome", "kind"),
    [
        (
            [("UnsupportedOperationException", "Server does not support endpoint: POST /v1/x")],
            NotOffered,
            SkipKind.NOT_DECLARED,
        ),
        (
            [
                ("SparkException", "x"),
                ("IOException", "Failed to get file system for path: s3://b"),
            ],
            NotOffered,
            SkipKind.HARNESS_GAP,
        ),
        (
            [
                ("NoClassDefFoundError", "x: software/amazon"),
                ("ClassNotFoundException", "software.amazon.awssdk.X"),
            ],
            NotOffered,
            SkipKind.HARNESS_GAP,
        ),
        ([("RESTException", "x"), ("HttpHostConnectException", "refused")], Unreachable, None),
        ([("ServiceUnavailableException", "Service unavailable")], Unreachable, None),
        ([("SSLHandshakeException", "no path")], Unreachable, None),
        ([("CommitStateUnknownException", "500")], Violation, None),
        ([("CommitFailedException", "409")], Violation, None),
    ],
)
def test_a_failed_statement_is_judged_by_its_reason(
    chain: list[tuple[str, str]], outcome: type[Exception], kind: SkipKind | None
) -> None:
    failure = read_failure(JavaError(java(*chain)), NAMES)
    assert failure is not None
    found = failure_outcome(failure, "merge.sql:3: MERGE")
    assert type(found) is outcome
    assert getattr(found, "kind", None) == kind


def test_a_finding_names_script_line_and_statement() -> None:
    failure = read_failure(JavaError(java(("CommitFailedException", "409"))), NAMES)
    assert failure is not None
    found = failure_outcome(failure, "merge.sql:3: MERGE")
    assert isinstance(found, Violation)
    assert found.finding.detail == "merge.sql:3: MERGE"
    assert found.finding.expected == "the statement succeeds"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("BadRequestException", NotOffered), ("ServiceFailureException", Violation)],
)
def test_what_a_catalog_may_refuse_it_must_refuse_and_not_break_over(
    name: str, outcome: type[Exception]
) -> None:
    failure = read_failure(JavaError(java((name, "no"))), NAMES)
    assert failure is not None
    found = failure_outcome(failure, "x", "the catalog keeps no branches")
    assert type(found) is outcome
    if isinstance(found, NotOffered):
        assert found.kind is SkipKind.NOT_APPLICABLE
        assert "the catalog keeps no branches" in found.reason


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError("the JVM is gone"),
        JavaError(java(("OutOfMemoryError", "Java heap space"))),
        JavaError(java(("SparkException", "x"), ("NoClassDefFoundError", "org/apache/x"))),
    ],
)
def test_trouble_of_the_jvm_says_nothing_about_the_catalog(error: Exception) -> None:
    assert read_failure(error, NAMES) is None
