"""Reads the files of one specification version, once each."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from icecheck.contract.model import Lines, UnknownRef

FOLDERS: Mapping[str, str] = {"1.10.0": "v1_10_0", "1.11.0": "v1_11_0"}
SPEC_VERSIONS = tuple(FOLDERS)
DEFAULT_SPEC_VERSION = "1.10.0"

HERE = Path(__file__).parent
OFFICIAL_URL = "https://github.com/apache/iceberg/blob/{tag}/open-api/rest-catalog-open-api.yaml#L{first}-L{last}"


def others(version: str) -> tuple[str, ...]:
    """Return the other versions, the last one that was added first."""
    return tuple(name for name in reversed([*FOLDERS]) if name != version)


def version_text(version: str, name: str) -> str:
    """Return the text of one of the files of a version."""
    return (HERE / FOLDERS[version] / name).read_text(encoding="utf-8")


@cache
def raw_document(version: str) -> dict[str, Any]:
    """Return the document as published; shared between callers, who must not change it."""
    document: dict[str, Any] = json.loads(version_text(version, "openapi.json"))
    return document


@cache
def line_index(version: str) -> Mapping[str, Lines]:
    """Return JSON pointer -> first and last line of the official document."""
    pairs = json.loads(version_text(version, "lines.json")).items()
    return {pointer: (first, last) for pointer, (first, last) in pairs}


@cache
def operation_rows(version: str) -> Mapping[str, Mapping[str, Any]]:
    """Return operation id -> the facts of an operation as they are written, unchecked."""
    rows: dict[str, dict[str, Any]] = json.loads(version_text(version, "operations.json"))
    return rows


@cache
def _release_tag(version: str) -> str:
    return version_text(version, "release.tag").strip()


@cache
def overlay_document(version: str) -> Mapping[str, Any]:
    """Return the errata overlay of this version."""
    overlay: dict[str, Any] = json.loads(version_text(version, "overlay.json"))
    return overlay


@cache
def later_overlay(version: str) -> Mapping[str, Any]:
    """Return the overlay with what later documents allow in answers beyond this version."""
    overlay: dict[str, Any] = json.loads(version_text(version, "later.json"))
    return overlay


@cache
def official_sha256(version: str) -> str:
    """Return the hex sha256 of the official document's canonical structure."""
    return version_text(version, "official.sha256").strip()


def lines_of(version: str, pointer: str) -> Lines:
    """Return the lines of a JSON pointer of the document.

    Raises UnknownRef when it is not indexed.
    """
    try:
        return line_index(version)[pointer]
    except KeyError:
        raise UnknownRef(f"nothing at {pointer} in the line index of {version}") from None


def permalink(version: str, lines: Lines) -> str:
    """Return the URL of a span of lines in the official document, at its release tag."""
    return OFFICIAL_URL.format(tag=_release_tag(version), first=lines[0], last=lines[1])


def whole_document(tag: str) -> str:
    """Return the URL of the official document at a tag."""
    return OFFICIAL_URL.partition("#")[0].format(tag=tag)


def resolve(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node at which the `$ref`s of a node end.

    Raises UnknownRef when one leads nowhere.
    """
    while "$ref" in node:
        target: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            try:
                target = target[part.replace("~1", "/").replace("~0", "~")]
            except KeyError:
                raise UnknownRef(f"{node['$ref']} leads nowhere") from None
        node = target
    return node
