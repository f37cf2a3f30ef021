"""Records a client again: ``python -m tests.dialects --record pyiceberg`` (docs/clients.md).

``--compare`` records the requests alone, and shows in what they differ from those stored.
"""

import argparse
import datetime as dt
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dialects.comparing import differences
from tests.dialects.measuring import Needs, needs_of
from tests.dialects.normalising import recording as written
from tests.dialects.normalising import text_of
from tests.dialects.programs import spark_client
from tests.dialects.recorder import SPEC, WAREHOUSE, Alter, Heard, recording

ROOT = Path(__file__).parents[2]
PYICEBERG = [sys.executable, str(Path(__file__).parent / "programs" / "pyiceberg_client.py")]
SECONDS_MAX = 40
TABLES = "makes, loads, fills, changes, lists, renames and drops a table"
VIEWS = "makes, loads and drops a view"
TRANSACTIONS = "makes two tables and commits to both at once"
CLIENTS: dict[str, dict[str, Any]] = {
    "pyiceberg": {
        "client": "PyIceberg",
        "version": "0.12.0",
        "workflows": {"tables": TABLES, "views": VIEWS},
    },
    "spark": {
        "client": "Spark",
        "version": "3.5.9 with Iceberg 1.11.0 (Java)",
        "workflows": {"tables": TABLES, "views": VIEWS},
    },
    "duckdb": {
        "client": "DuckDB",
        "version": "1.5.5",
        "workflows": {"tables": TABLES, "transactions": TRANSACTIONS},
    },
    "go": {
        "client": "iceberg-go",
        "version": "0.7.0",
        "workflows": {"tables": TABLES, "views": VIEWS, "transactions": TRANSACTIONS},
    },
    "rust": {
        "client": "iceberg-rust",
        "version": "0.10.1",
        "workflows": {"tables": TABLES},
    },
}


NOTHING = Needs({}, frozenset(), (), {})


class Player:
    """Plays a client's program against a fresh mock, as often as it takes."""

    def __init__(
        self, slug: str, command: list[str], workbench: Any = None, spec: str = SPEC
    ) -> None:
        self.slug = slug
        self.command = PYICEBERG if slug == "pyiceberg" else command
        self.workbench = workbench
        self.spec = spec
        self.said = ""

    def play(self, alter: Alter | None = None) -> tuple[bool, list[Heard]]:
        """Return whether the program went through, and what was heard of it."""
        with recording(alter, self.spec) as (url, recorder):
            went_through = self._as_process(url) if self.command else self._in_spark(url)
        return went_through, recorder.heard

    def _as_process(self, url: str) -> bool:
        try:
            done = subprocess.run(
                [*self.command, url, WAREHOUSE],
                capture_output=True,
                text=True,
                timeout=SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        self.said = done.stdout + done.stderr
        return done.returncode == 0

    def _in_spark(self, url: str) -> bool:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        settings = {"type": "rest", "uri": url, "warehouse": WAREHOUSE}
        try:
            session = self.workbench.catalog_session("recorded", settings)
            spark_client.play(session, "recorded", url)
        except (AssertionError, OSError, Py4JError, PySparkException) as error:
            self.said = str(error)
            return False
        return True


@contextmanager
def player_of(options: argparse.Namespace) -> Iterator[Player]:
    """Open what plays a client; Spark runs in this process, once for all attempts."""
    command = shlex.split(options.command)
    if options.client != "spark":
        yield Player(options.client, command, spec=options.spec)
        return
    from icecheck.spark import SparkWorkbench

    with SparkWorkbench.start(packages=options.packages) as workbench:
        yield Player(options.client, command, workbench, options.spec)


def record(options: argparse.Namespace) -> dict[str, Any]:
    """Return a client's recording, with what it needs of the answers unless it is compared."""
    slug = options.client
    about = CLIENTS[slug]
    with player_of(options) as player:
        went_through, heard = player.play()
        if not went_through:
            raise SystemExit(f"{slug} did not go through:\n{player.said}")
        needs = NOTHING
        if not options.compare:
            needs = needs_of(heard, lambda alter: player.play(alter)[0])
    agent = heard[1].headers.get("user-agent", "")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    client = {"client": about["client"], "version": about["version"], "user-agent": agent}
    client |= {"recorded": today, "program": f"tests/dialects/programs, {slug}"}
    return written(client, heard, about["workflows"], needs)


def main() -> None:
    """Record one client into its file, or compare it with what its file holds."""
    options = _options()
    path = ROOT / "scenarios" / "dialects" / f"{options.client}.json"
    recorded = record(options)
    if options.compare:
        lines = differences(json.loads(path.read_text("utf-8")), recorded)
        print("\n".join(lines) or "the same requests")
        sys.exit(1 if lines else 0)
    path.write_text(text_of(recorded), encoding="utf-8")
    print(path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.dialects")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--record", choices=CLIENTS, metavar="CLIENT")
    wanted.add_argument("--compare", choices=CLIENTS, metavar="CLIENT")
    parser.add_argument(
        "--command", default="", help="the program, to which URL and WAREHOUSE are appended"
    )
    parser.add_argument("--packages", help="Maven coordinates of Iceberg's runtime, for Spark")
    parser.add_argument("--spec", default=SPEC, help="the document by which the mock serves")
    options = parser.parse_args()
    options.client = options.record or options.compare
    if not options.command and options.client not in {"pyiceberg", "spark"}:
        parser.error("give the program with --command (docs/clients.md says how it is built)")
    return options


if __name__ == "__main__":
    main()
