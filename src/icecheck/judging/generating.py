"""Runs Hypothesis generators quietly, with their cached data in the user's cache directory."""

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


def drawing(seed: int, examples_max: int) -> Callable[[Any], Any]:
    """Return a decorator for what ``given`` has made: it only draws, by the seed alone.

    Nothing is shrunk, remembered or told.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis import seed as seeded

    quiet = settings(
        max_examples=examples_max,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    return lambda given: seeded(seed)(quiet(given))


def _cache_directory() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named else Path.home() / ".cache") / "icecheck"
