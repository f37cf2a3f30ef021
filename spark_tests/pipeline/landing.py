"""Where events arrive as files, written by Spark's tasks or by this process alone."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icecheck.spark_tests.pipeline.events import write_part
from icecheck.spark_tests.pipeline.pools import Pools, make_pools
from icecheck.spark_tests.pipeline.scale import DAYS, Part, Scale

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Landing:
    """A directory of files of events; each is written once, and appears when it is whole.

    With ``tasks``, a session of Spark, its executors draw the events, and have to see the
    directory. The files are the same without it.
    """

    def __init__(self, directory: Path, scale: Scale, tasks: "SparkSession | None" = None) -> None:
        self.directory = directory
        self.scale = scale
        self._tasks = tasks
        self._pools = make_pools(scale.seed)

    def arrive_all(self) -> None:
        """Write the files of all days."""
        for day in DAYS:
            self.arrive(self.scale.parts(day))

    def arrive(self, parts: Sequence[Part]) -> None:
        """Write the files of these parts, as far as they are not there."""
        if self._tasks is None:
            for part in parts:
                write_part(self.directory, part, self.scale, self._pools)
            return
        write = partial(_write_all, tuple(parts), self.directory, self.scale, self._pools)
        numbers = self._tasks.range(0, len(parts), 1, len(parts))
        numbers.mapInPandas(write, "events BIGINT").collect()


def _write_all(
    parts: Sequence[Part], directory: Path, scale: Scale, pools: Pools, frames: Iterable[Any]
) -> Iterator[Any]:
    """Write the parts whose numbers are in the frames; yield how many events each has."""
    import pandas as pd

    for frame in frames:
        written = [write_part(directory, parts[n], scale, pools) for n in frame["id"]]
        yield pd.DataFrame({"events": written})
