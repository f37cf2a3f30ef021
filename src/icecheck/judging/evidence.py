"""Evidence: the redacted and shortened exchanges of a verdict, with curl lines."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

from icecheck.client.catalog import Catalog
from icecheck.client.shared_objects import SETUP_ORDINAL
from icecheck.findings.never_worked import NOT_SERVED_STATUSES
from icecheck.findings.verdict import Evidence, Finding
from icecheck.targets.secret_marks import without_marks
from icecheck.wire.exchange import Exchange, Step, as_curl
from icecheck.wire.redaction import Redactor

_BODY_CHARACTERS_MAX = 4000
_EXCHANGES_MAX = 12
_HISTORY_EXCHANGES_MAX = 40


def evidence_of(
    catalog: Catalog, ordinal: int | None, *, since: int = 0, until: int = 0
) -> tuple[Evidence, ...]:
    """Return the exchange that shows a finding, after those that led up to it.

    These are the setup that the check used, its arrange steps, and the last ones of the others. If
    all that matters was sent ``since`` an ordinal, they are those since then, and what made objects
    before that they name; what was sent at the same time goes on ``until`` an ordinal. Without an
    ordinal the finding is shown by the last exchange that was not cleaning up.
    """
    beside = {Step.UNDO, Step.PROBE}
    told = [e for e in catalog.exchanges if e.step not in beside or e.ordinal == ordinal]
    if ordinal is not None:
        told = [e for e in told if e.ordinal <= max(ordinal, until)]
    setup = list(_setup_exchanges(catalog, told))
    if since:
        shown = [e for e in told if e.ordinal >= since][-_HISTORY_EXCHANGES_MAX:]
        given = [e for e in told if e.ordinal < since and e.step is Step.GIVEN]
        names = _names_in(catalog, shown)
        shown = [*(e for e in (*setup, *given) if _names_in(catalog, [e]) <= names), *shown]
    else:
        arranged = [e for e in told[:-_EXCHANGES_MAX] if e.step is Step.GIVEN]
        shown = [*setup, *arranged, *told[-_EXCHANGES_MAX:]]
    return tuple(evidence_from(e, as_curl(e)) for e in map(catalog.sender.shown, shown))


def evidence_for(catalog: Catalog, finding: Finding) -> tuple[Evidence, ...]:
    """Return the exchange that shows a finding, and what belongs to it."""
    return evidence_of(catalog, finding.exchange, since=finding.since, until=finding.until)


def evidence_of_refusals(catalog: Catalog, operations: Collection[str]) -> tuple[Evidence, ...]:
    """Return the evidence of a passed check whose operation was perhaps not served, or nothing.

    Whether a 404 was a refusal or the word of a router is known at the end of the run only.
    """
    perhaps = [
        exchange.ordinal
        for exchange in catalog.exchanges
        if exchange.operation in operations
        and exchange.status in NOT_SERVED_STATUSES
        and exchange.step is not Step.UNDO
    ]
    return evidence_of(catalog, perhaps[-1]) if perhaps else ()


def _names_in(catalog: Catalog, exchanges: Iterable[Exchange]) -> set[str]:
    """Return the names of the run's objects that are in the requests of exchanges."""
    name = re.compile(rf"\w*{re.escape(catalog.session.owner)}\w*")
    return {
        found
        for each in exchanges
        for found in name.findall(
            f"{unquote(each.url)} {(each.request_body or b'').decode(errors='replace')}"
        )
    }


def evidence_up_to(catalog: Catalog, last: Exchange) -> tuple[Evidence, ...]:
    """Return the evidence of a check that ends with this exchange, whoever sent that."""
    if last in catalog.exchanges:
        return evidence_of(catalog, last.ordinal)
    shown = catalog.session.connection.redactor.exchange(replace(last, ordinal=SETUP_ORDINAL))
    return (evidence_from(shown, as_curl(shown)),)


def _setup_exchanges(catalog: Catalog, told: Sequence[Exchange]) -> Iterator[Exchange]:
    """Yield the exchanges that made what a check used and has not made itself."""
    owner, root = catalog.session.owner, catalog.session.root_made
    # All names of the run contain its token, so that one in the requests means the root was used.
    if root is not None and any(owner in f"{e.url} {e.request_body!r}" for e in told):
        yield replace(root, ordinal=SETUP_ORDINAL)
    for made in catalog.borrowed.setup:
        yield replace(made, ordinal=SETUP_ORDINAL)


def finding_without_secrets(finding: Finding, redactor: Redactor) -> Finding:
    """Return a finding without secrets: its quotations of an answer may contain vended ones."""
    return replace(
        finding,
        symptom=replace(finding.symptom, qualifier=_lasting(finding.symptom.qualifier, redactor)),
        expected=redactor.value(finding.pointer, finding.expected),
        actual=redactor.value(finding.pointer, finding.actual),
        pointer="/".join(map(redactor.name, finding.pointer.split("/"))),
        detail=redactor.text(finding.detail),
        made=redactor.text(finding.made),
        shown=redactor.text(finding.shown),
    )


def _lasting(qualifier: str, redactor: Redactor) -> str:
    """Return the qualifier of a symptom without secrets and their marks: its slug is an id."""
    return without_marks(redactor.text(qualifier))


def evidence_from(exchange: Exchange, curl: str) -> Evidence:
    """Return the part of a redacted exchange that a reader needs."""
    return Evidence(
        ordinal=exchange.ordinal,
        step=str(exchange.step),
        operation=exchange.operation,
        request=f"{exchange.method} {exchange.url}",
        status=exchange.status,
        request_body=_text(exchange.request_body or b""),
        response_headers="\n".join(f"{k}: {v}" for k, v in exchange.response_headers),
        response_body=_text(exchange.response_body) if exchange.error is None else exchange.error,
        curl=curl,
    )


def _text(body: bytes) -> str:
    text = body.decode(errors="replace")
    if len(text) <= _BODY_CHARACTERS_MAX:
        return text
    return f"{text[:_BODY_CHARACTERS_MAX]}… ({len(text)} characters)"
