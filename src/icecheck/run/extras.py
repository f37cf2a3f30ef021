"""Which libraries belong to which extra of the installation; nothing else is imported."""

from collections.abc import Iterable
from importlib.util import find_spec

__all__ = ["SPARK", "SUITE", "how_to_install"]

SUITE = ("hypothesis", "jinja2", "jsonschema", "schemathesis", "tomlkit", "zstandard")
SPARK = ("faker", "pandas", "pyarrow", "pyspark")


def how_to_install(modules: Iterable[str], extra: str) -> str:
    """Say which of the modules are not installed and how to get them; nothing if all are."""
    missing = [name for name in modules if find_spec(name) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)} not installed: run pip install 'icecheck[{extra}]'"
