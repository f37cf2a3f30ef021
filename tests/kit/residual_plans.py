"""The answer to a planned scan of one file, with what is left to evaluate on its rows."""


def plan_with(predicate: object, **members: str) -> dict[str, object]:
    """Return a completed plan whose file has this residual filter, and more members if given."""
    file = {
        "content": "data", "file-path": "f", "file-format": "parquet", "spec-id": 0,
        "partition": [], "file-size-in-bytes": 1, "record-count": 1,
    }  # fmt: skip
    tasks = [{"data-file": file, "residual-filter": predicate}]
    return {"status": "completed", **members, "file-scan-tasks": tasks}
