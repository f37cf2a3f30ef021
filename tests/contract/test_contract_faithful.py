"""Law 5: our document is the official one, prose and examples apart."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tools.canonical import canonical_structure, sha256_of, structural_differences
from tools.importing import with_own_prose
from tools.official import LineIndex, load_official

from icecheck.contract import SPEC_VERSIONS, Contract, document, load
from tests.contract.official_documents import official_document

CONTRACT = load("1.10.0")  # any will do where its structure is changed


@dataclass(frozen=True)
class Official:
    """An official document with the contract that was made from it."""

    path: Path
    theirs: dict[str, Any]
    index: LineIndex
    contract: Contract

    def written(self, name: str) -> Any:
        """Return a file of the contract's version, parsed."""
        return json.loads(document.version_text(self.contract.version, name))


@pytest.fixture(scope="module", params=SPEC_VERSIONS)
def official(request: pytest.FixtureRequest) -> Official:
    path = official_document(request.param)
    return Official(path, *load_official(path), load(request.param))


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_our_document_hashes_to_the_official_one(version: str) -> None:
    contract = load(version)
    assert sha256_of(contract.raw) == contract.document_sha256


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["paths"]["/v1/config"]["get"]["responses"].pop("419"),
        lambda d: d["components"]["schemas"]["ErrorModel"]["required"].remove("code"),
        lambda d: d["components"]["schemas"]["ErrorModel"]["properties"].update(description={}),
        lambda d: d["components"]["parameters"]["page-size"]["schema"].update(minimum=0),
        lambda d: d["components"]["responses"]["LoadTableResponse"].pop("headers"),
        lambda d: d["security"].reverse(),
    ],
)
def test_a_structural_change_changes_the_hash(change: Any) -> None:
    changed = json.loads(json.dumps(CONTRACT.raw))
    change(changed)
    assert sha256_of(changed) != CONTRACT.document_sha256


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["paths"]["/v1/config"]["get"].update(summary="other", description="other"),
        lambda d: d["paths"]["/v1/config"]["get"].update(tags=["other"]),
        lambda d: d["components"]["schemas"]["ErrorModel"].update(description="x", example={}),
        lambda d: d["components"].update(examples={"One": {"value": 1}}),
        lambda d: d["info"].update(title="other", description="other"),
        lambda d: d["servers"][0].update(description="other"),
    ],
)
def test_prose_and_examples_do_not_change_the_hash(change: Any) -> None:
    changed = json.loads(json.dumps(CONTRACT.raw))
    change(changed)
    assert sha256_of(changed) == CONTRACT.document_sha256


def test_members_named_like_prose_are_structure() -> None:
    schema = {
        "description": "prose",
        "properties": {
            "description": {"type": "string", "description": "prose"},
            "example": {"type": "integer"},
            "properties": {"type": "object", "title": "prose"},
        },
        "default": {"description": "data"},
    }
    assert canonical_structure(schema) == {
        "properties": {
            "description": {"type": "string"},
            "example": {"type": "integer"},
            "properties": {"type": "object"},
        },
        "default": {"description": "data"},
    }


def test_differences_are_named_by_pointer() -> None:
    left = {"paths": {"/v1": {"get": [1, 2]}}, "a": 1}
    right = {"paths": {"/v1": {"get": [1, 3]}}, "b": 1}
    assert list(structural_differences(left, right)) == [
        "/a: only on the left",
        "/b: only on the right",
        "/paths/~1v1/get/1: 2 is not 3",
    ]


def test_a_boolean_is_not_a_number_in_a_comparison() -> None:
    assert list(structural_differences({"minimum": 1}, {"minimum": True})) != []


def test_the_structure_is_the_official_one_in_full(official: Official) -> None:
    left, right = canonical_structure(official.theirs), canonical_structure(official.contract.raw)
    assert list(structural_differences(left, right)) == []


def test_the_committed_files_are_what_the_generator_writes(official: Official) -> None:
    ours = with_own_prose(official.theirs, official.written("prose.json"))
    assert ours == official.contract.raw
    written = official.written("lines.json")
    assert {pointer: tuple(lines) for pointer, lines in written.items()} == official.index.lines
    assert official.contract.document_sha256 == sha256_of(official.theirs)


def test_lines_begin_at_what_they_name(official: Official) -> None:
    source = official.path.read_text(encoding="utf-8").splitlines()
    for pointer, (first, last) in official.written("lines.json").items():
        name = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        begin = source[first - 1].strip()
        assert begin.startswith("- " if name.isdecimal() and "parameters" in pointer else name)
        assert source[last - 1].strip(), f"{pointer} ends on an empty line"


def test_no_sentence_of_the_official_document_is_in_ours(official: Official) -> None:
    theirs = {" ".join(text.split()).rstrip(".") for text in _prose(official.theirs)}
    ours = {" ".join(text.split()).rstrip(".") for text in _prose(official.contract.raw)}
    ours |= {row.text.rstrip(".") for row in official.contract.requirements.values()}
    ours |= {erratum.title.rstrip(".") for erratum in official.contract.errata.values()}
    shared = {text for text in theirs & ours if len(text.split()) > 3}
    assert shared == set()


def _prose(node: Any) -> set[str]:
    found: set[str] = set()
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"description", "summary", "title"} and isinstance(value, str):
                found.add(value)
            found |= _prose(value)
    elif isinstance(node, list):
        for item in node:
            found |= _prose(item)
    return found
