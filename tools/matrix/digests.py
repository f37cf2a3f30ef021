"""Digests of the sources that a verdict follows from, as coarse as can be without being wrong."""

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import icecheck

_VERDICTS = 1
"""Counted up when this tool judges in another way: all stored verdicts are then out of date."""

_PACKAGE = Path(icecheck.__file__).parent
_DEFECTS = "icecheck.mock_server.defects"

_APART = {"conformance", "scenarios", "defects"}
"""The folders that have digests of their own."""

_WITHOUT_EFFECT = {"cli", "data", "pytest", "reports", "run", "spark", "spark_tests"}
"""The packages that say what to judge or what was judged, and judge nothing here."""

_RECORDS = {"witnesses.toml", "unwitnessed.toml"}
"""What recorded catalogs showed: reports quote it."""

_LIBRARIES = ("hypothesis", "schemathesis")
"""The libraries whose version decides which requests are generated."""


class Digests:
    """The digests of one checkout, each computed once."""

    def __init__(self, package: Path = _PACKAGE) -> None:
        self._package = package
        self._folders: dict[str, str] = {}
        self._modules: dict[str, str] = {}

    def of_cell(self, module: str, family: str, facts: Iterable[str]) -> str:
        """Return the digest of what checks of a family say about a defect of a module.

        ``facts`` are the names of the defect and of the checks. Everything else that matters is
        read from the sources: the suite and the mock as one, the family, and the defect's module
        with the modules of defects that it imports.
        """
        parts = (self.of_suite(), self.of_folder(family), self._of_module(module), *facts)
        return _digest(part.encode() for part in parts)

    def of_suite(self) -> str:
        """Return the digest of all sources that every verdict may follow from."""
        if "" not in self._folders:
            known = (f"{name} {version(name)}" for name in _LIBRARIES)
            parts = [str(_VERDICTS), sys.version, *known]
            folders = {path.name for path in self._package.iterdir() if path.is_dir()}
            counted = sorted(folders - _WITHOUT_EFFECT - _APART)
            parts += [self.of_folder(folder) for folder in (*counted, "conformance/kit")]
            self._folders[""] = _digest(part.encode() for part in parts)
        return self._folders[""]

    def of_folder(self, name: str) -> str:
        """Return the digest of the files of a folder of the package."""
        if name not in self._folders:
            self._folders[name] = _digest(_texts(self._package / name))
        return self._folders[name]

    def _of_module(self, module: str) -> str:
        if module not in self._modules:
            names = sorted(_with_imported(module, self._package))
            self._modules[module] = _digest(
                _file(name, self._package).read_bytes() for name in names
            )
        return self._modules[module]


def _texts(folder: Path) -> Iterable[bytes]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        kept = path.is_file() and path.suffix != ".pyc" and path.name not in _RECORDS
        if kept and not _APART.intersection(inside.parts):
            yield inside.as_posix().encode()
            yield path.read_bytes()


def _with_imported(module: str, package: Path) -> set[str]:
    """Return a module of defects and those that it imports, directly or not."""
    found: set[str] = set()
    due = [module]
    while due:
        name = due.pop()
        if name not in found:
            found.add(name)
            due += _imported(_file(name, package))
    return found


@cache
def _imported(path: Path) -> tuple[str, ...]:
    nodes = ast.walk(ast.parse(path.read_bytes()))
    named = [n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module]
    return tuple(name for name in named if name.startswith(_DEFECTS))


def _file(module: str, package: Path) -> Path:
    path = package.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:24]
