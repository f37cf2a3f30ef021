"""``python -m tests.reference [--spark|--own] [--record] [NAME …]``: verify or record catalogs.

A catalog whose packages cannot be fetched is skipped with the reason. Exit code 1: a catalog did
not start, something failed that its expectations.toml does not explain, a check that passed in the
recorded run no longer does, or the bundle of the run gives another verdict.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icecheck.bundles.bundle import Product
from icecheck.bundles.packing import open_bundle, pack
from icecheck.bundles.verification import verified
from icecheck.findings.comparison import compare
from icecheck.findings.expectations import entry_for
from icecheck.findings.expected_failures import ExpectationKind
from icecheck.reports.compared import as_text
from tests.reference import pages, recording, unwitnessed, witnessing
from tests.reference.catalogs import CATALOGS, ReferenceCatalog
from tests.reference.packages import Unavailable
from tests.reference.starting import NotReady, running

RUN_TIMEOUT_SECONDS = 1200.0
RUN_ID = "reference"
_RESIDUE_LEFT = 6
"""The exit code of a run that would be well, and has left something on the catalog."""


def main() -> int:
    """Verify or record the catalogs one after the other; two would disturb each other."""
    names = [catalog.name for catalog in CATALOGS]
    parser = argparse.ArgumentParser(prog="python -m tests.reference")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--spark", action="store_true", help="run the Spark checks instead")
    parser.add_argument("--own", action="store_true", help="judge by their own releases alone")
    parser.add_argument("--record", action="store_true", help="write what the runs find")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where whole reports are kept")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no catalog {', '.join(sorted(unknown))}")
    files = [recording.SPARK_RUN] if options.spark else [recording.RUN, recording.OWN_RUN]
    chosen = [c for c in CATALOGS if not options.names or c.name in options.names]
    holds = [
        _holds(catalog, file, options.keep, record=options.record)
        for catalog in chosen
        for file in (files[1:] if options.own else files)
        if catalog.own_release or file != recording.OWN_RUN
    ]
    return 0 if all(holds) else 1


def _holds(catalog: ReferenceCatalog, file: str, keep: Path | None, *, record: bool) -> bool:
    with tempfile.TemporaryDirectory(prefix="icecheck-reference-") as directory:
        data = Path(directory) / "data"
        data.mkdir()
        report = (Path(directory) if keep is None else keep) / catalog.name / Path(file).stem
        try:
            starting = catalog.start(data)
            spark = starting.for_spark() if file == recording.SPARK_RUN else None
            with running(starting) as url:
                code = _verify(catalog, url, report, file, spark)
        except Unavailable as why:
            _say(catalog, f"skipped: {why}")
            return True
        except NotReady as why:
            _say(catalog, f"did not start: {why}")
            return False
        if not (report / "run.json").is_file():
            _say(catalog, f"the suite came to no report (exit {code})")
            return False
        document = json.loads((report / "run.json").read_text(encoding="utf-8"))
        _say(catalog, _counts(document))
        derived = _derived_again(catalog, report)
        if record:
            _record(catalog.name, document, file)
            return derived
        fine = {0, _RESIDUE_LEFT} if "--accept-residue" in catalog.options else {0}
        return code in fine and _compared(catalog, document, file) and derived


def _derived_again(catalog: ReferenceCatalog, report: Path) -> bool:
    """Return whether a bundle of the run gives every verdict again, without the catalog."""
    bundle = report / "bundle.zip"
    pack(report, bundle, Product(product=catalog.implementation))
    shown = verified(open_bundle(bundle))
    for each in shown.differences:
        _say(catalog, f"not derived again: {each.line}")
    read = sum(map(len, shown.only_read.values()))
    _say(
        catalog,
        f"{shown.replayed} verdicts derived again by their checks, {shown.passive} by both judges, "
        f"{read} read only; {shown.compared} bodies, {shown.disagreements} judged differently",
    )
    return not shown.differences and not shown.disagreements


def _record(name: str, document: dict[str, Any], file: str) -> None:
    """Write a record, and the files that are generated from the records."""
    recording.write(name, document, file)
    pages.write(name)
    witnessing.FILE.write_text(witnessing.text_of(witnessing.records()), encoding="utf-8")
    told = unwitnessed.reasons(unwitnessed.read_records())
    unwitnessed.FILE.write_text(unwitnessed.text_of(told), encoding="utf-8")


def _verify(
    catalog: ReferenceCatalog,
    url: str,
    report: Path,
    file: str,
    spark: Mapping[str, str] | None,
) -> int:
    """Run the suite, or in the environment ``spark`` nothing but its Spark checks."""
    command = [
        sys.executable, "-m", "icecheck", "run", url, *catalog.options, "--run-id", RUN_ID,
        "--implementation", catalog.implementation, "--output", str(report), "--quiet",
        "--expectations", str(recording.expectations_of(catalog.name, file)),
        *(("--spec", catalog.own_release) if file == recording.OWN_RUN else ()),
        *(() if spark is None else ("--only", "spark")),
    ]  # fmt: skip
    environment = {**os.environ, **(spark or {})}
    done = subprocess.run(command, timeout=RUN_TIMEOUT_SECONDS, env=environment, check=False)
    return done.returncode


def _compared(catalog: ReferenceCatalog, document: dict[str, Any], file: str) -> bool:
    """Print the changes since the record; checks known to be flaky may go either way.

    A race may find by chance what another check is known to find.
    """
    comparison = compare(recording.read(catalog.name, file), document)
    entries = recording.entries(catalog.name, file)
    flaky = {e for e in entries if e.kind is ExpectationKind.FLAKY}
    sys.stdout.write(as_text(comparison))
    excused = {row["id"] for row in document["checks"] if row["expectation"]}
    return all(
        entry_for(lost.check, None, entries) in flaky
        or (lost.check.startswith("race.") and lost.check in excused)
        for lost in comparison.lost
    )


def _counts(document: dict[str, Any]) -> str:
    totals, safety = document["totals"], document["safety"]
    return (
        f"{document['verdict']['status']}: {totals['pass']} passed, {totals['fail']} failed, "
        f"{totals['blocked']} blocked, {totals['skip']} skipped; {len(document['causes'])} causes; "
        f"{len(safety['residue'])} objects left behind"
    )


def _say(catalog: ReferenceCatalog, words: str) -> None:
    sys.stdout.write(f"{catalog.name}: {words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
