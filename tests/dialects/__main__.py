"""Records a client again: ``python -m tests.dialects --record pyiceberg`` (docs/clients.md)."""

import argparse
import datetime as dt
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dialects.measuring import needs_of
from tests.dialects.normalising import recording as written
from tests.dialects.normalising import text_of
from tests.dialects.programs import spark_client
from tests.dialects.recorder import WAREHOUSE, Alter, Heard, recording

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
        "version": "3.5.9 with Iceberg 1.10.2 (Java)",
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


class Player:
    """Plays a client's program against a fresh mock, as often as it takes."""

    def __init__(self, slug: str, command: list[str], workbench: Any = None) -> None:
        self.slug = slug
        self.command = PYICEBERG if slug == "pyiceberg" else command
        self.workbench = workbench
        self.said = ""

    def play(self, alter: Alter | None = None) -> tuple[bool, list[Heard]]:
        """Return whether the program went through, and what was heard of it."""
        with recording(alter) as (url, recorder):
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
def player_of(slug: str, command: list[str]) -> Iterator[Player]:
    """Open what plays a client; Spark runs in this process, once for all attempts."""
    if slug != "spark":
        yield Player(slug, command)
        return
    from icecheck.spark import SparkWorkbench

    with SparkWorkbench.start() as workbench:
        yield Player(slug, command, workbench)


def record(slug: str, command: list[str]) -> dict[str, Any]:
    """Return a client's recording, with what it needs of the answers."""
    about = CLIENTS[slug]
    with player_of(slug, command) as player:
        went_through, heard = player.play()
        if not went_through:
            raise SystemExit(f"{slug} did not go through:\n{player.said}")
        needs = needs_of(heard, lambda alter: player.play(alter)[0])
    agent = heard[1].headers.get("user-agent", "")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    client = {"client": about["client"], "version": about["version"], "user-agent": agent}
    client |= {"recorded": today, "program": f"tests/dialects/programs, {slug}"}
    return written(client, heard, about["workflows"], needs)


def main() -> None:
    """Record one client into its file."""
    parser = argparse.ArgumentParser(prog="python -m tests.dialects")
    parser.add_argument("--record", choices=CLIENTS, required=True, metavar="CLIENT")
    parser.add_argument(
        "--command", default="", help="the program, to which URL and WAREHOUSE are appended"
    )
    options = parser.parse_args()
    command = shlex.split(options.command)
    if not command and options.record not in {"pyiceberg", "spark"}:
        raise SystemExit("give the program with --command (docs/clients.md says how it is built)")
    path = ROOT / "scenarios" / "dialects" / f"{options.record}.json"
    path.write_text(text_of(record(options.record, command)), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
