"""Runs races: several clients of one check at the same time, each on its own connection."""

import itertools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.sender import content_of
from icecheck.client.session import Session
from icecheck.histories.history import Answer, Deed, Event
from icecheck.ownership.effects import Effect, effect_of
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace
from icecheck.wire.connection import Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.retry import trouble_of
from icecheck.wire.unreachable import Unreachable

_START_SECONDS_MAX = 60.0
# Long enough for another thread of a busy machine to send a request.
_PAUSE_OF_WATCHERS_SECONDS = 0.005
# A client that was told to wait cannot know whether its request was applied.
_UNRELIABLE_REFUSALS = frozenset({408, 429})


@dataclass(frozen=True, slots=True)
class Move:
    """One request of a racer, as data: the same run sends the same bytes however it ends.

    ``deeds`` are what the request does if it is accepted, ``besides`` what it perhaps does as well
    if it is not refused; ``missed`` is what it shows if it is answered 404. ``reads`` makes it a
    look instead: it returns what the answer shows, a 404 included, or nothing where the answer
    cannot be relied on. ``words`` tell a reader what it is.
    """

    operation_id: str
    names: Mapping[str, str | Namespace] = field(default_factory=dict)
    body: Any = NO_BODY
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    deeds: tuple[Deed, ...] = ()
    besides: tuple[Deed, ...] = ()
    missed: tuple[Deed, ...] = ()
    reads: Callable[[Reply], tuple[Deed, ...]] | None = None
    words: str = ""


