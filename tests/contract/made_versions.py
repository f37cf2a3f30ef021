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
_ZEROS = itertools.count(1)


def made_from(path: Path, folder: Path, instead: Mapping[str, str]) -> Path:
    """Write the files of a version from a document; those by hand are 1.10.0's, or ``instead``."""
    folder.mkdir(parents=True)
    for name in WRITTEN_BY_HAND:
        shutil.copy(folder_of("1.10.0") / name, folder / name)
    for name, text in instead.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_version(path, folder)
    return folder


def known_as(monkeypatch: pytest.MonkeyPatch, folder: Path, like: str = "1.10.0") -> str:
    """Let the contract know a folder as a version that no test had before; return its name.

    It is that of ``like`` with more zeros in front of its last number. So it stands at the same
    place in the order of releases, and takes exactly the rows of that version. It is no real
    version's name: what the contract has read of a version, it keeps.
    """
    minor, _, patch = like.rpartition(".")
    version = f"{minor}.{'0' * next(_ZEROS)}{patch}"
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
