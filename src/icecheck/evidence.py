"""The exchanges that travel with a verdict: redacted, shortened, with a curl line."""

from dataclasses import replace

from icecheck.client import Catalog
from icecheck.exchange import Exchange, Redactor, Step, as_curl
from icecheck.verdict import Evidence, Finding

__all__ = ["evidence_from", "evidence_of", "finding_without_secrets"]

_BODY_CHARACTERS_MAX = 4000
_EXCHANGES_MAX = 12


def evidence_of(catalog: Catalog, ordinal: int | None) -> tuple[Evidence, ...]:
    """Return the exchange that shows a finding, after what led up to it (the last ones).

    Without an ordinal: the last exchange that was not cleaning up.
    """
    told = [e for e in catalog.exchanges if e.step is not Step.UNDO]
    if ordinal is not None:
        told = [e for e in told if e.ordinal <= ordinal]
    redactor = catalog.session.connection.redactor
    shown = [redactor.exchange(e) for e in told[-_EXCHANGES_MAX:]]
    return tuple(evidence_from(e, as_curl(e)) for e in shown)


def finding_without_secrets(finding: Finding, redactor: Redactor) -> Finding:
    """Return a finding as it may be shown: what it quotes of an answer may have been vended."""
    member = finding.pointer.rpartition("/")[2]
    return replace(
        finding,
        expected=redactor.value(member, finding.expected),
        actual=redactor.value(member, finding.actual),
        detail=redactor.text(finding.detail),
    )


def evidence_from(exchange: Exchange, curl: str) -> Evidence:
    """Shorten a redacted exchange to what a reader needs."""
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
