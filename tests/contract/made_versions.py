"""Versions of the contract made in a test's own folder, from a document of our own or another."""

import itertools
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tools.folders import folder_of
from tools.importing import write_version

from icecheck.contract import document

WRITTEN_BY_HAND = (
    "prose.json", "operations.json", "overlay.json", "later.json", "changes.toml", "release.tag",
    "releases.toml",
)  # fmt: skip
_COUNTED = itertools.count(1001)  # no release has as many patches, nor a folder of its own


def made_from(path: Path, folder: Path, instead: Mapping[str, str]) -> Path:
    """Write the files of a version from a document; those by hand are 1.10.0's, or ``instead``."""
    folder.mkdir(parents=True)
    for name in WRITTEN_BY_HAND:
        shutil.copy(folder_of("1.10.0") / name, folder / name)
    for name, text in instead.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_version(path, folder)
    return folder


def known_as(monkeypatch: pytest.MonkeyPatch, folder: Path, minor: str = "1.10") -> str:
    """Let the contract know a folder as a version that no test had before; return its name.

    It is no real version's either: what the contract has read of a version, it keeps.
    """
    made = (f"{minor}.{patch}" for patch in _COUNTED)
    version = next(name for name in made if name not in document.FOLDERS)
    monkeypatch.setattr(document, "FOLDERS", {**document.FOLDERS, version: str(folder)})
    return version


def prose_for(official: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return prose.json with a word for everything in a document that ours says nothing about."""
    every = json.loads(json.dumps(ours))
    bodies = [body for item in official["paths"].values() for body in item.values()]
    for body in bodies:
        if isinstance(body, dict) and "operationId" in body:
            every["summaries"].setdefault(body["operationId"], "New.")
            for status in body["responses"]:
                every["statuses"].setdefault(status, "New.")
    for name in official["components"]["responses"]:
        every["shared_responses"].setdefault(name, "New.")
    return json.dumps(every)
