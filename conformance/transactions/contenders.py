"""Races: the concurrent requests of several clients, and the judgement of their answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from icecheck.client.catalog import Catalog
from icecheck.histories.anomalies import anomalies_in, clearest
from icecheck.histories.history import Answer, Event
from icecheck.objects.moves import CLIENTS, violation_of
from icecheck.replies.expect import Reply
from icecheck.wire.retry import trouble_of

CONTENDERS = CLIENTS[:4]
"""The clients in a round: four clients form six pairs."""

_CONFLICT = (409,)
_GATEWAYS = frozenset({502, 504})
# What a request meets in a race as it does elsewhere: rights, what is not served, gateways.
_BESIDE_THE_RACE = frozenset({401, 403, 405, 406, 408, 419, 429, 501}) | _GATEWAYS

Due = Mapping[str, tuple[int, ...]]
"""Operation -> the statuses that tell one that asks for it that another client was faster."""


def rounds(catalog: Catalog, *, few: bool = False) -> range:
    """Return the rounds of a race, as many as the user has asked for; ``few``: half as many.

    Few will do where a catalog loses each round that it does not lock, or where another race of the
    same lock has all rounds.
    """
    return range((catalog.target.rounds + 1) // 2 if few else catalog.target.rounds)


def expect_fair(catalog: Catalog, history: Sequence[Event], due: Due | None = None) -> None:
    """Judge that some order of the requests explains all answers, and that losers are told so."""
    found = anomalies_in(history)
    if found:
        raise violation_of(clearest(found))
    expect_told(catalog, history, due)


def expect_told(
    catalog: Catalog, history: Sequence[Event], due: Due | None = None, *, unknown: bool = True
) -> None:
    """Judge that those who lost are told so, by a conflict or by what ``due`` has for them.

    A conflict is always a lawful refusal, because a catalog may refuse whatever overlaps. A 5xx
    leaves the outcome ``unknown``, and is judged here only if the caller says so: otherwise by a
    SHOULD (``judging.losers``). Where nobody has won, nobody is known to have lost.
    """
    answers = [*_answers(catalog, history, gateways=not unknown)]
    if not any(reply.ok for reply in answers):
        return
    for reply in answers:
        operation = catalog.contract.operations[reply.exchange.operation or ""]
        lawful = (*_CONFLICT, *(due or {}).get(operation.id, ()))
        if reply.status >= 400 and not (unknown and reply.status >= 500):
            reply.expect(*lawful, detail="other clients sent theirs at the same time")


def expect_a_winner(catalog: Catalog, history: Sequence[Event], *, gone: bool) -> None:
    """Judge that one of several clients that drop one object at once is told that it did.

    ``gone``: the object is no longer there. Conflicts alone may end a race that nobody wins.
    """
    asked = [event for event in history if event.process in CONTENDERS]
    answers = [*_answers(catalog, history)]
    if len(answers) < len(asked) or any(event.answer is not Answer.REFUSED for event in asked):
        return
    for reply in answers:
        if gone or reply.status not in _CONFLICT:
            reply.expect(204, detail="no client was told that it has dropped the object")


def _answers(
    catalog: Catalog, history: Sequence[Event], *, gateways: bool = False
) -> Iterator[Reply]:
    """Yield the contenders' answers that may be judged: of the catalog, and to the first try.

    With ``gateways`` its own 502 and 504 too, but not the pages of a gateway in front of it.
    """
    passed_over = _BESIDE_THE_RACE - (_GATEWAYS if gateways else frozenset())
    tries = Counter(exchange.ordinal for exchange in catalog.exchanges)
    asked = {event.exchange for event in history if event.process in CONTENDERS}
    for exchange in catalog.exchanges:
        first = exchange.ordinal in asked and tries[exchange.ordinal] == 1
        beside = exchange.status in passed_over or trouble_of(exchange) is not None
        if first and not beside:
            yield Reply(exchange, catalog.session.schemas, catalog.handed_out)
