"""The overlay applier, and that every action of the errata still has its target."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from icecheck.contract import Contract, Level, UnknownRef
from icecheck.contract.document import overlay_document
from icecheck.contract.overlay import OverlayTargetVanished, apply_overlay
from tests.kit.contracts import CONTRACT, of_every_version

DOCUMENT = {
    "paths": {"/a/{b}": {"get": {"parameters": [{"name": "x"}, {"name": "y"}]}}},
    "schemas": {"S": {"type": "string", "required": ["a"], "properties": {"p-q": {"type": "x"}}}},
}
OVERLAY = overlay_document("1.10.0")


def apply(**action: Any) -> dict[str, Any]:
    return apply_overlay(DOCUMENT, [{"x-id": "T1", **action}])


def test_an_update_merges_objects_and_replaces_values() -> None:
    corrected = apply(target="$.schemas.S", update={"type": ["string", "null"], "format": "f"})
    assert corrected["schemas"]["S"] == {
        "type": ["string", "null"],
        "format": "f",
        "required": ["a"],
        "properties": {"p-q": {"type": "x"}},
    }


def test_an_update_merges_deep_down() -> None:
    corrected = apply(target="$", update={"schemas": {"S": {"properties": {"r": {"type": "y"}}}}})
    assert corrected["schemas"]["S"]["properties"] == {"p-q": {"type": "x"}, "r": {"type": "y"}}


def test_an_update_appends_to_arrays() -> None:
    corrected = apply(target="$.schemas.S", update={"required": ["b", "c"]})
    assert corrected["schemas"]["S"]["required"] == ["a", "b", "c"]


def test_an_update_of_an_array_appends_an_element() -> None:
    corrected = apply(target="$.paths['/a/{b}'].get.parameters", update={"name": "z"})
    names = [p["name"] for p in corrected["paths"]["/a/{b}"]["get"]["parameters"]]
    assert names == ["x", "y", "z"]


def test_a_removal_deletes_a_member() -> None:
    corrected = apply(target="$.schemas.S.properties['p-q'].type", remove=True)
    assert corrected["schemas"]["S"]["properties"] == {"p-q": {}}


def test_a_removal_deletes_an_element() -> None:
    corrected = apply(target="$.paths['/a/{b}'].get.parameters[0]", remove=True)
    assert corrected["paths"]["/a/{b}"]["get"]["parameters"] == [{"name": "y"}]


@pytest.mark.parametrize(
    "target",
    ["$.schemas.T", "$.schemas.S.properties['p']", "$.paths['/a/{b}'].get.parameters[2]", "$.a.b"],
)
@pytest.mark.parametrize("change", [{"remove": True}, {"update": {"type": "x"}}])
def test_a_vanished_target_raises_and_names_the_action(target: str, change: dict[str, Any]) -> None:
    with pytest.raises(OverlayTargetVanished, match=r"T1: \$") as raised:
        apply(target=target, **change)
    assert target in str(raised.value)


@pytest.mark.parametrize("target", ["schemas.S", "$.schemas[*]", "$..S", "$.schemas['S"])
def test_a_target_beyond_the_subset_raises(target: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        apply(target=target, update={})


def test_the_document_itself_is_left_alone() -> None:
    before = copy.deepcopy(DOCUMENT)
    apply(target="$.schemas.S", update={"required": ["b"]})
    assert before == DOCUMENT


def test_an_update_is_not_shared_with_the_overlay() -> None:
    update = {"required": ["b"], "new": {"list": []}}
    first = apply(target="$.schemas.S", update=update)
    first["schemas"]["S"]["new"]["list"].append(1)
    assert update == {"required": ["b"], "new": {"list": []}}


@of_every_version
def test_every_action_of_the_errata_has_its_target(contract: Contract) -> None:
    assert (
        contract.corrected(("repair", "strict")) != contract.corrected(("repair",)) != contract.raw
    )


def test_a_vanished_target_of_the_errata_would_raise() -> None:
    document = json.loads(json.dumps(CONTRACT.raw))
    del document["components"]["schemas"]["PageToken"]["nullable"]
    with pytest.raises(OverlayTargetVanished, match="E01"):
        apply_overlay(document, OVERLAY["actions"])


def every_action(contract: Contract) -> list[dict[str, Any]]:
    overlay = overlay_document(contract.version)
    return [*overlay["actions"], *overlay["documentation_only"]]


@of_every_version
def test_every_action_belongs_to_a_described_erratum_and_back(contract: Contract) -> None:
    assert {action["x-id"] for action in every_action(contract)} == set(contract.errata)


@of_every_version
def test_every_action_either_updates_or_removes(contract: Contract) -> None:
    for action in every_action(contract):
        assert ("update" in action) != ("remove" in action)


@of_every_version
def test_documentation_only_actions_touch_examples_only(contract: Contract) -> None:
    for action in overlay_document(contract.version)["documentation_only"]:
        changed = set(action.get("update", {}))
        assert "example" in action["target"] or changed <= {"example", "examples"}


@of_every_version
def test_strict_errata_have_a_level_and_repairs_have_none(contract: Contract) -> None:
    for erratum in contract.errata.values():
        assert (erratum.part == "strict") == (erratum.level is not None)


def test_readings_are_should() -> None:
    levels = {e.id: e.level for e in CONTRACT.errata.values() if e.part == "strict"}
    readings = {erratum_id for erratum_id, level in levels.items() if level is Level.SHOULD}
    assert readings == {"E35", "E37", "E38", "E40"}
    assert set(levels) - readings == {"E30", "E31", "E32", "E33", "E34", "E36", "E39"}


@of_every_version
def test_no_parts_means_the_raw_document(contract: Contract) -> None:
    assert contract.corrected(()) == contract.raw


def test_an_erratum_can_be_left_out() -> None:
    schemas = CONTRACT.corrected(leave_out=["E06"])["components"]["schemas"]
    assert schemas["TableMetadata"]["properties"]["current-snapshot-id"]["type"] == "integer"


def test_an_unknown_part_or_erratum_raises() -> None:
    with pytest.raises(ValueError, match="lenient"):
        CONTRACT.corrected(("lenient",))
    with pytest.raises(UnknownRef, match="E99"):
        CONTRACT.corrected(leave_out=["E99"])


@of_every_version
def test_every_ref_of_the_corrected_documents_leads_somewhere(contract: Contract) -> None:
    for parts in ((), ("repair",), ("repair", "strict"), ("strict",)):
        document = contract.corrected(parts)
        for ref in _refs(document):
            node: Any = document
            for name in ref.removeprefix("#/").split("/"):
                node = node[name]


def _refs(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _refs(value)
    elif isinstance(node, list):
        for item in node:
            yield from _refs(item)
