"""Every workflow of every client that was recorded, as a check."""

from collections.abc import Callable

from icecheck.check import check
from icecheck.client import Catalog
from icecheck.scenarios.dialect import Dialect, Workflow, dialects
from icecheck.scenarios.speaking import speak

_NEEDS = {("duckdb", "tables"): ("stage-create",), ("duckdb", "transactions"): ("stage-create",)}


def _check_of(dialect: Dialect, workflow: Workflow) -> Callable[[Catalog], None]:
    def replay(catalog: Catalog) -> None:
        speak(catalog, dialect, workflow)

    id_ = f"dialect.{dialect.slug}.{workflow.name}"
    replay.__name__ = replay.__qualname__ = f"test_{dialect.slug}_{workflow.name}"
    replay.__doc__ = title = f"{dialect.client} {dialect.version}: {workflow.does}"
    needs = _NEEDS.get((dialect.slug, workflow.name), ())
    return check(id_, proves=id_, title=title, needs=needs)(replay)


for _dialect in dialects().values():
    for _workflow in _dialect.workflows:
        globals()[f"test_{_dialect.slug}_{_workflow.name}"] = _check_of(_dialect, _workflow)
