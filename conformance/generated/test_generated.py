"""Checks of requests generated from the contract's schemas, up to three for each operation.

``refused``: requests that no catalog can serve. ``mistyped``: values that some catalogs convert.
``accepted``: requests that the contract allows or a catalog may overlook. The functions differ only
in the operation, so a loop makes them; each is a check and a test with its own name.
"""

import re
from collections.abc import Callable

from icecheck.client.catalog import Catalog
from icecheck.conformance.generated.generated_requests import (
    judge_accepted,
    judge_beside_the_schema,
    judge_mistyped,
    judge_refused,
)
from icecheck.conformance.kit.paging import (
    first_page,
    namespaces_shared,
    tables_shared,
    views_shared,
)
from icecheck.judging.check import generated_check

BODIES = (
    "createNamespace",
    "updateProperties",
    "createTable",
    "updateTable",
    "renameTable",
    "registerTable",
    "createView",
    "replaceView",
    "renameView",
    "commitTransaction",
    "planTableScan",
    "fetchScanTasks",
)
LISTINGS = {
    "listNamespaces": namespaces_shared,
    "listTables": tables_shared,
    "listViews": views_shared,
}
OPERATIONS = (
    "getConfig",
    *LISTINGS,
    "loadNamespaceMetadata",
    "namespaceExists",
    "dropNamespace",
    "loadTable",
    "tableExists",
    "dropTable",
    "reportMetrics",
    "loadView",
    "viewExists",
    "dropView",
    "loadCredentials",
    "fetchPlanningResult",
    "cancelPlanning",
    *BODIES,
)


def _declare(
    operation_id: str, kind: str, title: str, judge: Callable[[Catalog, str], None]
) -> None:
    def generated(catalog: Catalog) -> None:
        if operation_id in LISTINGS and kind == "mistyped":
            place = LISTINGS[operation_id](catalog)
            first_page(place, place.size)
        judge(catalog, operation_id)

    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation_id).lower()
    generated.__name__ = generated.__qualname__ = f"test_{snake}_{kind}"
    generated.__doc__ = f"{title}."
    check_id = f"generated.{operation_id}.{kind}"
    declared = generated_check(check_id)(generated)
    globals()[generated.__name__] = declared


for _operation_id in BODIES:
    _declare(
        _operation_id,
        "refused",
        f"Generated {_operation_id} requests that cannot be carried out are refused",
        judge_refused,
    )
for _operation_id in (*BODIES, *LISTINGS):
    _declare(
        _operation_id,
        "mistyped",
        f"Generated {_operation_id} requests with values of a wrong type are refused",
        judge_mistyped,
    )
for _operation_id in OPERATIONS:
    _declare(
        _operation_id,
        "accepted",
        f"Generated {_operation_id} requests meet with no server error",
        judge_accepted,
    )


@generated_check("generated.wrong-beside-the-schema")
def test_what_no_schema_calls_wrong_is_no_server_error(catalog: Catalog) -> None:
    """Another content type, or a metadata file that is not there, meets with no server error."""
    judge_beside_the_schema(catalog)
