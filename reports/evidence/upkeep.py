"""Keeps the tables in shape: joins small files, and lets go of what no reader needs any more."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from icecheck.reports.evidence.declared_tables import TABLES
from icecheck.reports.evidence.gold import GOLD
from icecheck.reports.evidence.store import Store, attempts

SMALL_BYTES = 32 << 20
SMALL_FILES_MAX = 10
"""With more files that are smaller than `SMALL_BYTES` in one partition, a table is compacted."""
SNAPSHOTS_MAX = 40
KEPT_DAYS = 7
"""How long a snapshot can be read after it was replaced."""


def keep_up(store: Store, tell: Callable[[str], object] = lambda _: None) -> tuple[str, ...]:
    """Do for each table what it needs; return what was done, in words."""
    done = []
    by_day = {table.name for table in TABLES if table.by_day}
    for name in (*(table.name for table in TABLES), *(table.name for table in GOLD)):
        if not store.has(name):
            continue
        if _small_files(store, name, by_day=name in by_day) > SMALL_FILES_MAX:
            tell(f"{name}: joins small files")
            _call(store, name, "rewrite_data_files", "options => map('min-input-files', '5')")
            done.append(f"{name} compacted")
        if store.spark.table(f"{store.name(name)}.snapshots").count() > SNAPSHOTS_MAX:
            tell(f"{name}: lets go of old snapshots")
            before = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
            moment = before.replace(tzinfo=None).isoformat(" ", "seconds")
            _call(store, name, "expire_snapshots", f"older_than => TIMESTAMP '{moment}'")
            done.append(f"{name}: snapshots before {moment} expired")
    return tuple(done)


def _small_files(store: Store, name: str, *, by_day: bool) -> int:
    """Return the highest number of small files in a partition."""
    group = "GROUP BY partition" if by_day else ""
    query = f"""
        SELECT max(many) FROM (
          SELECT count(*) AS many FROM {store.name(name)}.files
          WHERE file_size_in_bytes < {SMALL_BYTES} {group}
        )
    """
    return int(store.spark.sql(query).collect()[0][0] or 0)


def _call(store: Store, name: str, procedure: str, arguments: str) -> None:
    level, _, own = name.partition(".")
    table = f"`{store.namespace(level)}`.`{own}`"
    for attempt in attempts():
        with attempt:
            store.spark.sql(
                f"CALL `{store.catalog}`.system.{procedure}(table => '{table}', {arguments})"
            )
