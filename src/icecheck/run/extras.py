"""The libraries of each extra of the installation; imports nothing else unless one is missing."""

from collections.abc import Iterable
from importlib.util import find_spec

SUITE = ("hypothesis", "jinja2", "jsonschema", "schemathesis", "tomlkit", "zstandard")
CLIENTS = ("pyarrow", "pyiceberg")
SPARK = ("faker", "pandas", "pyarrow", "pyspark")


def how_to_install(modules: Iterable[str], extra: str, again: str = "icecheck …") -> str:
    """Return how to install those of the modules that are missing; "" if none is.

    ``again`` is the command that needs them.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if not missing:
        return ""
    from icecheck.installing import install_command

    return f"{', '.join(missing)} not installed: run {install_command(extra, again)}"
