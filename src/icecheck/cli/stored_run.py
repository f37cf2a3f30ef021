"""Reads the run that a report in a directory, or in a bundle, describes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icecheck.findings.verdict import Run

_FILE = "run.json"


def stored_run(path: Path) -> dict[str, Any]:
    """Return the document of a run.json, or of the one in a report's directory or in a bundle.

    Raises UsageError in one line for anything else.
    """
    from icecheck.findings.comparison import read_run

    return read_run(_content(path), str(path))


@contextmanager
def understanding(*paths: Path) -> Iterator[None]:
    """Raise UsageError, which names the reports, where one lacks what is read in the block."""
    from icecheck.targets.target import UsageError

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError):
        names = ", ".join(map(str, paths))
        raise UsageError(f"{names}: a report is damaged: run the suite again") from None


def day_and_time(path: Path) -> str:
    """Return when the run of a report ended, without reading the rest of it.

    Raises UsageError as `stored_run` does.
    """
    import msgspec

    part = msgspec.defstruct("part", [("generated_at", str, "")])
    try:
        ended = msgspec.to_builtins(msgspec.json.decode(_content(path), type=part))
    except msgspec.DecodeError:
        ended = stored_run(path)
    return str(ended.get("generated_at"))


def restored_run(path: Path) -> "Run":
    """Return the run of a run.json, or of the one in a report's directory, to render it again.

    Raises UsageError in one line for anything else, and for a record that lacks a part of a report.
    """
    from icecheck.contract import SPEC_VERSIONS
    from icecheck.findings.comparison import read_run
    from icecheck.findings.symptoms import symptom_named
    from icecheck.reports.restored import restored
    from icecheck.reports.run_json import problems_of
    from icecheck.run.known_symptoms import known_symptoms
    from icecheck.targets.target import UsageError

    content = _content(path)
    document = read_run(content, str(path))
    problems = problems_of(content.decode("utf-8", "replace"))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UsageError(f"{path} is no whole report of a run: {problems[0]}{more}")
    judged_by = str(document["suite"]["requirement_set"]).rpartition("/")[2]
    if judged_by not in SPEC_VERSIONS:
        raise UsageError(
            f"{path} was judged by the document {judged_by}, which this icecheck does not know: "
            f"render it with icecheck {document['suite']['version']}, which wrote it"
        )
    known_symptoms()  # declares them all
    return restored(document, symptom_named)


def _content(path: Path) -> bytes:
    from zipfile import is_zipfile

    from icecheck.targets.target import UsageError

    try:
        if is_zipfile(path):
            return _content_of_bundle(path)
        return (path / _FILE if path.is_dir() else path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): name a run.json or its directory"
        ) from None


def _content_of_bundle(path: Path) -> bytes:
    from icecheck.bundles.bundle import RUN, BundleUnusable
    from icecheck.bundles.packing import open_bundle
    from icecheck.targets.target import UsageError

    try:
        return open_bundle(path).members[RUN]
    except BundleUnusable as wrong:
        raise UsageError(str(wrong)) from None
