"""The official documents, where ICECHECK_OFFICIAL_DOCUMENT names that of 1.10.0.

Those of other versions lie beside it, as `rest-catalog-open-api-<version>.yaml`.
"""

import os
from pathlib import Path

import pytest

OFFICIAL = os.environ.get("ICECHECK_OFFICIAL_DOCUMENT")


def official_document(version: str) -> Path:
    """Return the official document of a version; a test that asks is skipped without it."""
    if not OFFICIAL:
        pytest.skip("ICECHECK_OFFICIAL_DOCUMENT names no file: only our own files are compared")
    named = Path(OFFICIAL)
    path = (
        named if version == "1.10.0" else named.with_name(f"rest-catalog-open-api-{version}.yaml")
    )
    if not path.is_file():
        pytest.skip(f"no {path.name} beside ICECHECK_OFFICIAL_DOCUMENT")
    return path
