"""The libraries of each extra of the installation; imports nothing else."""

from collections.abc import Iterable
from importlib.util import find_spec

SUITE = ("hypothesis", "jinja2", "jsonschema", "schemathesis", "tomlkit", "zstandard")
CLIENTS = ("pyarrow", "pyiceberg")
SPARK = ("faker", "pandas", "pyarrow", "pyspark")


def how_to_install(modules: Iterable[str], extra: str) -> str:
    """Return how to install those of the modules that are missing; "" if none is."""
    missing = [name for name in modules if find_spec(name) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)} not installed: run pip install 'icecheck[{extra}]'"
