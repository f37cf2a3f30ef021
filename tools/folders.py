"""Where the files of one version of the contract stand, and those that all versions share."""

from pathlib import Path

from icecheck import contract

__all__ = ["REQUIREMENTS", "folder_of"]

_CONTRACT = Path(contract.__file__).parent
REQUIREMENTS = _CONTRACT / "requirements"


def folder_of(version: str) -> Path:
    """Return the folder of a version such as 1.10.0, whether or not it is there."""
    return _CONTRACT / f"v{version.replace('.', '_')}"
