"""Defects of times in planned values: in the form of a programming language, not the document's."""

import re
from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import declare
from icecheck.mock_server.defects.kit.rewriting import alter_body

_TIME = re.compile(r"((?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d)\.(\d{6})(\+00:00)?")
_PLANNING = ("planTableScan", "fetchPlanningResult", "fetchScanTasks")


def _declare(name: str, doc: str, shortened: Callable[[re.Match[str]], str]) -> None:
    def short(value: Any) -> Any:
        found = _TIME.fullmatch(value) if isinstance(value, str) else None
        return value if found is None else shortened(found)

    def alter(body: dict[str, Any]) -> dict[str, Any]:
        for task in body.get("file-scan-tasks", ()):
            file = task["data-file"]
            file["partition"] = [short(value) for value in file["partition"]]
        return body

    def install(registries: Registries) -> None:
        for operation_id in _PLANNING:
            alter_body(registries, operation_id, alter)

    declare(
        name,
        doc,
        install,
        breaks="planTableScan.six-digits",
        suffering="Who reads times by the documented form alone fails at full seconds.",
    )


def _in_milliseconds(found: re.Match[str]) -> str:
    clock, fraction, zone = found.groups(default="")
    digits = fraction.removesuffix("000")
    return f"{clock}.{digits}{zone}" if digits else f"{clock}.000{zone}"


def _without_zeros(found: re.Match[str]) -> str:
    clock, fraction, zone = found.groups(default="")
    digits = fraction.rstrip("0")
    return f"{clock}.{digits}{zone}" if digits else f"{clock}{zone}"


_declare(
    "plan-times-in-milliseconds",
    "Times in partitions have three digits where these suffice.",
    _in_milliseconds,
)
_declare(
    "plan-times-without-zeros",
    "Times in partitions leave out the zeros at the end of a fraction.",
    _without_zeros,
)
