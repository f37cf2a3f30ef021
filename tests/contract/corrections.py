"""Whether payloads are valid by a document, and whether an erratum makes the difference."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from icecheck.contract import Contract


def is_valid(document: Mapping[str, Any], schema: str | Mapping[str, Any], instance: Any) -> bool:
    node = {"$ref": f"#/components/schemas/{schema}"} if isinstance(schema, str) else schema
    root = {**node, "components": {"schemas": document["components"]["schemas"]}}
    return jsonschema_rs.Draft202012Validator(root).is_valid(instance)


def expect_repaired(
    contract: Contract, erratum: str, schema: str | Mapping[str, Any], lawful: Any, unlawful: Any
) -> None:
    """Check that this erratum, and no other, lets a payload pass, and not anything."""
    repaired = contract.corrected(("repair",))
    assert not is_valid(contract.raw, schema, lawful), "the document does not have this defect"
    assert is_valid(repaired, schema, lawful)
    assert not is_valid(repaired, schema, unlawful), "the repair accepts anything"
    without = contract.corrected(("repair",), leave_out=[erratum])
    assert not is_valid(without, schema, lawful), "another erratum repairs it"


def expect_stricter(
    contract: Contract, erratum: str, schema: str | Mapping[str, Any], unlawful: Any, lawful: Any
) -> None:
    """Check that this erratum, and no other, refuses a payload, and not too much."""
    strict = contract.corrected(("repair", "strict"))
    repaired = contract.corrected(("repair",))
    assert is_valid(repaired, schema, unlawful), "the document does not have this defect"
    assert not is_valid(strict, schema, unlawful)
    assert is_valid(strict, schema, lawful), "the correction refuses too much"
    without = contract.corrected(("repair", "strict"), leave_out=[erratum])
    assert is_valid(without, schema, unlawful), "another erratum refuses it"
