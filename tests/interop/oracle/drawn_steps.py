"""Generated requests: creations, commits, and commits that create."""

from tests.interop.oracle.answer import Json
from tests.interop.oracle.choices import Choices
from tests.interop.oracle.drawn_schemas import Drawing
from tests.interop.oracle.drawn_updates import LOCATION, NEW_UUID, PROPERTIES, WEIGHTS, Updates
from tests.interop.oracle.known import UUID_OF_TABLE, Known
from tests.interop.oracle.step import Step

__all__ = ["WEIGHTS", "commit", "creating_commit", "creation", "step"]

UPDATES_MAX = 4


def step(choices: Choices, table: Json | None, staged: Json | None) -> Step:
    """The next request to a table, or to the name of one that does not exist (yet)."""
    if table is not None:
        return Step(False, commit(choices, table))
    if choices.seldom(2 if staged else 5):
        return Step(False, creating_commit(choices, staged))
    return Step(True, creation(choices))


def creation(choices: Choices) -> Json:
    """The body of createTable."""
    version = choices.one([2, 3, 1])
    first_id = choices.one([1, 0, 10])
    drawing = Drawing(choices, version, first_id)
    schema = drawing.schema()
    body: Json = {"name": "t", "schema": schema}
    if properties := _properties(choices, version):
        body["properties"] = properties
    if choices.seldom(2):
        body["partition-spec"] = drawing.spec(schema, [], 999)
    if choices.seldom(2):
        body["write-order"] = drawing.order(schema)
    if choices.seldom(3):
        body["location"] = choices.mostly([LOCATION, f"{LOCATION}/"], ["", "/"], 10)
    if choices.seldom(3):
        for member in ("partition-spec", "write-order", "location", "properties"):
            body.setdefault(member, None)
        body["stage-create"] = None if choices.seldom(30) else False
    if choices.seldom(5):
        body["stage-create"] = True
    return {**choices.damaged(body), "name": "t"} if choices.seldom(40) else body


def _properties(choices: Choices, version: int) -> Json:
    properties = {} if version == 2 and choices.seldom(3) else {"format-version": str(version)}
    if choices.seldom(16):
        properties["format-version"] = choices.one(["4", "0", "x", "02"])
    for key in choices.some(list(PROPERTIES), 2) if choices.seldom(3) else []:
        if key != "format-version":
            properties[key] = choices.mostly(PROPERTIES[key][:1], PROPERTIES[key], 4)
    return properties


def commit(choices: Choices, table: Json) -> Json:
    """The body of updateTable for a table that exists."""
    known = Known.of(table)
    requirements = [_assertion(choices, known) for _ in range(_few(choices))]
    updates = Updates(choices, known)
    size = choices.number(1, UPDATES_MAX)
    return {"requirements": requirements, "updates": [updates.any() for _ in range(size)]}


def creating_commit(choices: Choices, staged: Json | None) -> Json:
    """The body of updateTable for a table that does not exist: what a client makes of a staged one.

    Without a staged table, or once in a while, everything in it is drawn.
    """
    requirements: list[Json] = [{"type": "assert-create"}]
    if choices.seldom(10):
        requirements.append(_assertion(choices, Known()))
    if choices.seldom(30):
        requirements = []
    known = Known()
    updates = Updates(choices, known)
    body = _from_staged(staged) if staged and not choices.seldom(6) else _drawn(updates, known)
    if choices.seldom(6):
        del body[choices.number(0, len(body) - 1)]
    more = [updates.any() for _ in range(choices.number(0, UPDATES_MAX))]
    return {"requirements": requirements, "updates": [*body, *more]}


def _from_staged(staged: Json) -> list[Json]:
    return [
        {"action": "assign-uuid", "uuid": NEW_UUID},
        {"action": "upgrade-format-version", "format-version": staged["format-version"]},
        {"action": "add-schema", "schema": staged["schemas"][0],
         "last-column-id": staged["last-column-id"]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": staged["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": LOCATION},
        {"action": "set-properties", "updates": staged["properties"]},
    ]  # fmt: skip


def _drawn(updates: Updates, known: Known) -> list[Json]:
    known.format_version = 2
    drawn = []
    for action in ("assign-uuid", "upgrade-format-version", "add-schema", "set-current-schema",
                   "add-spec", "set-default-spec", "add-sort-order", "set-default-sort-order",
                   "set-location", "set-properties"):  # fmt: skip
        members = updates.of(action)
        if action.startswith("set-") and len(members) == 1:
            (name,) = members
            members = {name: -1} if name.endswith("-id") else members
        drawn.append({"action": action, **members})
        if action == "set-current-schema" and known.schemas:
            known.current_schema_id = known.schema_ids()[-1]
    return drawn


def _few(choices: Choices) -> int:
    return choices.one([0, 0, 1, 1, 2])


def _assertion(choices: Choices, known: Known) -> Json:
    kind = choices.mostly(
        ["assert-table-uuid", "assert-ref-snapshot-id", "assert-last-assigned-field-id",
         "assert-current-schema-id", "assert-last-assigned-partition-id",
         "assert-default-spec-id", "assert-default-sort-order-id"],
        ["assert-create", "assert-view-uuid", "no-such-assertion"],
        16,
    )  # fmt: skip
    right = {
        "assert-last-assigned-field-id": known.last_column_id,
        "assert-current-schema-id": known.current_schema_id,
        "assert-last-assigned-partition-id": known.last_partition_id,
        "assert-default-spec-id": known.default_spec_id,
        "assert-default-sort-order-id": known.default_order_id,
    }
    body: Json = {"type": kind}
    if kind in right:
        body[kind.removeprefix("assert-")] = choices.mostly([right[kind]], [-1, 0, 3], 8)
    elif kind in {"assert-table-uuid", "assert-view-uuid"}:
        body["uuid"] = choices.mostly([UUID_OF_TABLE, "$UUID"], [NEW_UUID, ""], 8)
    elif kind == "assert-ref-snapshot-id":
        name = choices.mostly(sorted(known.refs), ["main", "nope"], 4)
        at = known.refs.get(name, {}).get("snapshot-id")
        body |= {"ref": name, "snapshot-id": choices.mostly([at], [None, 1, 2], 8)}
    if len(body) > 1 and choices.seldom(40):
        return choices.damaged(body)
    return body
