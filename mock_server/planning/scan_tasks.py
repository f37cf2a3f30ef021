"""Writes file scan tasks in the protocol's form (schema `ScanTasks`, L3330-L3364)."""

from collections.abc import Sequence
from typing import Any

from icecheck.mock_server.planning.content_files import Bounds, ContentFile, Counts
from icecheck.mock_server.planning.filters.expressions import expression_json
from icecheck.mock_server.planning.filters.single_values import is_nan, json_value, value_of_bound
from icecheck.mock_server.planning.scan import FileScanTask, Scan

_COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")


def scan_tasks_json(
    tasks: Sequence[FileScanTask], plan_tasks: Sequence[str], scan: Scan
) -> dict[str, Any]:
    """Return the members of a `ScanTasks` object; empty lists are left out, except the files.

    Each delete file is listed once, if a task refers to it.
    """
    deletes: dict[tuple[str, int | None], int] = {}
    listed: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for task in tasks:
        references: list[int] = []
        for delete in task.delete_files:
            # Several deletion vectors may share one file.
            key = (delete.file_path, delete.content_offset)
            if key not in deletes:
                deletes[key] = len(listed)
                listed.append(_content_file_json(delete, scan))
            references.append(deletes[key])
        written.append(_task_json(task, references, scan))
    body: dict[str, Any] = {"file-scan-tasks": written}
    if listed:
        body["delete-files"] = listed
    if plan_tasks:
        body["plan-tasks"] = list(plan_tasks)
    return body


def _task_json(task: FileScanTask, references: list[int], scan: Scan) -> dict[str, Any]:
    data_file = _content_file_json(task.data_file, scan)
    data_file |= _statistics_json(task.data_file, scan)
    # The residual is always sent: Java fails without one, PyIceberg takes it to be true.
    written = {"data-file": data_file, "residual-filter": expression_json(task.residual)}
    if references:
        written["delete-file-references"] = references
    return written


def _content_file_json(file: ContentFile, scan: Scan) -> dict[str, Any]:
    columns = scan.specs[file.spec_id].columns
    written: dict[str, Any] = {
        "content": file.content,
        "file-path": file.file_path,
        "file-format": file.file_format,
        "spec-id": file.spec_id,
        "partition": [
            json_value(column.transform.result_type, value)
            for column, value in zip(columns, file.partition, strict=True)
        ],
        "file-size-in-bytes": file.file_size_in_bytes,
        "record-count": file.record_count,
    }
    optional: dict[str, Any] = {
        "key-metadata": json_value("binary", file.key_metadata),
        "split-offsets": file.split_offsets,
        "sort-order-id": file.sort_order_id,
    }
    match file.content:
        case "data":
            optional["first-row-id"] = file.first_row_id
        case "position-deletes":
            # These members are not in the document, which permits further ones; a deletion vector
            # cannot be read without them.
            optional["referenced-data-file"] = file.referenced_data_file
            optional["content-offset"] = file.content_offset
            optional["content-size-in-bytes"] = file.content_size_in_bytes
        case "equality-deletes":
            optional["equality-ids"] = file.equality_ids
    return written | {name: value for name, value in optional.items() if value is not None}


def _statistics_json(file: ContentFile, scan: Scan) -> dict[str, Any]:
    wanted = scan.statistics_ids
    if not wanted:
        return {}
    statistics: dict[str, dict[int, Any]] = {
        name.replace("_", "-"): _of_columns(getattr(file, name), scan) for name in _COUNTS
    }
    statistics["lower-bounds"] = _decoded(file.lower_bounds, scan)
    statistics["upper-bounds"] = _decoded(file.upper_bounds, scan)
    return {
        name: {"keys": list(values), "values": list(values.values())}
        for name, values in statistics.items()
        if values
    }


def _of_columns(counts: Counts | None, scan: Scan) -> Counts:
    if counts is None:
        return {}
    return {
        column_id: counts[column_id] for column_id in sorted(scan.statistics_ids & counts.keys())
    }


def _decoded(bounds: Bounds | None, scan: Scan) -> dict[int, Any]:
    decoded: dict[int, Any] = {}
    for column_id in sorted(scan.statistics_ids):
        data = None if bounds is None else bounds.get(column_id)
        if data is None:
            continue
        type_ = scan.columns[column_id].type
        value = value_of_bound(type_, data)
        if value is not None and not is_nan(value):
            decoded[column_id] = json_value(type_, value)
    return decoded
