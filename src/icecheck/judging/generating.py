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
_BACKEND = "icecheck-without-constants"


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


def drawing(
    seed: int, examples_max: int, *, without_constants: bool = False
) -> Callable[[Any], Any]:
    """Return a decorator for what ``given`` has made: it only draws, by the seed alone.

    Nothing is shrunk, remembered or told. Hypothesis mixes constants of the modules that happen to
    be loaded into texts and large numbers; ``without_constants`` these are the same everywhere.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis import seed as seeded

    quiet = settings(
        backend=_backend_without_constants() if without_constants else "hypothesis",
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


def _backend_without_constants() -> str:
    """Return the name of a backend of Hypothesis that draws like its own, without constants."""
    from hypothesis.internal.conjecture import providers

    if _BACKEND not in providers.AVAILABLE_PROVIDERS:

        class WithoutConstants(providers.HypothesisProvider):
            def _maybe_draw_constant(self, *_asked: Any, **_further: Any) -> None:
                return None

        providers.AVAILABLE_PROVIDERS[_BACKEND] = WithoutConstants
    return _BACKEND


def _cache_directory() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named else Path.home() / ".cache") / "icecheck"
