"""Developer tool: find out which release of Iceberg first documented each part of the contract.

`python -m tools.dating GIT_DIR DOCUMENT [--version 1.10.0]` reads the document of every release
from the git directory of a clone of apache/iceberg with its tags, and writes `releases.toml`: the
novelties of each release. DOCUMENT is the file that `importing` was given: the register cites its
lines.
"""

import argparse
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tools.folders import folder_of
from tools.official import other_document

PATH = "open-api/rest-catalog-open-api.yaml"
FIRST = "0.14.0"  # no release before it has the document
TAG = re.compile(r"apache-iceberg-(\d+\.\d+\.\d+)")
_WANTED = "it has to be the git directory of a clone of apache/iceberg with its tags"

# A line as short as `type: string` occurs everywhere: another occurrence is no move.
MOVED_CHARACTERS_MIN = 25

Span = tuple[int, int]
"""First and last line, counted from 1, both included."""

PREDECESSORS: Mapping[str, str] = {
    # Described within one schema until each got its own.
    **dict.fromkeys(
        (
            "AssertCreate", "AssertTableUUID", "AssertRefSnapshotId", "AssertLastAssignedFieldId",
            "AssertCurrentSchemaId", "AssertLastAssignedPartitionId", "AssertDefaultSpecId",
            "AssertDefaultSortOrderId",
        ),
        "TableRequirement",
    ),
    "OAuthError": "OAuthErrorResponse",
}  # fmt: skip
"""The former place of a schema's content: the name of a schema or response that had it."""


@dataclass(frozen=True, slots=True)
class NewParts:
    """The parts that one release's document has and none before it had.

    ``responses`` are those of operations that are older; ``lines`` are spans of the last document,
    by the release in which their words first occurred.
    """

    operations: tuple[str, ...]
    responses: tuple[str, ...]
    schemas: tuple[str, ...]
    lines: tuple[Span, ...]


def releases_of(git_dir: Path, last: str) -> dict[str, str]:
    """Return release -> document, from FIRST to ``last``, without releases that changed nothing.

    ``last`` itself is kept: it is the version that is dated. Raises ValueError when ``git_dir`` is
    no such repository, or has no tag of ``last``.
    """
    tags = _git(git_dir, "tag", "--list").split()
    versions = sorted((m[1] for tag in tags if (m := TAG.fullmatch(tag))), key=_number)
    if last not in versions:
        raise ValueError(f"{git_dir} has no tag apache-iceberg-{last}: {_WANTED}")
    documents: dict[str, str] = {}
    for version in versions:
        if _number(FIRST) <= _number(version) <= _number(last):
            text = _git(git_dir, "show", f"apache-iceberg-{version}:{PATH}")
            if version == last or text not in documents.values():
                documents[version] = text
    return documents


