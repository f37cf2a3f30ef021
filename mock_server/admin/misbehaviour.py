"""Routes for what goes wrong on purpose: faults, gates and defects."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from icecheck.mock_server.admin.declared import WAIT_MS, Asked, Parts, Refusal, no_such, route
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.switching import UnknownDefect
from icecheck.mock_server.serving.fault_rules import (
    PRESETS,
    SETTINGS,
    FaultRule,
    UnknownFault,
    rule_of,
)
from icecheck.mock_server.serving.faults import UnfiredFault, expect_fired
from icecheck.mock_server.serving.gates import (
    RELEASE_SECONDS,
    GateRule,
    RequestGate,
    UnknownGate,
)

_RELEASE_MS_MAX = round(RELEASE_SECONDS * 1000)


class Faults(msgspec.Struct, frozen=True):
    """All fault rules; `matched` and `fired` of each count."""

    faults: list[FaultRule]


class PresetShown(msgspec.Struct, frozen=True):
    """A fault by name, what it does, and the settings with which it begins."""

    name: str
    words: str
    settings: dict[str, Any]


class Presets(msgspec.Struct, frozen=True):
    """The faults that there are."""

    presets: list[PresetShown]


_FIELDS = {field.name: field for field in msgspec.structs.fields(FaultRule)}
NewFault = msgspec.defstruct(
    "NewFault",
    [
        ("fault", Annotated[str, Meta(extra_json_schema={"enum": [*PRESETS]})]),
        *((name, _FIELDS[name].type, _FIELDS[name].default) for name in SETTINGS),
    ],
    forbid_unknown_fields=True,
    kw_only=True,
)
NewFault.__doc__ = "A fault by its preset; a setting that is left out is as in the preset."


class HeldShown(msgspec.Struct, frozen=True):
    """A request at a gate: its number, its path, and whether it was let go and handled."""

    number: int
    path: str
    handled: bool


class GateShown(msgspec.Struct, frozen=True):
    """A gate, the requests that it holds, and those that have arrived."""

    id: str
    rule: GateRule
    arrived: list[HeldShown]


class Gates(msgspec.Struct, frozen=True):
    """All gates."""

    gates: list[GateShown]


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers of requests in the order in which they go; null: all, in that of arrival.

    The first `wait_for` requests are waited for beforehand, so long at most.
    """

    order: list[int] | None = None
    wait_for: Annotated[int, Meta(ge=0)] = 0
    timeout_ms: Annotated[int, Meta(ge=0, le=_RELEASE_MS_MAX)] = WAIT_MS


class DefectShown(msgspec.Struct, frozen=True):
    """A defect, what it breaks, and whether it is on."""

    name: str
    words: str
    on: bool


class Defects(msgspec.Struct, frozen=True):
    """Defects by name."""

    defects: list[DefectShown]


class DefectQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which defects are listed."""

    only: Literal["on", "all"] = "all"


@route("GET", "/faults", answer=Faults)
def list_faults(parts: Parts, _asked: Asked) -> Faults:
    """List the fault rules, in the order in which they are tried."""
    return Faults([*parts.faults.rules])


@route("GET", "/fault-presets", answer=Presets)
def list_fault_presets(_parts: Parts, _asked: Asked) -> Presets:
    """List the faults that there are, by name."""
    presets = PRESETS.items()
    return Presets([PresetShown(name, each.words, dict(each.settings)) for name, each in presets])


@route("POST", "/faults", body=dict[str, Any], described=NewFault, answer=FaultRule, status=201)
def add_fault(parts: Parts, asked: Asked) -> FaultRule:
    """Let something go wrong: `fault` names a preset, the rest are the settings of FaultRule."""
    settings = dict(asked.body)
    fault = settings.pop("fault", None)
    if not isinstance(fault, str):
        raise Refusal(400, f"fault: name one of {', '.join(PRESETS)}")
    try:
        return parts.faults.add(rule_of(fault, settings))
    except UnknownFault as error:
        raise Refusal(400, str(error)) from None


@route("GET", "/faults/{id}", answer=FaultRule, refusals=(404,))
def get_fault(parts: Parts, asked: Asked) -> FaultRule:
    """Show one rule; `fired` tells how often it was applied."""
    return _rule(parts, asked)


@route("DELETE", "/faults/{id}", answer=FaultRule, refusals=(404, 409))
def remove_fault(parts: Parts, asked: Asked) -> FaultRule:
    """Remove a rule, and show it; 409, and it is removed, if it is strict and never fired."""
    rule = _rule(parts, asked)
    parts.faults.remove(rule)
    if rule.strict and not rule.fired:
        raise Refusal(409, f"{rule.fault} ({rule.id}) never happened: {rule.matched} matched")
    return rule


@route("DELETE", "/faults", refusals=(409,))
def clear_faults(parts: Parts, _asked: Asked) -> None:
    """Remove every rule; 409, and they are removed, if a strict one among them never fired."""
    rules = parts.faults.rules
    parts.faults.clear()
    try:
        expect_fired(rules)
    except UnfiredFault as error:
        raise Refusal(409, str(error)) from None


@route("GET", "/gates", answer=Gates)
def list_gates(parts: Parts, _asked: Asked) -> Gates:
    """List the gates."""
    return Gates([_gate_shown(gate) for gate in parts.gates.all()])


@route("POST", "/gates", body=GateRule, answer=GateShown, status=201)
def add_gate(parts: Parts, asked: Asked) -> GateShown:
    """Hold the next requests of an operation until they are let go."""
    try:
        return _gate_shown(parts.gates.add(asked.body))
    except UnknownGate as error:
        raise Refusal(400, str(error)) from None


@route("GET", "/gates/{id}", answer=GateShown, refusals=(404,))
def get_gate(parts: Parts, asked: Asked) -> GateShown:
    """Show a gate, and the requests that have arrived."""
    return _gate_shown(_gate(parts, asked))


@route("POST", "/gates/{id}/release", body=Release, answer=GateShown, refusals=(404, 408))
def release_gate(parts: Parts, asked: Asked) -> GateShown:
    """Let requests go, each after the one before it was answered; 408 if they do not come."""
    gate, wanted = _gate(parts, asked), asked.body
    seconds = wanted.timeout_ms / 1000
    try:
        gate.wait_for(wanted.wait_for, timeout=seconds)
        gate.release(wanted.order, timeout=seconds)
    except UnknownGate as error:
        raise Refusal(400, str(error)) from None
    except TimeoutError as error:
        raise Refusal(408, str(error)) from None
    return _gate_shown(gate)


@route("DELETE", "/gates/{id}", refusals=(404,))
def remove_gate(parts: Parts, asked: Asked) -> None:
    """Remove a gate; what waits at it goes."""
    parts.gates.remove(_gate(parts, asked))


@route("GET", "/defects", query=DefectQuery, answer=Defects)
def list_defects(parts: Parts, asked: Asked) -> Defects:
    """List the defects that the server can have, or only those that are on."""
    on = parts.defects.active
    return Defects(
        [
            DefectShown(name, defect.title, name in on)
            for name, defect in defects().items()
            if asked.query.only == "all" or name in on
        ]
    )


@route("PUT", "/defects/{name}", refusals=(404,))
def switch_defect_on(parts: Parts, asked: Asked) -> None:
    """Let the server misbehave in this way from now on."""
    try:
        parts.defects.switch_on(asked.names["name"])
    except UnknownDefect as error:
        raise Refusal(404, str(error)) from None


@route("DELETE", "/defects/{name}", refusals=(404,))
def switch_defect_off(parts: Parts, asked: Asked) -> None:
    """Let the server behave in this point again."""
    try:
        parts.defects.switch_off(asked.names["name"])
    except UnknownDefect as error:
        raise Refusal(404, str(error)) from None


def _rule(parts: Parts, asked: Asked) -> FaultRule:
    rule = parts.faults.get(asked.names["id"])
    if rule is None:
        raise no_such("fault", asked.names["id"])
    return rule


def _gate(parts: Parts, asked: Asked) -> RequestGate:
    gate = parts.gates.get(asked.names["id"])
    if gate is None:
        raise no_such("gate", asked.names["id"])
    return gate


def _gate_shown(gate: RequestGate) -> GateShown:
    arrived = [HeldShown(each.number, each.path, each.is_handled) for each in gate.arrived]
    return GateShown(gate.id, gate.rule, arrived)
