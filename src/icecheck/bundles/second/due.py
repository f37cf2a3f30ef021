"""Which recorded answers are judged passively at all: what is the suite's own doing is not."""

import re
from dataclasses import dataclass, field
from typing import Protocol

from icecheck.bundles.second.reading import read_body
from icecheck.contract import Contract
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.wire.exchange import Exchange, Step

_JSON_DUE = frozenset({200, 404, 406, 409, 422})
_FAILURES = frozenset(range(500, 600))
_REFUSING = frozenset({401, 403, 419})
# Web servers refuse an encoded slash, percent sign, backslash, semicolon or control character by
# themselves, but for the one that joins the levels of a namespace.
_REFUSED_ON_THE_WAY = re.compile(r"%(2f|25|5c|3b|7f|0[0-9a-f]|1[0-9a-e])")


class Requests(Protocol):
    """Says whether a request's body is one that the document allows."""

    def request_fits(self, operation_id: str, value: object) -> bool:
        """Return whether the body of a request fits."""


@dataclass(slots=True)
class Due:
    """Decides for the exchanges of one check, in their order, which are judged by their shape.

    An answer that the check's verdict names as the wrong one is none; nor is one after something
    wrong was accepted, which is given back as it was sent.
    """

    check: str
    verdict: Verdict | None
    _proper: bool = True
    _ordinals: set[int] = field(default_factory=set)
    _statuses: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.verdict is None:
            return
        for finding in self.verdict.findings:
            if finding.answered is not None:
                self._ordinals |= {finding.exchange} if finding.exchange is not None else set()
                self._statuses |= {finding.answered} if finding.answered >= 500 else set()
        if self.verdict.outcome is Outcome.BLOCKED:
            self._statuses |= {e.status or 0 for e in self.verdict.evidence} & _FAILURES

    def concerns(self, exchange: Exchange, contract: Contract) -> bool:
        """Return whether an exchange is an operation's own, answered by the catalog."""
        if exchange.status is None or exchange.operation is None:
            return False
        if contract.operations[exchange.operation].method != exchange.method:
            return False
        return not _was_stopped(exchange)

    def is_judged(self, exchange: Exchange, *, proper: bool) -> bool:
        """Return whether the answer's shape is judged; call it once for each, in their order."""
        blamed = exchange.ordinal in self._ordinals or exchange.status in self._statuses
        judged = self._proper and not blamed and exchange.step is not Step.UNDO
        if exchange.status == 200 and (blamed or not proper):
            self._proper = False
        return judged


def asks_properly(exchange: Exchange, requests: Requests) -> bool:
    """Return whether the body of a request is one that the document allows."""
    if exchange.request_body is None or exchange.operation in {None, "getToken"}:
        return True
    value = read_body(exchange.request_body).value
    if isinstance(value, dict):  # Java clients write null for a member that they leave out
        value = {name: each for name, each in value.items() if each is not None}
    return requests.request_fits(str(exchange.operation), value)


def says_json(exchange: Exchange) -> bool:
    """Return whether an answer says that its body is JSON, and has one."""
    media = (exchange.header("content-type") or "").partition(";")[0].strip().lower()
    is_json = media == "application/json" or media.endswith("+json")
    return is_json and bool(exchange.response_body)


def is_json_due(exchange: Exchange) -> bool:
    """Return whether an answer must be JSON, and no page or text of something before the catalog.

    400 may be text, and 5xx come from gateways. What refuses the caller may be a firewall that
    dislikes an escape in a name, or the body of the request.
    """
    media = (exchange.header("content-type") or "").lower()
    page = media.startswith("text/html") and bool(exchange.response_body)
    if exchange.status == 403 and exchange.request_body and page:
        return False
    if exchange.status in _REFUSING:
        return "%" not in _names_in(exchange).replace("%1f", "")
    if exchange.operation == "getToken" and exchange.status == 400:
        return True
    return exchange.status in _JSON_DUE


def _was_stopped(exchange: Exchange) -> bool:
    """Return whether a server before the catalog has refused a name, in a form of its own."""
    status = exchange.status or 0
    refused = 400 <= status < 500 or status == 501
    names = _names_in(exchange).partition("?")[0]
    if not refused or not _REFUSED_ON_THE_WAY.search(names):
        return False
    if exchange.method == "HEAD" and not exchange.response_body:
        return False
    value = read_body(exchange.response_body).value
    said = value if isinstance(value, dict) else {}
    return not ("code" in said or isinstance(said.get("error"), dict))


def _names_in(exchange: Exchange) -> str:
    return exchange.url.lower().partition("/namespaces/")[2]
