"""Packs the report of one run into a bundle, and opens bundles that anybody may have made.

A bundle is a zip file. Its members are stored as they are, so that its bytes depend on no version
of a compressor; the exchanges are compressed already.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from icecheck.bundles.bundle import (
    EXCHANGES,
    MANIFEST,
    MEMBERS,
    RUN,
    Bundle,
    BundleUnusable,
    Product,
    manifest_of,
    read_manifest,
)
from icecheck.findings.comparison import read_run
from icecheck.targets.target import UsageError
from icecheck.targets.unwritable import PARTIAL

_BYTES_MAX = {MANIFEST: 1 << 20, RUN: 1 << 28, EXCHANGES: 1 << 29}
"""Limits of the members: a whole run on a large catalog has a hundredth of it."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16
_UNIX = 3
_ENCRYPTED = 0x1


def pack(directory: Path, output: Path, product: Product) -> None:
    """Write the bundle of the run whose report is in a directory, completely or not at all.

    Raises UsageError for a directory without a whole report, and for a file that cannot be written.
    """
    members = {name: _content(directory / name) for name in MEMBERS}
    run = read_run(members[RUN], str(directory / RUN))
    if not run["config"].get("groups", True):
        raise UsageError(
            f"{directory} is the report of a proxy: it holds the requests of others, and no check "
            "that could be run again; bundle the report of icecheck run"
        )
    content = _zipped({MANIFEST: manifest_of(members, run, product), **members})
    partial = output.with_name(f"{output.name}{PARTIAL}")
    try:
        try:
            partial.write_bytes(content)
            partial.replace(output)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"--output {output} cannot be written ({error.strerror}): name another file"
        ) from None


def open_bundle(path: Path) -> Bundle:
    """Return the content of a bundle; nothing is written, whatever its members are called.

    Raises BundleUnusable for a file that is none, or is larger than a run can be.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _opened(archive, str(path))
    except OSError as error:
        raise BundleUnusable(f"{path} cannot be read ({error.strerror}): name a bundle") from None
    except (
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise BundleUnusable(
            f"{path} is no bundle, or is truncated: make one with `icecheck bundle`"
        ) from None


def _opened(archive: zipfile.ZipFile, name: str) -> Bundle:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    foreign = [each for each in names if each not in _BYTES_MAX]
    if foreign:
        raise BundleUnusable(f"{name} is no bundle: it holds {foreign[0][:80]!r}")
    lacking = [each for each in _BYTES_MAX if names.count(each) != 1]
    if lacking:
        many = "twice" if lacking[0] in names else "not at all"
        raise BundleUnusable(f"{name} is a damaged bundle: it holds {lacking[0]} {many}")
    members = {entry.filename: _member(archive, entry, name) for entry in entries}
    manifest = read_manifest(members.pop(MANIFEST), name)
    return Bundle(manifest, {each: members[each] for each in MEMBERS})


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> bytes:
    """Return the content of a member, of which never more than the limit is inflated."""
    limit = _BYTES_MAX[entry.filename]
    if entry.flag_bits & _ENCRYPTED:
        raise BundleUnusable(f"{name} is no bundle: its {entry.filename} is encrypted")
    content = b""
    with archive.open(entry) as opened:
        # What a wrong checksum tells, the hashes of the manifest tell too, and name the member.
        opened._expected_crc = None  # type: ignore[attr-defined]  # noqa: SLF001
        content = opened.read(limit + 1)
    if len(content) > limit:
        raise BundleUnusable(f"{name} is no bundle: its {entry.filename} is longer than {limit} B")
    return content


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _BYTES_MAX[path.name]:
            raise UsageError(f"{path} is longer than a bundle can hold")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): name the directory of a run's report"
        ) from None


def _zipped(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = _READABLE
            entry.create_system = _UNIX
            archive.writestr(entry, content)
    return packed.getvalue()
