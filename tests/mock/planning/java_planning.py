"""Iceberg's own planning, in a JVM: what it finds for the same metadata and the same filter."""

import json
from collections.abc import Iterator
from typing import Any

from icecheck.spark import SparkWorkbench


class JavaPlanning:
    """Plans scans with the Java library. Classes are looked up once: each look-up is slow."""

    def __init__(self, workbench: SparkWorkbench) -> None:
        jvm = workbench._spark.sparkContext._jvm
        iceberg = jvm.org.apache.iceberg
        self._files = iceberg.hadoop.HadoopFileIO(jvm.org.apache.hadoop.conf.Configuration())
        self._table = iceberg.BaseTable
        self._operations = iceberg.StaticTableOperations
        self._expressions = iceberg.expressions.ExpressionParser
        self._tasks = iceberg.ScanTaskParser
        self._known: dict[str, Any] = {}

    def table(self, metadata_location: str) -> Any:
        if metadata_location not in self._known:
            operations = self._operations(metadata_location, self._files)
            self._known[metadata_location] = self._table(operations, "t")
        return self._known[metadata_location]

    def plan(
        self, metadata_location: str, filter_: Any = None, snapshot_id: int | None = None
    ) -> dict[str, Any]:
        """Tasks by path, in Java's JSON."""
        scan = self.table(metadata_location).newScan()
        if snapshot_id is not None:
            scan = scan.useSnapshot(snapshot_id)
        return self._planned(scan, filter_)

    def deletes(self, metadata_location: str) -> dict[str, list[str]]:
        """The delete files by data file; Java writes no JSON for deletes of another spec."""
        tasks = self.table(metadata_location).newScan().planFiles().iterator()
        found = {}
        while tasks.hasNext():
            task = tasks.next()
            paths = sorted(str(each.location()) for each in task.deletes())
            found[str(task.file().location())] = paths
        return found

    def appends(self, metadata_location: str, start: int, end: int) -> dict[str, Any]:
        scan = self.table(metadata_location).newIncrementalAppendScan()
        return self._planned(scan.fromSnapshotExclusive(start).toSnapshot(end), None)

    def _planned(self, scan: Any, filter_: Any) -> dict[str, Any]:
        if filter_ is not None:
            scan = scan.filter(self._expressions.fromJson(json.dumps(filter_)))
        tasks = [json.loads(text) for text in self._texts(scan.planFiles().iterator())]
        return {task["data-file"]["file-path"]: task for task in tasks}

    def _texts(self, tasks: Any) -> Iterator[str]:
        while tasks.hasNext():
            yield self._tasks.toJson(tasks.next())