@dataclass(slots=True)
class _Sent:
    """A move in progress: the request, and its answer."""

    racer: str
    move: Move
    wire: Wire
    effect: Effect
    attempts: list[Exchange] = field(default_factory=list)
    answered: Exchange | None = None
    invoked_ns: int = 0
    answered_ns: int | None = None

    @property
    def answer(self) -> Answer:
        status = 0 if self.answered is None else self.answered.status or 0
        if 200 <= status < 300:
            return Answer.OK
        if 400 <= status < 500 and status not in _UNRELIABLE_REFUSALS:
            return Answer.REFUSED
        return Answer.UNKNOWN

    @property
    def tried_before(self) -> int:
        """How many earlier tries may have had their effect all the same."""
        troubles = map(trouble_of, self.attempts[:-1])
        return sum(each is not None and each.may_be_applied for each in troubles)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where racers wait for each other: most begin together, and watchers when these have begun."""

    together: threading.Barrier
    begun: threading.Event

    def of_racers(self) -> None:
        """Wait until all that begin together are here."""
        self.together.wait(_START_SECONDS_MAX)
        self.begun.set()

    def of_watchers(self) -> None:
        """Wait until those that begin together have begun."""
        self.begun.wait(_START_SECONDS_MAX)


def race(
    catalog: Catalog, racers: Mapping[str, Sequence[Move]], *, watching: Collection[str] = ()
) -> tuple[Event, ...]:
    """Run the moves of all racers concurrently; return what happened, racer by racer.

    Each racer makes its moves one after another and stops where it gets no usable answer: that
    outcome is unknown, as is a 5xx. An earlier try of a request that was repeated is an event of
    its own, with an unknown outcome. Racers in ``watching`` begin when all others have begun and
    pause before each move: however threads are scheduled, they do not end before the others.
    Objects that may be created are entered in the ledger beforehand, and leave it only if every
    racer that asked for them was refused. Exchanges are recorded afterwards in the order of the
    racers, not of the clock; those of requests that others beat are marked as ``raced``.
    """
    for move in itertools.chain.from_iterable(racers.values()):
        catalog.sender.refuse_to_write(move.operation_id)
    scripts = _prepared(catalog, racers)
    everything = [sent for script in scripts for sent in script]
    fresh = [entry for sent in everything for entry in catalog.sender.enter(sent.effect)]
    watches = [racer in watching for racer in racers]
    start = _Start(threading.Barrier(watches.count(False)), threading.Event())
    try:
        with ThreadPoolExecutor(len(scripts)) as pool:
            running = [
                pool.submit(_run, catalog.session, script, start, watches=each)
                for script, each in zip(scripts, watches, strict=True)
            ]
    finally:
        asked = [sent for sent in everything if sent.invoked_ns]
        # A refusal may quote what the winner was given, and be recorded before it.
        for told in itertools.chain.from_iterable(sent.attempts for sent in asked):
            catalog.session.connection.redactor.learn(told.response_body)
        for sent in asked:
            raced = _is_beaten(sent, asked)
            for exchange in sent.attempts:
                catalog.sender.record(replace(exchange, raced=raced))
        _settle(catalog, asked, fresh)
    for each in running:
        each.result()  # raises the error of a thread, Unreachable aside
    return tuple(event for sent in asked for event in _events(catalog, sent))


def _prepared(catalog: Catalog, racers: Mapping[str, Sequence[Move]]) -> list[list[_Sent]]:
    ordinals = itertools.count(catalog.sender.ordinal)
    scripts = []
    for racer, moves in racers.items():
        script = []
        for move in moves:
            wire = _wire(catalog, move, next(ordinals))
            operation = catalog.session.contract.operations[move.operation_id]
            effect = effect_of(operation, move.names, wire.body)
            script.append(_Sent(racer, move, wire, effect))
        scripts.append(script)
    return scripts


def _wire(catalog: Catalog, move: Move, ordinal: int) -> Wire:
    operation = catalog.session.contract.operations[move.operation_id]
    body = catalog.sender.fitted(move.operation_id, move.names, move.body, ordinal)
    path = catalog.session.offer.path(operation.path, move.names)
    query = f"?{urlencode(move.query)}" if move.query else ""
    return Wire(
        check=catalog.check_id,
        ordinal=ordinal,
        step=Step.DO,
        operation=move.operation_id,
        method=operation.method,
        url=catalog.target.base_url + path + query,
        headers=move.headers,
        body=content_of(body),
    )


def _run(session: Session, script: Sequence[_Sent], start: _Start, *, watches: bool) -> None:
    if watches:
        start.of_watchers()
    else:
        start.of_racers()
    for sent in script:
        if watches:
            time.sleep(_PAUSE_OF_WATCHERS_SECONDS)
        sent.invoked_ns = time.monotonic_ns()
        try:
            sent.answered = session.connection.send(sent.wire, sent.attempts.append)
        except Unreachable:
            return
        sent.answered_ns = time.monotonic_ns()


def _settle(catalog: Catalog, asked: Sequence[_Sent], fresh: Sequence[Entry]) -> None:
    """Correct the ledger: remove objects that nobody can have made, or that surely are gone."""
    may_exist = {
        entry
        for sent in asked
        if sent.answer is not Answer.REFUSED
        for entry in sent.effect.creates
    }
    for entry in fresh:
        if entry not in may_exist:
            catalog.ledger.forget(entry, deleted=False)
    for sent in asked:
        if sent.answer is Answer.OK:
            for entry in sent.effect.removes:
                if entry not in may_exist:
                    catalog.ledger.forget(entry, deleted=True)


def _is_beaten(sent: _Sent, asked: Sequence[_Sent]) -> bool:
    """Return whether a request was refused or failed, and one of another racer succeeded.

    Of a repeated one nothing is told: an earlier try may have had its effect.
    """
    others = (each for each in asked if each.racer != sent.racer and each.move.reads is None)
    changes = sent.move.reads is None and len(sent.attempts) == 1
    return (
        changes
        and sent.answer is not Answer.OK
        and any(each.answer is Answer.OK for each in others)
    )


def _events(catalog: Catalog, sent: _Sent) -> Iterator[Event]:
    move, answered = sent.move, sent.answered
    status = "no answer" if answered is None else str(answered.status)
    told = Event(
        process=sent.racer,
        invoked_ns=sent.invoked_ns,
        answered_ns=sent.answered_ns,
        answer=sent.answer,
        deeds=move.deeds,
        label=f"{move.words or move.operation_id}, {status}",
        exchange=sent.wire.ordinal,
    )
    if move.reads is not None:
        shown: tuple[Deed, ...] = ()
        if answered is not None:
            shown = move.reads(Reply(answered, catalog.session.schemas, catalog.handed_out))
        yield replace(told, answer=Answer.OK if shown else Answer.UNKNOWN, deeds=shown)
        return
    unknown = replace(told, answered_ns=None, answer=Answer.UNKNOWN)
    yield from [unknown] * sent.tried_before
    yield told
    if move.besides and sent.answer is not Answer.REFUSED:
        yield replace(unknown, deeds=move.besides)
    if move.missed and answered is not None and answered.status == HTTPStatus.NOT_FOUND:
        yield replace(told, answer=Answer.OK, deeds=move.missed)
