"""Judges recorded exchanges passively a second time, by the contract and two other validators."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icecheck.bundles.second.due import Due, asks_properly, is_json_due, says_json
from icecheck.bundles.second.reading import Body, read_body
from icecheck.bundles.second.validators import (
    JsonSchemaValidator,
    OpenApiCoreValidator,
    Text,
    text_of,
    verdict_of,
)
from icecheck.contract import Contract
from icecheck.contract.document import resolve
from icecheck.findings.verdict import Verdict
from icecheck.wire.exchange import Exchange

_TEXT_CHECKS = (
    "http.json-in-utf-8",
    "http.json-has-no-nan",
    "http.json-members-once",
    "http.json-numbers-fit-doubles",
)
_FLAWS = {
    "encoding": _TEXT_CHECKS[0],
    "no-number": _TEXT_CHECKS[1],
    "repeated": _TEXT_CHECKS[2],
    "range": _TEXT_CHECKS[3],
}
_IDS = {
    "schemas": "schema-id",
    "partition-specs": "spec-id",
    "sort-orders": "order-id",
    "statistics": "snapshot-id",
    "partition-statistics": "snapshot-id",
    "versions": "version-id",
}
_LOST_RACES_OF_NOBODY = frozenset({501, 502, 503, 504, 429})


@dataclass(slots=True)
class Tally:
    """How many answers a passive check was about, and the first that it fails by."""

    seen: int = 0
    failing: Exchange | None = None

    def count(self, exchange: Exchange, *, fails: bool) -> None:
        """Count one answer."""
        self.seen += 1
        if fails and self.failing is None:
            self.failing = exchange


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An exchange whose body the two validators judge differently."""

    exchange: Exchange
    openapi_core: bool
    jsonschema: bool


