"""The folder of one version of the contract, and the folder that all versions share."""

from pathlib import Path

from icecheck import contract

_CONTRACT = Path(contract.__file__).parent
REQUIREMENTS = _CONTRACT / "requirements"


def folder_of(version: str) -> Path:
    """Return the folder of a version such as 1.10.0, which need not exist."""
    return _CONTRACT / f"v{version.replace('.', '_')}"
