"""Checks that run the scripts in the scripts folder."""

from collections.abc import Callable
from pathlib import Path

from icecheck.client.catalog import Catalog
from icecheck.judging.check import check
from icecheck.spark_tests.running import run_script
from icecheck.spark_tests.script import Script, read_scripts
from icecheck.witnesses.spark_statements import SparkSource

SCRIPTS = Path(__file__).parent / "scripts"


def _check_of(script: Script) -> Callable[[Catalog, SparkSource], None]:
    def run(catalog: Catalog, spark: SparkSource) -> None:
        run_script(script, catalog, spark)

    run.__name__ = run.__qualname__ = f"test_{script.slug}"
    run.__doc__ = script.title
    declare = check(script.check, proves=script.proves, title=script.title, needs=script.needs)
    return declare(run)


for _script in read_scripts(SCRIPTS):
    globals()[f"test_{_script.slug}"] = _check_of(_script)
