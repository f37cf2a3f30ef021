"""Checks of drawn requests, one for each operation.

The functions differ only in the operation, so a loop makes them; each is a check and a test with
its own name.
"""

import re

from icecheck.client.catalog import Catalog
from icecheck.conformance.fuzzed.fuzzed_requests import judge_fuzzed
from icecheck.conformance.fuzzed.replaying import OPERATION_OF
from icecheck.judging.check import generated_check


def _declare(check_id: str, operation_id: str) -> None:
    def fuzzed(catalog: Catalog) -> None:
        judge_fuzzed(catalog, operation_id)

    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation_id).lower()
    fuzzed.__name__ = fuzzed.__qualname__ = f"test_{snake}_fuzzed"
    fuzzed.__doc__ = f"Drawn {operation_id} requests meet with no server error, or are refused."
    declared = generated_check(check_id)(fuzzed)
    globals()[fuzzed.__name__] = declared


for _check_id, _operation_id in OPERATION_OF.items():
    _declare(_check_id, _operation_id)
