"""What to type to install icecheck with an extra: the one place for these words."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from urllib.parse import unquote, urlsplit

PUBLISHED = False
"""Whether package indexes have icecheck. Set it, and correct README and docs, when it is there."""

_NAME = "icecheck"
_UVX_CACHE = "archive-v"
"""How the directory of uv's cache begins in which uvx makes its environments."""


def install_command(extra: str, again: str = "icecheck …") -> str:
    """Return the command that adds an extra to this installation, for a shell.

    An environment of uvx cannot be added to: there it is a command that makes another one, in which
    ``again`` is run.
    """
    options, place, installer = _origin()
    if not place:
        return _by_name(extra)
    if _is_of_uvx():
        return f"{shlex.join(_uvx(place, extra))} {again}"
    requirement = shlex.quote(f"{place}[{extra}]")
    pip = "uv pip install" if installer == "uv" else "pip install"
    return " ".join([pip, *options, requirement])


def command_with(extra: str, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs icecheck with an extra in an environment of uvx.

    It is empty where this environment is none of uvx, or uvx is not there to make another one.
    """
    _, place, _ = _origin()
    if not place or not _is_of_uvx() or which("uvx") is None:
        return []
    return [*_uvx(place, extra), _NAME, *arguments]


def _is_of_uvx() -> bool:
    return any(part.startswith(_UVX_CACHE) for part in Path(sys.prefix).parts)


def _uvx(place: str, extra: str) -> list[str]:
    return ["uvx", "--from", f"{place}[{extra}]"]


def how_to_have(extra: str) -> str:
    """Return how an extra is installed in words for a report: they name no path of a machine."""
    if PUBLISHED:
        return f"run pip install '{_NAME}[{extra}]'"
    return f"install {_NAME} with its extra [{extra}]"


def _by_name(extra: str) -> str:
    if PUBLISHED:
        return f"pip install '{_NAME}[{extra}]'"
    return (
        f"pip install '.[{extra}]' in a clone of {_NAME}, or pip install 'PATH/TO/WHEEL[{extra}]'"
    )


def _origin() -> tuple[list[str], str, str]:
    """Return pip's options, the clone or wheel, and the installer of this installation.

    The clone or wheel is empty where it came from elsewhere, or is no longer there.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        own = distribution(_NAME)
    except PackageNotFoundError:
        return [], "", ""
    try:
        record = json.loads(own.read_text("direct_url.json") or "{}")
        url, editable = urlsplit(record.get("url", "")), record.get("dir_info", {}).get("editable")
    except (ValueError, AttributeError):
        return [], "", ""
    place = unquote(url.path) if url.scheme == "file" else ""
    if not place or not Path(place).exists():
        return [], "", ""
    return ["-e"] * bool(editable), place, (own.read_text("INSTALLER") or "").strip()
