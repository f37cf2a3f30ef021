"""Checks that a freed name can be taken again, whatever freed it and whatever takes it.

The functions differ only in the way to take a name, so a loop makes them; each one is a check and a
test with its own name.
"""

import re

from icecheck.client.catalog import Catalog
from icecheck.conformance.names.freed_names import TAKINGS, judge_taking
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require

_NEEDS = {
    "updateTable": ("stage-create",),
    "commitTransaction": ("stage-create",),
    "createNamespace": ("nested-namespaces",),
}
_TITLES = {
    "createTable": "A table can be created under every name that has become free",
    "updateTable": "A staged table can be committed under every name that has become free",
    "commitTransaction": "A transaction can create a table under every name that has become free",
    "registerTable": "A table can be registered under every name that has become free",
    "renameTable": "A table can be renamed to every name that has become free",
    "createView": "A view can be created under every name that has become free",
    "renameView": "A view can be renamed to every name that has become free",
    "createNamespace": "A namespace can be created under every name that has become free",
}


def _declare(operation_id: str, title: str) -> None:
    taking = TAKINGS[operation_id]

    def taken(catalog: Catalog) -> None:
        require(catalog, *taking.operations)
        judge_taking(catalog, operation_id)

    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation_id).lower()
    taken.__name__ = taken.__qualname__ = f"test_{snake}_under_a_freed_name"
    taken.__doc__ = f"{title}."
    check_id = f"freed-name.{operation_id}"
    declared = generated_check(check_id, needs=_NEEDS.get(operation_id, ()))(taken)
    globals()[taken.__name__] = declared


for _operation_id, _title in _TITLES.items():
    _declare(_operation_id, _title)
