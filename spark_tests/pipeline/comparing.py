"""Compares rows that Spark read with those that pandas computed, in parts that fit in memory."""

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS_COLLECTED = 5_000
_ROWS_AT_ONCE = 4_000_000
_BUCKET = "icecheck_bucket"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first row in which a table differs from what was computed, in words."""

    where: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, got {self.actual}"


class Comparison:
    """Compares tables over files in a directory that Spark's executors can write.

    Tables have whole numbers and text only.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def difference(
        self, what: str, found: "DataFrame", wanted: Any, keys: Sequence[str]
    ) -> Difference | None:
        """Return the first difference of a Spark frame from an Arrow table or pandas frame.

        ``keys`` are the columns to sort by: rows that have all of them in common are equal. The
        first key of a large table is a whole number.
        """
        import pyarrow as pa

        if not isinstance(wanted, pa.Table):
            wanted = pa.Table.from_pandas(wanted, preserve_index=False)
        columns = wanted.column_names
        schema = _schema_of(found, columns)
        wanted = wanted.cast(schema)
        if len(wanted) <= _ROWS_COLLECTED:
            got = _collected(found.select(*columns), schema)
            return _first_difference(what, wanted, got, keys)
        buckets = max(1, math.ceil(len(wanted) / _ROWS_AT_ONCE))
        directory = self._directory / "compared"
        shutil.rmtree(directory, ignore_errors=True)
        try:
            self._write(found.select(*columns), directory, keys[0], buckets)
            for bucket in range(buckets):
                place = directory / f"{_BUCKET}={bucket}" if buckets > 1 else directory
                part = _of_bucket(wanted, keys[0], bucket, buckets)
                got = _read(place, schema)
                if (found_one := _first_difference(what, part, got, keys)) is not None:
                    return found_one
            return None
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    @staticmethod
    def _write(found: "DataFrame", directory: Path, key: str, buckets: int) -> None:
        from pyspark.sql import functions as f

        if buckets == 1:
            found.write.parquet(directory.as_uri(), compression="none")
            return
        bucket = f.expr(f"pmod({key}, {buckets})")
        found.withColumn(_BUCKET, bucket).write.partitionBy(_BUCKET).parquet(
            directory.as_uri(), compression="none"
        )


def _collected(found: "DataFrame", schema: Any) -> Any:
    """Return the few rows of a frame; one that has many more is read as far as it is short."""
    import pyarrow as pa

    rows = found.limit(2 * _ROWS_COLLECTED).collect()
    return pa.Table.from_pylist([row.asDict() for row in rows], schema)


def _read(place: Path, schema: Any) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = sorted(place.glob("*.parquet")) if place.is_dir() else []
    if not files:
        return schema.empty_table()
    return pa.concat_tables([pq.ParquetFile(each).read().cast(schema) for each in files])


def _schema_of(found: "DataFrame", columns: Sequence[str]) -> Any:
    """Return the Arrow schema of columns in Spark that hold whole numbers or text."""
    import pyarrow as pa

    kinds = dict(found.dtypes)
    return pa.schema(
        [pa.field(each, pa.string() if kinds[each] == "string" else pa.int64()) for each in columns]
    )


def _of_bucket(table: Any, key: str, bucket: int, buckets: int) -> Any:
    if buckets == 1:
        return table
    import numpy as np
    import pyarrow as pa

    return table.filter(pa.array(np.mod(table.column(key).to_numpy(), buckets) == bucket))


def _first_difference(what: str, wanted: Any, got: Any, keys: Sequence[str]) -> Difference | None:
    import pyarrow.compute as pc

    if len(wanted) != len(got):
        return Difference(
            what, f"{len(wanted)} rows", f"{len(got)} rows{_which(wanted, got, keys)}"
        )
    order = [*keys, *(each for each in wanted.column_names if each not in keys)]
    by = [(each, "ascending") for each in keys]
    places = [pc.sort_indices(each, sort_keys=by) for each in (wanted, got)]
    first = len(wanted)
    for name in order:
        # One column at a time, so that no whole table is there sorted.
        left, right = wanted.column(name).take(places[0]), got.column(name).take(places[1])
        if left.equals(right):
            continue
        equal = pc.fill_null(pc.equal(left, right), False)
        both_null = pc.and_(pc.is_null(left), pc.is_null(right))
        first = min(first, pc.index(pc.or_(equal, both_null), False).as_py())
    if first == len(wanted):
        return None
    expected, actual = (
        " | ".join(str(each.column(name)[place[first].as_py()].as_py()) for name in order)
        for each, place in zip((wanted, got), places, strict=True)
    )
    return Difference(what, f"{' | '.join(order)}: {expected}", actual)


def _which(wanted: Any, got: Any, keys: Sequence[str]) -> str:
    """Return the first key that only one of two tables has, in words."""
    one, other = (
        set(zip(*(each.column(key).to_pylist() for key in keys), strict=True))
        for each in (wanted, got)
    )
    missing, more = one - other, other - one
    if missing:
        return f"; missing is {min(missing)}"
    return f"; one more is {min(more)}" if more else "; some of them twice"
