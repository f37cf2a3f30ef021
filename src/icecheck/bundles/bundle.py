"""A bundle: one file with a run's report, its exchanges, and a manifest that says what they are."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KIND = "IcebergRestConformanceBundle"
VERSION = "1.0"
MANIFEST = "manifest.json"
RUN = "run.json"
EXCHANGES = "exchanges.jsonl.zst"
MEMBERS = (RUN, EXCHANGES)
"""The members that a manifest vouches for, in the order in which a bundle has them."""
REDACTION = "as recorded: secrets are replaced by digests, and no original of them is kept"


class BundleUnusable(Exception):
    """A file is no bundle that this icecheck can read; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Product:
    """What was verified, in the words of who asks for it; any of it may be empty."""

    organization: str = ""
    product: str = ""
    version: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The content of a bundle: its manifest, and its members by name."""

    manifest: Mapping[str, Any]
    members: Mapping[str, bytes]


def sha256_of(content: bytes) -> str:
    """Return the hash of a member as manifests and reports write it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def manifest_of(members: Mapping[str, bytes], run: Mapping[str, Any], product: Product) -> bytes:
    """Return the manifest of members; equal input gives equal bytes."""
    document = {
        "kind": KIND,
        "bundle_version": VERSION,
        "run_id": run["run_id"],
        "suite": {"name": "icecheck", "version": run["suite"].get("version")},
        "product": {
            "organization": product.organization,
            "product": product.product,
            "version": product.version,
            "contact": product.contact,
        },
        "expectations": _expected(run.get("expectations")),
        "redaction": REDACTION,
        "members": [
            {"name": name, "sha256": sha256_of(content), "bytes": len(content)}
            for name, content in members.items()
        ],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def read_manifest(content: bytes, name: str) -> dict[str, Any]:
    """Return a manifest.

    Raises BundleUnusable for anything else, and for one of a newer form.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BundleUnusable(f"{name} is no bundle of icecheck: make one with `icecheck bundle`")
    version = str(document.get("bundle_version"))
    if version.partition(".")[0] != VERSION.partition(".")[0]:
        raise BundleUnusable(f"{name} is a bundle of format {version}; this icecheck reads 1.x")
    rows = document.get("members")
    if not isinstance(rows, list) or not all(map(_is_member, rows)):
        raise BundleUnusable(f"{name} is a damaged bundle: its manifest does not name its members")
    return document


def _is_member(row: Any) -> bool:
    return isinstance(row, dict) and all(isinstance(row.get(k), str) for k in ("name", "sha256"))


def _expected(block: Any) -> dict[str, Any] | None:
    """Return what a report tells of the file of expectations that its gate used; None for none."""
    if not isinstance(block, dict) or block.get("file") is None:
        return None
    return {name: block.get(name) for name in ("file", "sha256", "entries")}
