"""Sends drawn requests, judges the answers, and shrinks the bodies of those that fail."""

import itertools
import time
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.conformance.fuzzed.drawing import case_of_body, drawn
from icecheck.conformance.fuzzed.impossible import Impossible, why_impossible
from icecheck.conformance.fuzzed.replaying import body_in, to_json
from icecheck.conformance.fuzzed.shrinking import smaller
from icecheck.conformance.generated.confinement import confine
from icecheck.conformance.generated.flaws import Flaw, flaw_of_body
from icecheck.conformance.generated.generated_requests import (
    is_carried_out,
    ledger_unexpected,
    no_server_error,
    refused,
    send,
)
from icecheck.conformance.generated.generation import GeneratedCase
from icecheck.conformance.generated.live_values import without_placeholders
from icecheck.conformance.generated.sites import Site, expect_unchanged, visible
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.findings.verdict import CauseKey, SkipKind
from icecheck.replies.expect import NotOffered, Reply, Violation
from icecheck.wire.exchange import Step
from icecheck.wire.unreachable import begun_anew

ATTEMPTS_MAX = 3
"""So often a request is sent to which the answer is lost: one that breaks the connection each time
is a finding (verdict-rules 24)."""
SHRINKING_REQUESTS_MAX = 60
"""So many requests make one failing body smaller, those that make a new place included."""
_SHOWING_REQUESTS_MAX = 6
SMALLEST = "in its smallest form: with any part of its body left out it does not fail so"
SMALLER = f"made smaller with {SHRINKING_REQUESTS_MAX} requests: perhaps more could be left out"
_FINDINGS_MAX = 3
_UNSUPPORTED = 501


def judge_fuzzed(catalog: Catalog, operation_id: str) -> None:
    """Judge the answers to the requests of replay files, and to as many drawn ones as are wanted.

    Raises Violation with a finding for each way of failing, about the smallest such request.
    """
    wanted, seconds = catalog.target.fuzz_cases, catalog.target.fuzz_seconds
    replays = catalog.session.replays
    kept = replays.steps_of(catalog.check_id)
    for steps in kept:
        _judge_again(catalog, operation_id, steps)
    if replays.alone or (kept and wanted == 0):
        return
    if wanted == 0:
        raise NotOffered("no requests are drawn: --fuzz-cases 0", SkipKind.NOT_APPLICABLE)
    found: dict[CauseKey, Violation] = {}
    end = None if seconds is None else time.monotonic() + seconds
    with catalog.sender.marking(Step.PROBE):
        fuzz = _Fuzz(catalog, operation_id)
        cases = drawn(operation_id, catalog.contract, catalog.session.seed)
        for case in itertools.islice(cases, wanted):
            fuzz, wrong = _judged(fuzz, case)
            if wrong is not None and wrong.finding.key not in found:
                found[wrong.finding.key] = fuzz.shrunk(case, wrong)
            if len(found) == _FINDINGS_MAX or (end is not None and time.monotonic() > end):
                break
    if found:
        first, *others = (violation.finding for violation in found.values())
        raise Violation.again(first, *others)


def _judged(fuzz: "_Fuzz", case: GeneratedCase) -> tuple["_Fuzz", Violation | None]:
    """Send a request, again at a place of its own where the answer is lost; return what is wrong.

    Raises Unreachable if the answer to this request is lost each time.
    """
    here = fuzz

    def elsewhere() -> bool:
        nonlocal here
        here = here.elsewhere()
        return True

    wrong = begun_anew(lambda: here.judged(case), ATTEMPTS_MAX, elsewhere)
    return here, wrong


def _judge_again(catalog: Catalog, operation_id: str, steps: str) -> None:
    """Send the request of a replay file; raise Violation if its answer is wrong.

    Raises NotOffered if the request has no form that may be sent to this catalog.
    """
    body = body_in(operation_id, steps)
    case = case_of_body(catalog.contract.operations[operation_id], catalog.contract, body)
    with catalog.sender.marking(Step.DO):
        fuzz = _Fuzz(catalog, operation_id, fresh=True)
        before = len(catalog.exchanges)
        wrong = fuzz.judged(case)
    if wrong is not None:
        raise Violation.again(wrong.finding, steps=steps)
    if not any(each.operation == operation_id for each in catalog.exchanges[before:]):
        why = f"the {operation_id} request of the replay file cannot be sent to this catalog"
        raise NotOffered(why, SkipKind.NOT_APPLICABLE)


