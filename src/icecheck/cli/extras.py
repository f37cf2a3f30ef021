"""Which extra a command needs: said in one line, before anything else happens."""

from importlib.util import find_spec

from icecheck.cli.ending import fail

__all__ = ["SUITE", "require_spark", "require_suite"]

_USAGE = 2
SUITE = ("hypothesis", "jinja2", "jsonschema", "schemathesis", "tomlkit", "zstandard")
_SPARK = ("faker", "pandas", "pyarrow", "pyspark")


def require_suite() -> None:
    """Exit with a line that names the extra unless the suite's libraries are installed."""
    _require(SUITE, "suite")


def require_spark() -> None:
    """Exit with a line that names the extra unless the libraries of the Spark checks are there."""
    _require(_SPARK, "spark")


def _require(modules: tuple[str, ...], extra: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        fail(f"{', '.join(missing)} not installed: run pip install 'icecheck[{extra}]'", _USAGE)