def _git(git_dir: Path, *arguments: str) -> str:
    command = ["git", f"--git-dir={git_dir}", *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    except subprocess.CalledProcessError as error:
        told = " ".join(str(error.stderr).split())
        raise ValueError(f"git cannot read {git_dir} ({told}): {_WANTED}") from None


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def dated(documents: Mapping[str, str]) -> dict[str, NewParts]:
    """Return the novelties of each release; ``documents`` are YAML texts in the releases' order."""
    import yaml

    known_operations: set[str] = set()
    known_responses: set[str] = set()
    known_names: set[str] = set()
    origins = _origins(documents)
    found: dict[str, NewParts] = {}
    last = yaml.safe_load([*documents.values()][-1])
    lasting = {o: set(r) for o, r in _operations(last)}
    schemas = last["components"]["schemas"]
    for release, text in documents.items():
        document = yaml.safe_load(text)
        operations = dict(_operations(document))
        responses = {f"{o}.{status}" for o, rows in operations.items() for status in rows}
        names = {n for section in ("schemas", "responses") for n in document["components"][section]}
        fresh = [o for o in operations if o in lasting and o not in known_operations]
        found[release] = NewParts(
            operations=tuple(sorted(fresh)),
            responses=tuple(
                sorted(
                    response
                    for response in responses - known_responses
                    if (operation := response.partition(".")[0]) in lasting
                    and operation not in fresh
                    and response.partition(".")[2] in lasting[operation]
                )
            ),
            schemas=tuple(
                sorted(
                    name
                    for name in schemas
                    if {name, PREDECESSORS.get(name)} & names
                    and not {name, PREDECESSORS.get(name)} & known_names
                )
            ),
            lines=spans([n for n, origin in enumerate(origins, 1) if origin == release]),
        )
        known_operations |= set(operations)
        known_responses |= responses
        known_names |= names
    return found


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for item in document["paths"].values():
        for body in item.values():
            if isinstance(body, dict) and "operationId" in body:
                yield body["operationId"], [str(status) for status in body["responses"]]


def _origins(documents: Mapping[str, str]) -> list[str]:
    """Return, for each line of the last document, the release that first had its words.

    White space is ignored, and a line that was moved is not new.
    """
    before: list[str] = []
    origins: list[str] = []
    for release, text in documents.items():
        lines = _words(text)
        matcher = SequenceMatcher(None, before, lines, autojunk=False)
        mine = [release] * len(lines)
        gone: dict[str, list[str]] = {}
        fresh: list[int] = []
        for kind, first, end, start, stop in matcher.get_opcodes():
            if kind == "equal":
                mine[start:stop] = origins[first:end]
                continue
            fresh += range(start, stop)
            for place in range(first, end):
                gone.setdefault(before[place], []).append(origins[place])
        for place in fresh:
            if len(lines[place]) >= MOVED_CHARACTERS_MIN and gone.get(lines[place]):
                mine[place] = gone[lines[place]].pop(0)
        before, origins = lines, mine
    return origins


def _words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def spans(numbers: Sequence[int]) -> tuple[Span, ...]:
    """Return ascending line numbers as spans of neighbours."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return tuple((first, last) for first, last in found)


def aligned(released: str, document: str) -> Span | None:
    """Return which lines a copy of the released document has more; None when there are none.

    Raises ValueError when the two differ in anything but white space and one run of lines.
    """
    matcher = SequenceMatcher(None, _words(released), _words(document), autojunk=False)
    match [o for o in matcher.get_opcodes() if o[0] != "equal"]:
        case []:
            return None
        case [("insert", _, _, start, stop)]:
            return start + 1, stop
    raise ValueError("the document is not the release's: they differ in more than white space")


def rendered(found: Mapping[str, NewParts], extra: Span | None) -> str:
    """Return the text of releases.toml; ``extra`` are lines of the document that no release has."""
    lines = [
        "# What each release's document has and no earlier one had; a release that is not here",
        "# has the document of the one before. Lines are those that the register cites, under the",
        "# release that first had their words. Generated by tools.dating.",
    ]
    if extra is not None:
        lines += ["", f"not_in_release = {[*extra]}"]
    for release, new in found.items():
        lines += ["", f'[release."{release}"]']
        for kind in ("operations", "responses", "schemas"):
            lines += _listed(kind, getattr(new, kind))
        # Lines of no later release are the first one's.
        own = () if release == next(iter(found)) else new.lines
        places = [(_moved(a, extra), _moved(b, extra)) for a, b in own]
        lines += _listed("lines", [str(a) if a == b else f"{a}-{b}" for a, b in places])
    return "\n".join(lines) + "\n"


def _moved(line: int, extra: Span | None) -> int:
    return line if extra is None or line < extra[0] else line + extra[1] - extra[0] + 1


def _listed(kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a TOML list, several names to a line of at most a hundred characters."""
    if not names:
        return
    yield f"{kind} = ["
    row = " "
    for name in names:
        item = f' "{name}",'
        if len(row) + len(item) > 100:
            yield row
            row = " "
        row += item
    yield row
    yield "]"


def main(arguments: list[str] | None = None) -> int:
    """Write releases.toml of one version; returns 0, and exits with 2 on bad input."""
    parser = argparse.ArgumentParser(prog="tools.dating", description=__doc__)
    parser.add_argument("git_dir", type=Path, help="git directory of a clone of apache/iceberg")
    parser.add_argument("document", type=Path, help="the document whose lines the register cites")
    parser.add_argument("--version", default="1.10.0", help="specification version")
    options = parser.parse_args(arguments)
    folder = folder_of(options.version)
    if not options.document.is_file():
        parser.error(f"{options.document} is no file")
    if not folder.is_dir():
        parser.error(f"{folder} is no folder: tools.importing writes into it first")
    if told := other_document(options.document, folder):
        parser.error(told)
    try:
        documents = releases_of(options.git_dir, options.version)
        extra = aligned(documents[options.version], options.document.read_text(encoding="utf-8"))
    except ValueError as fault:
        parser.error(str(fault))
    text = rendered(dated(documents), extra)
    (folder / "releases.toml").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