class _Fuzz:
    """The drawn requests of one operation: where they go, and what was there before each."""

    def __init__(self, catalog: Catalog, operation_id: str, *, fresh: bool = False) -> None:
        self._catalog = catalog
        self._operation = catalog.contract.operations[operation_id]
        self._site = Site(catalog, operation_id, fresh=fresh)
        self._seen: tuple[Any, Any] | None = None

    def elsewhere(self) -> "_Fuzz":
        """Return the requests of the same operation, with objects of their own."""
        return _Fuzz(self._catalog, self._operation.id, fresh=True)

    def judged(self, case: GeneratedCase, *, looks: bool = True) -> Violation | None:
        """Send a request and return what is wrong with it, if it ``looks`` with its effect too."""
        catalog, operation_id = self._catalog, self._operation.id
        place = self._site.place()
        request = confine(case, place)
        if request is None or not is_carried_out(catalog, request):
            return None
        if looks and (self._seen is None or self._seen[0] != (place.namespace, place.table)):
            shown = visible(catalog, operation_id, place)
            self._seen = (place.namespace, place.table), shown
        metadata = self._site.metadata
        why = None if case.flaw else why_impossible(operation_id, request.body, metadata)
        reply = send(catalog, request)
        if reply.ok:
            ledger_unexpected(catalog, case, reply)
            self._site.note_success(reply)
            self._seen = None
        if wrong := _wrong(reply, case, why):
            return wrong
        if (
            looks
            and 400 <= reply.status < 500
            and self._seen is not None
            and self._seen[1] is not None
        ):
            return self._left(reply, place, self._seen[1])
        return None

    def _left(self, reply: Reply, place: Any, before: Any) -> Violation | None:
        """Return that a refused request has changed something, if it has."""
        try:
            expect_unchanged(self._catalog, self._operation.id, place, before)
        except Violation as changed:
            self._seen = None
            ordinal, detail = reply.exchange.ordinal, f"after a refused {self._operation.id}"
            return Violation.again(changed.finding, exchange=ordinal, detail=detail)
        return None

    def shrunk(self, case: GeneratedCase, wrong: Violation) -> Violation:
        """Return the finding of the smallest body that fails in the same way.

        That is sent once more, at a place of its own. A failure that does not repeat there is
        reported as it was first seen.
        """
        catalog, key = self._catalog, wrong.finding.key
        looks = wrong.finding.symptom == CHANGED_ALTHOUGH_REFUSED
        limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX - _SHOWING_REQUESTS_MAX

        def fails(body: Any) -> bool:
            candidate = replace(case, body=body)
            if case.flaw is Flaw.UNUSABLE and self._flaw_of(body) is not Flaw.UNUSABLE:
                return False
            again = self.judged(candidate, looks=looks)
            return again is not None and again.finding.key == key

        def affordable() -> bool:
            return len(catalog.exchanges) < limit

        body = smaller(case.body, fails, affordable) if case.has_body else case.body
        form = SMALLEST if affordable() else SMALLER
        since = catalog.sender.ordinal
        with catalog.sender.marking(Step.DO):
            alone = self.elsewhere()
            again = alone.judged(replace(case, body=body), looks=looks)
        if again is None or again.finding.key != key:
            return wrong
        steps = to_json(self._operation.id, body)
        detail = f"{again.finding.detail}, {form}"
        return Violation.again(again.finding, detail=detail, steps=steps, since=since)

    def _flaw_of(self, body: Any) -> Flaw:
        told = without_placeholders(body)
        return flaw_of_body(self._operation, self._catalog.contract, told)


def _wrong(reply: Reply, case: GeneratedCase, why: Impossible | None) -> Violation | None:
    """Return what is wrong with an answer; ``why`` a request that is allowed must be refused."""
    if reply.status == _UNSUPPORTED:  # it may also ask for what this catalog does not support
        return None
    if why is not None:
        description = f"{case.description}: {why.why}"
        return refused(reply, replace(case, description=description), why.accepted)
    expectation = refused if case.flaw is Flaw.UNUSABLE else no_server_error
    return expectation(reply, case)
