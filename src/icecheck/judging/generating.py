"""Runs Hypothesis generators quietly, with their cached data in the user's cache directory."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

# Hypothesis' storage and the filters of warnings belong to the whole process.
_ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def generating() -> Iterator[None]:
    """Let Hypothesis generate without a ``.hypothesis`` folder in the working directory.

    It caches tables of Unicode that cost seconds to make (in XDG_CACHE_HOME or ``~/.cache``); where
    that cannot be written it makes them again. Its warnings are hidden: they do not concern the
    user of a suite.
    """
    from hypothesis import configuration

    with _ONE_AT_A_TIME, warnings.catch_warnings():
        before = vars(configuration).get("__hypothesis_home_directory")
        warnings.simplefilter("ignore")
        configuration.set_hypothesis_home_dir(_cache_directory() / "hypothesis")
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


def _cache_directory() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named else Path.home() / ".cache") / "icecheck"
