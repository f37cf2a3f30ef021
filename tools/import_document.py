"""Developer tool: begin the contract of a new document, and list what is left to write.

`python -m tools.import_document FILE --version 1.12.0 [--into DIR]` begins the files of the version
that are written by hand as copies of the newest version's, writes those that follow from the
document, and prints what is new in it, what is gone, and which errata and rows of the register
point at nothing in it. It changes no file that is written by hand once that is there, so that it
can be run again. With --into, it writes into another folder than the contract's, for a try.
"""

import argparse
import json
import re
import shutil
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from icecheck.contract import SPEC_VERSIONS, Ref, RefKind, load
from icecheck.contract.overlay import OverlayTargetVanished, apply_overlay
from icecheck.contract.releases import is_newer, newest
from tools.canonical import canonical_structure
from tools.folders import REQUIREMENTS, folder_of
from tools.importing import WRITTEN_BY_HAND, with_own_prose, write_places, write_structure
from tools.official import METHODS, load_official
from tools.sentences import is_about, missing_lines

Named = Mapping[str, Any]
"""The canonical structure of each thing of one kind, by its name."""


def begin(folder: Path, version: str, before: str) -> list[str]:
    """Begin the files that are written by hand; return the names of those that were not there."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = [name for name in WRITTEN_BY_HAND if not (folder / name).exists()]
    for name in begun:
        shutil.copy(folder_of(before) / name, folder / name)
    for name in {"prose.json", "overlay.json", "later.json"}.intersection(begun):
        _rename(folder / name, before, version)
    if "release.tag" in begun:
        (folder / "release.tag").write_text(f"apache-iceberg-{version}\n", encoding="utf-8")
    if "changes.toml" in begun:
        _add_document(folder / "changes.toml", before)
    return begun


def _rename(path: Path, before: str, version: str) -> None:
    """Let the `info` of a file name the new version."""
    text = path.read_text(encoding="utf-8")
    told = re.search(r'"info": \{.*?\}', text, re.DOTALL)
    if told is not None:
        named = told.group(0).replace(before, version)
        path.write_text(text.replace(told.group(0), named, 1), encoding="utf-8")


def _add_document(path: Path, before: str) -> None:
    """Add the document of the version before to those that a run can hold to."""
    row = f'[[document]]\nrelease = "{before}"\nsha256 = "{load(before).document_sha256}"\n\n'
    text = path.read_text(encoding="utf-8")
    end = text.rindex("[[document]]")
    after = text.index("\n\n", end) + 2
    path.write_text(text[:after] + row + text[after:], encoding="utf-8")


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield what one document has otherwise than another: operations, responses, components."""
    pairs = zip(_parts(before), _parts(after), strict=True)
    for (kind, old), (_, new) in pairs:
        for word, names in (
            ("new", new.keys() - old.keys()),
            ("gone", old.keys() - new.keys()),
            ("changed", {name for name in old.keys() & new.keys() if old[name] != new[name]}),
        ):
            if names:
                yield f"{word} {kind} ({len(names)}): {', '.join(sorted(names))}"


def _parts(document: Mapping[str, Any]) -> Iterator[tuple[str, Named]]:
    structure = canonical_structure(document)
    operations = _operations(structure)
    yield "operations", {id_: {**each, "responses": None} for id_, each in operations.items()}
    yield (
        "responses",
        {
            f"{id_}.{status}": response
            for id_, each in operations.items()
            for status, response in each["responses"].items()
        },
    )
    for section in ("parameters", "responses", "schemas"):
        yield f"components.{section}", structure["components"].get(section, {})


def _operations(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        item[method]["operationId"]: item[method]
        for item in document["paths"].values()
        for method in METHODS
        if method in item
    }


def vanished(document: Mapping[str, Any], overlay: Mapping[str, Any]) -> Iterator[str]:
    """Yield each action of an overlay whose target is not in the document."""
    corrected = dict(document)
    for action in overlay["actions"]:
        try:
            corrected = apply_overlay(corrected, [action])
        except OverlayTargetVanished as gone:
            yield str(gone)


def lost_refs(document: Mapping[str, Any], version: str) -> Iterator[str]:
    """Yield each row about a version that names what the document does not have."""
    operations = _operations(document)
    known = {
        RefKind.OPERATION: operations.keys(),
        RefKind.RESPONSE: {f"{o}.{s}" for o, each in operations.items() for s in each["responses"]},
        RefKind.SCHEMA: document["components"]["schemas"].keys(),
    }
    for path in sorted(REQUIREMENTS.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("requirement", ()):
            if is_about(row, version):
                yield from (f"{row['id']}: {ref}" for ref in _lost(row, known))


def _lost(row: Mapping[str, Any], known: Mapping[RefKind, Collection[str]]) -> Iterator[str]:
    for text in row.get("refs", ()):
        if text.startswith("sentence:"):
            continue
        ref = Ref.parse(text)
        if ref.kind in known and ref.name not in known[ref.kind]:
            yield text


def report(path: Path, version: str, folder: Path) -> Iterator[str]:
    """Begin a version in a folder; yield what is new in its document, and what is left to write."""
    before = newest(each for each in SPEC_VERSIONS if is_newer(version, each))
    for name in begin(folder, version, before):
        if name != "release.tag":  # nothing is left to write in it
            yield f"begun as a copy of {before}'s: {name}"
    official, index = load_official(path)
    yield from differences(load(before).raw, official)
    unknown = write_places(official, index, path, folder)
    try:
        prose = json.loads((folder / "prose.json").read_text(encoding="utf-8"))
        write_structure(with_own_prose(official, prose), folder)
    except ValueError as fault:
        yield f"no openapi.json is written: {fault}"
    facts = json.loads((folder / "operations.json").read_text(encoding="utf-8"))
    operations = _operations(official)
    yield from (f"operations.json has no facts of {id_}" for id_ in operations if id_ not in facts)
    yield from (f"operations.json has {id_}, which is gone" for id_ in facts.keys() - operations)
    for name in ("overlay.json", "later.json"):
        overlay = json.loads((folder / name).read_text(encoding="utf-8"))
        yield from (f"{name}: {each}" for each in vanished(official, overlay))
    yield from (f"a row names what is gone: {each}" for each in lost_refs(official, version))
    yield from missing_lines(unknown, path, version)


def main(arguments: list[str] | None = None) -> int:
    """Begin a version and print what is left; returns 0, and exits with 2 on bad input."""
    parser = argparse.ArgumentParser(prog="tools.import_document", description=__doc__)
    parser.add_argument("document", type=Path, help="the official document, YAML")
    parser.add_argument("--version", required=True, help="specification version, such as 1.12.0")
    parser.add_argument("--into", type=Path, help="a folder to write into, for a try")
    options = parser.parse_args(arguments)
    if re.fullmatch(r"\d+\.\d+\.\d+", options.version) is None:
        parser.error(f"--version {options.version} is no release such as 1.12.0")
    if not options.document.is_file():
        parser.error(f"{options.document} is no file")
    if not any(is_newer(options.version, known) for known in SPEC_VERSIONS):
        parser.error(f"--version {options.version} is older than all that are known")
    folder = options.into or folder_of(options.version)
    for line in report(options.document, options.version, folder):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