@dataclass(slots=True)
class SecondOpinion:
    """What the second judge found: passive check -> tally, and where its validators disagree.

    ``compared`` is the number of exchanges whose body both have judged.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    disagreements: list[Disagreement] = field(default_factory=list)
    compared: int = 0

    def of(self, check_id: str) -> Tally:
        """Return the tally of a passive check."""
        return self.tallies.setdefault(check_id, Tally())


def second_opinion(
    exchanges: Sequence[Exchange],
    verdicts: Mapping[str, Verdict],
    contract: Contract,
    unserved: Collection[tuple[str, int]] = (),
) -> SecondOpinion:
    """Judge exchanges in recorded order; ``verdicts`` are those of the checks that sent them.

    ``unserved`` are operations that are not served, with the status that they always have: names
    of errors there are none of the catalog's.
    """
    return _Second(contract, verdicts, frozenset(unserved)).judged(exchanges)


class _Second:
    """The second judge at work."""

    def __init__(
        self,
        contract: Contract,
        verdicts: Mapping[str, Verdict],
        unserved: Collection[tuple[str, int]],
    ) -> None:
        self._contract = contract
        self._verdicts = verdicts
        self._unserved = unserved
        self._schemas = JsonSchemaValidator(contract)
        self._whole = OpenApiCoreValidator(contract)
        self._opinion = SecondOpinion()
        self._strict = {
            (o.id, status): _has_strict_reading(contract, o.id, status)
            for o in contract.operations.values()
            for status, row in o.responses.items()
            if row.has_body
        }

    def judged(self, exchanges: Sequence[Exchange]) -> SecondOpinion:
        due: Due | None = None
        for exchange in exchanges:
            if due is None or due.check != exchange.check:
                due = Due(exchange.check, self._verdicts.get(exchange.check))
            if due.concerns(exchange, self._contract):
                self._judge(exchange, due)
        return self._opinion

    def _judge(self, exchange: Exchange, due: Due) -> None:
        body = read_body(exchange.response_body)
        proper = asks_properly(exchange, self._schemas)
        if due.is_judged(exchange, proper=proper):
            self._judge_shape(exchange, body, proper=proper)
            self._judge_ids(exchange, body, proper=proper)
            self._judge_loser(exchange)
            self._judge_type(exchange, body)
        self._judge_envelope(exchange, body)
        self._judge_text(exchange, body)

    def _judge_shape(self, exchange: Exchange, body: Body, *, proper: bool) -> None:
        operation_id, status = str(exchange.operation), exchange.status or 0
        row = self._contract.response(operation_id, status)
        if row is None or not row.has_body or exchange.method == "HEAD":
            return
        fits, strictly = self._compared(exchange, row.status, body)
        follows = not proper and (status < 300 or status >= 500)
        if follows and not (fits and strictly):
            return  # what was accepted malformed is given back malformed
        name = f"schema.{operation_id}.{row.status}"
        self._opinion.of(name).count(exchange, fails=not fits)
        if self._strict[operation_id, row.status]:
            self._opinion.of(f"{name}.reading").count(exchange, fails=not strictly)

    def _compared(self, exchange: Exchange, status: str, body: Body) -> tuple[bool, bool]:
        """Return what both validators say of a body, the worse of it where they disagree."""
        claims = says_json(exchange)
        if not claims and not is_json_due(exchange):
            return True, True
        if not body.is_json:
            return False, True
        operation_id = str(exchange.operation)
        said = [
            verdict_of(validator, operation_id, status, body.value)
            for validator in (self._whole, self._schemas)
        ]
        self._opinion.compared += 1
        if said[0] != said[1]:
            clean = [one == (True, True) for one in said]
            self._opinion.disagreements.append(Disagreement(exchange, *clean))
        fits, strictly = min(said)
        return fits and claims, strictly

    def _judge_ids(self, exchange: Exchange, body: Body, *, proper: bool) -> None:
        if exchange.status != 200 or b'"metadata"' not in exchange.response_body or not proper:
            return
        metadata = body.value.get("metadata") if isinstance(body.value, dict) else None
        if not isinstance(metadata, dict):
            return
        twice = _has_twice(metadata, "snapshots", "snapshot-id")
        self._opinion.of("metadata.snapshots-once").count(exchange, fails=twice)
        others = any(_has_twice(metadata, member, name) for member, name in _IDS.items())
        self._opinion.of("metadata.ids-once").count(exchange, fails=others)

    def _judge_loser(self, exchange: Exchange) -> None:
        status = exchange.status or 0
        operation = self._contract.operations[str(exchange.operation)]
        if not exchange.raced or status < 400 or status in _LOST_RACES_OF_NOBODY:
            return
        if operation.id == "updateProperties":
            return  # the document has no answer for a conflict there
        fails = status >= 500 and str(status) not in operation.responses
        self._opinion.of("race.losers-told").count(exchange, fails=fails)

    def _judge_type(self, exchange: Exchange, body: Body) -> None:
        operation_id, status = str(exchange.operation), exchange.status or 0
        names = self._contract.operations[operation_id].facts.error_types.get(str(status))
        told = _error_in(body).get("type")
        if status < 400 or not says_json(exchange) or names is None or not isinstance(told, str):
            return
        if (operation_id, status) in self._unserved:
            return
        conflict = "CommitFailedException" in names and told == "AlreadyExistsException"
        asked = read_body(exchange.request_body or b"").value
        lawful = told in names or (conflict and "assert-create" in _types_in(asked))
        self._opinion.of("error.type-names").count(exchange, fails=not lawful)

    def _judge_envelope(self, exchange: Exchange, body: Body) -> None:
        status = exchange.status or 0
        if status == 204:
            fails = bool(exchange.response_body)
            self._opinion.of("http.no-body-on-204").count(exchange, fails=fails)
        code = _error_in(body).get("code")
        told = says_json(exchange) and exchange.operation != "getToken"
        if status >= 400 and told and isinstance(code, int):
            self._opinion.of("error.code-equals-status").count(exchange, fails=code != status)

    def _judge_text(self, exchange: Exchange, body: Body) -> None:
        if not says_json(exchange):
            return
        told = exchange.response_text
        flaws = body.flaws if told is None else {_FLAWS[flaw.value] for flaw, _ in told}
        for check_id in _TEXT_CHECKS:
            self._opinion.of(check_id).count(exchange, fails=check_id in flaws)


def _has_twice(metadata: Mapping[str, Any], member: str, name: str) -> bool:
    listed = metadata.get(member)
    entries = listed if isinstance(listed, list) else []
    ids = [each.get(name) for each in entries if isinstance(each, dict)]
    return any(many > 1 for many in Counter(i for i in ids if isinstance(i, int | str)).values())


def _error_in(body: Body) -> Mapping[str, Any]:
    error = body.value.get("error") if isinstance(body.value, dict) else None
    return error if isinstance(error, dict) else {}


def _types_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value.get("type")
        for inner in value.values():
            yield from _types_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _types_in(inner)


def _has_strict_reading(contract: Contract, operation_id: str, status: str) -> bool:
    """Return whether the errata of a strict reading change the schema of a response."""
    operation = contract.operations[operation_id]
    shown = []
    for text in (Text.STRICT, Text.READINGS):
        document = text_of(contract, text)
        node = document["paths"][operation.path][operation.method.lower()]["responses"][status]
        shown.append(_unfolded(document, node, frozenset()))
    return bool(shown[0] != shown[1])


def _unfolded(document: Mapping[str, Any], node: Any, above: frozenset[str]) -> Any:
    """Return a node with its references replaced by what they name, but for circles."""
    if isinstance(node, list):
        return [_unfolded(document, each, above) for each in node]
    if not isinstance(node, dict):
        return node
    found = {name: _unfolded(document, inner, above) for name, inner in node.items()}
    reference = node.get("$ref")
    if isinstance(reference, str) and reference not in above:
        found["$ref"] = _unfolded(document, resolve(document, node), above | {reference})
    return found
