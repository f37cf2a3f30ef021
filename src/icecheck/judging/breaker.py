"""The circuit breaker: ends a run when its catalog stops answering or loses its objects.

A run that ends like this has no verdict on the catalog.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.client.session import Session
from icecheck.client.shared_setup import remove_shared
from icecheck.findings.verdict import CREDENTIALS, TARGET, Outcome, Verdict
from icecheck.judging.broken_requests import (
    ATTEMPTS_MAX,
    BrokenRequest,
    Losses,
    broken_request,
    finding_of,
)
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.targets.target import Namespace
from icecheck.wire.connection import Wire
from icecheck.wire.exchange import Step
from icecheck.wire.retry import foreign_words
from icecheck.wire.unreachable import Unreachable

_UNANSWERED_MAX = 5
_PATIENCE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 0.5
_FORGOT = "the catalog has forgotten what it had acknowledged: was it restarted without its state?"


class Breaker:
    """Judges checks and watches the target meanwhile; threads may share it.

    A check that got no usable answer is judged again when the catalog answers again. ``why`` says
    why there can be no verdict: nothing answers for half a minute, five checks in a row get no
    usable answer, the run's credentials have ended, something else answers in the catalog's place,
    or the catalog has lost the namespace that the breaker watches. The last case does not count if
    a check's own requests remove that namespace. ``ended_by`` is the check whose finding is that
    nothing answers any more since one of its requests.
    """

    def __init__(
        self,
        session: Session,
        sleep: Callable[[float], object] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.why = ""
        self.ended_by = ""
        self.stopped = session.connection.stopped
        self._session = session
        self._sleep = sleep or self.stopped.wait
        self._now = now
        self._looking = threading.Lock()
        self._witness = Catalog(session, session.probe_id("witness"))
        self._witnessed: Namespace | None = None
        self._shown = False
        self._blocked_by: tuple[str, ...] = (TARGET,)
        self._unanswered = 0
        self._disturbed = 0
        self._gone = False
        self._breaking: set[str] = set()
        self._first_broken: dict[BrokenRequest, str] = {}

    def judge(self, check: Check, resources: Mapping[str, Any] | None = None) -> Verdict:
        """Judge a check; after trouble, find out first whether it comes from the catalog."""
        disturbed = self._disturbed
        verdict = self._judge(check, resources)
        if broken_request(verdict) is None:
            return self._looked_at(check, resources, verdict, disturbed)
        self._breaking.add(check.id)
        try:
            return self._looked_at(check, resources, verdict, disturbed)
        finally:
            self._breaking.discard(check.id)

    def _looked_at(
        self,
        check: Check,
        resources: Mapping[str, Any] | None,
        verdict: Verdict,
        disturbed: int,
    ) -> Verdict:
        """Return the verdict on a check, once it is clear where trouble comes from."""
        if verdict.outcome in {Outcome.PASS, Outcome.SKIP}:
            self._unanswered = 0
            return verdict
        with self._looking:
            if self.why:
                # The trouble that another check found applies to this one too.
                return self._without_an_answer(verdict)
            if verdict.unanswered:
                verdict = self._after_silence(check, resources, verdict)
            elif disturbed != self._disturbed:
                verdict = self._judge(check, resources, attempt=2)
            elif self._foreign_answer():
                verdict = self._after_foreign_answers(check, resources, verdict)
            self._unanswered = self._unanswered + 1 if verdict.unanswered else 0
            if self._unanswered >= _UNANSWERED_MAX:
                many = f"{_UNANSWERED_MAX} checks in a row got no usable answer"
                self.why = self.why or f"{many}: {verdict.summary}"
            if verdict.outcome in {Outcome.PASS, Outcome.SKIP} or self.why:
                return verdict
            return self._after_loss(check, resources, verdict) if self._is_lost() else verdict

    def watch(self) -> None:
        """Make a namespace that no check uses, to see whether the catalog keeps it."""
        if self._session.target.read_only or not self._witness.claims("loadNamespaceMetadata"):
            return
        try:
            self._witnessed = given_namespace(self._witness)
            self._shown = self._witness.load_namespace_metadata(self._witnessed).ok
        except (Blocked, NotOffered, Unreachable):
            self._witnessed = None

    def leave(self) -> None:
        """Look for the watched namespace for the last time, and remove it."""
        if not self.why and self._is_lost():
            self.why = _FORGOT
        self._witness.undo()

    def _judge(
        self, check: Check, resources: Mapping[str, Any] | None, attempt: int = 1
    ) -> Verdict:
        return judge(check, Catalog(self._session, check.id, attempt), resources)

    def _after_silence(
        self, check: Check, resources: Mapping[str, Any] | None, verdict: Verdict
    ) -> Verdict:
        """Wait for the catalog, and judge the check again with new names.

        A request that breaks the connection each time, while others are answered, is a finding.
        """
        losses, forgot = Losses(verdict), False
        for attempt in range(2, ATTEMPTS_MAX + 1):
            if losses.are_too_many:
                break
            if CREDENTIALS in verdict.blocked_by:
                self.why, self._blocked_by = verdict.summary, verdict.blocked_by
            elif not self._answers_again(times=attempt):
                self.why = f"the catalog gives no usable answer any more: {verdict.summary}"
                self._session.connection.stop_retrying()
                if losses.broken is not None and self._gone and len(self._breaking) == 1:
                    self.ended_by = check.id
                    return self._broken(check, verdict, losses.broken)
            elif self._is_lost():
                # The server may have been started anew after this request has ended it.
                self._watch_anew()
                forgot = True
            if self.why or not verdict.unanswered:
                break
            verdict = self._judge(check, resources, attempt)
            losses.note(verdict)
        if losses.broken is not None and verdict.unanswered and not self.why:
            return self._broken(check, verdict, losses.broken)
        if forgot and not self.why:
            self.why = _FORGOT
            return self._without_an_answer(verdict)
        return verdict

    def _broken(self, check: Check, verdict: Verdict, broken: BrokenRequest) -> Verdict:
        """Return the finding of a request that breaks the connection.

        Where an arrange step breaks it that has a finding already, the check is blocked by that.
        """
        first = self._first_broken.setdefault(broken, check.id)
        if first != check.id:
            return replace(verdict, blocked_by=(first,))
        return finding_of(verdict, broken)

    def _watch_anew(self) -> None:
        """Go on with a catalog that has lost what was made so far."""
        remove_shared(self._session)
        self.watch()
        self._disturbed += 1

    def _after_foreign_answers(
        self, check: Check, resources: Mapping[str, Any] | None, verdict: Verdict
    ) -> Verdict:
        """Wait until the catalog itself answers, and judge the check again with new names.

        Findings from answers of something else are dropped.
        """
        waited, pause = 0.0, _FIRST_PAUSE_SECONDS
        self._session.strangers = True
        while words := self._foreign_answer():
            if waited >= _PATIENCE_SECONDS:
                self.why = (
                    f"since {check.id} something else answers in the catalog's place: {words}, "
                    "also to what was answered before"
                )
                return self._without_an_answer(verdict)
            self._sleep(pause)
            waited += pause
            pause *= 2
        self._disturbed += 1
        return self._judge(check, resources, attempt=2)

    def _after_loss(
        self, check: Check, resources: Mapping[str, Any] | None, verdict: Verdict
    ) -> Verdict:
        """Find out whether the check removes the watched namespace, or the catalog loses it."""
        remove_shared(self._session)
        self.watch()
        self._judge(check, resources, attempt=ATTEMPTS_MAX + 1)
        if self._is_lost():
            self._watch_anew()
            return verdict
        self.why = _FORGOT
        return self._without_an_answer(verdict)

    def _answers_again(self, times: int = 1) -> bool:
        """Ask for the config until there are so many answers, or until the time limit.

        Return whether there were. Each attempt at a check is preceded by another number of
        answers: a fault that hits each n-th request must not hit the same request each time.
        """
        target, connection = self._session.target, self._session.connection
        url = f"{target.base_url}{target.config_path}"
        asking = Wire("", 1, Step.PROBE, "getConfig", "GET", url, {}, None)
        started, waited, pause = self._now(), 0.0, _FIRST_PAUSE_SECONDS
        while True:
            try:
                for _ in range(times):
                    connection.send(asking, self._session.record)
            except Unreachable as lost:
                self._gone = lost.broke is None and "ConnectError" in str(lost)
                if max(waited, self._now() - started) >= _PATIENCE_SECONDS:
                    return False
                self._sleep(pause)
                waited += pause
                pause *= 2
            else:
                return True

    def _foreign_answer(self) -> str:
        """Return in words what answers in the catalog's place, or "" if the catalog does.

        Both a load that worked before and a list must be answered so.
        """
        if self._witnessed is None or not self._shown:
            return ""
        try:
            words = self._words(self._load(self._witnessed))
            if not words or not self._witness.claims("listNamespaces"):
                return words
            return words and self._words(self._witness.list_namespaces())
        except Unreachable:
            return ""

    def _words(self, reply: Reply) -> str:
        """Return in words the answer in the catalog's place, redacted before it is cut."""
        redactor = self._session.connection.redactor
        return redactor.text(foreign_words(redactor.exchange(reply.exchange)))

    def _is_lost(self) -> bool:
        """Return whether the watched namespace is missing."""
        if self._witnessed is None:
            return False
        try:
            return self._is_gone(self._witnessed)
        except Unreachable:
            pass
        try:
            return self._answers_again() and self._is_gone(self._witnessed)
        except Unreachable:
            return False

    def _is_gone(self, namespace: Namespace) -> bool:
        return self._load(namespace).status == 404

    def _load(self, namespace: Namespace) -> Reply:
        return self._witness.load_namespace_metadata(namespace)

    def _without_an_answer(self, verdict: Verdict) -> Verdict:
        """Return a blocked verdict without findings: they may not be the catalog's."""
        return replace(
            verdict,
            outcome=Outcome.BLOCKED,
            summary=self.why,
            findings=(),
            blocked_by=self._blocked_by,
            evidence=(),
        )
