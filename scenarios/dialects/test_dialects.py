"""Checks that replay every workflow of every recorded client."""

from collections.abc import Callable, Iterator
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.judging.check import check
from icecheck.scenarios.dialects.dialect import Dialect, Workflow, dialects
from icecheck.scenarios.dialects.speaking import speak


def _needs_of(workflow: Workflow) -> tuple[str, ...]:
    """Return the capabilities that the requests of a recording need.

    A client writes the files of its snapshots; they are not recorded. A catalog that reads them
    must therefore not be asked.
    """
    bodies = [request.body for step in workflow.steps for request in step.requests]
    return tuple(sorted({need for body in bodies for need in _needs_in(body)}))


def _needs_in(sent: Any) -> Iterator[str]:
    match sent:
        case {"stage-create": True}:
            yield "stage-create"
        case {"action": "add-snapshot"}:
            yield "metadata-only-snapshots"
        case {"action": "upgrade-format-version", "format-version": version}:
            yield f"format-version-{version}"
    if isinstance(sent, dict) and isinstance(sent.get("properties"), dict):
        version = sent["properties"].get("format-version")
        if version is not None:
            yield f"format-version-{version}"
    inner = sent.values() if isinstance(sent, dict) else sent if isinstance(sent, list) else ()
    for value in inner:
        yield from _needs_in(value)


def _check_of(dialect: Dialect, workflow: Workflow) -> Callable[[Catalog], None]:
    def replay(catalog: Catalog) -> None:
        speak(catalog, dialect, workflow)

    id_ = f"dialect.{dialect.slug}.{workflow.name}"
    replay.__name__ = replay.__qualname__ = f"test_{dialect.slug}_{workflow.name}"
    replay.__doc__ = title = f"{dialect.client} {dialect.version}: {workflow.does}"
    return check(id_, title=title, needs=_needs_of(workflow))(replay)


for _dialect in dialects().values():
    for _workflow in _dialect.workflows:
        globals()[f"test_{_dialect.slug}_{_workflow.name}"] = _check_of(_dialect, _workflow)
