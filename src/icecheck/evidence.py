"""The exchanges that travel with a verdict: redacted, shortened, with a curl line."""

from icecheck.client import Catalog
from icecheck.exchange import Exchange, Step, as_curl
from icecheck.verdict import Evidence

__all__ = ["evidence_from", "evidence_of"]

_BODY_CHARACTERS_MAX = 4000
_EXCHANGES_MAX = 4


def evidence_of(catalog: Catalog, ordinal: int | None) -> tuple[Evidence, ...]:
    """Return the exchange that shows a finding, after what led up to it (the last ones).

    Without an ordinal: the last exchange that was not cleaning up.
    """
    told = [e for e in catalog.exchanges if e.step is not Step.UNDO]
    if ordinal is not None:
        told = [e for e in told if e.ordinal <= ordinal]
    redactor = catalog.session.connection.redactor
    return tuple(evidence_from(redactor.exchange(e), as_curl(e)) for e in told[-_EXCHANGES_MAX:])


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
