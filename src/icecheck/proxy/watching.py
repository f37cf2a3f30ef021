"""Judges what passes, one exchange after the other, beside the clients that wait for nothing."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from icecheck.contract import Action, Contract
from icecheck.judging.envelopes import parsed
from icecheck.judging.observed import Observed
from icecheck.judging.passive import asks_improperly, observe
from icecheck.mock_server.linting.client_lint import ClientLint
from icecheck.mock_server.protocol.wire import Request
from icecheck.proxy.addresses import leading_past
from icecheck.proxy.forwarding import Passed
from icecheck.proxy.known_metadata import KnownMetadata
from icecheck.proxy.routes import Routed, Routes
from icecheck.proxy.unknown_secrets import hidden
from icecheck.replies.schema import schema_judge
from icecheck.targets.addresses import origin_of
from icecheck.targets.target import Target
from icecheck.wire.answers import UnusableAnswer, decoded_body
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import read_json
from icecheck.wire.redaction import Redactor
from icecheck.wire.retry import trouble_of

CHECK = "proxy"
"""What the exchanges of a proxy are recorded under, in the place of the id of a check."""
WAITING_BYTES_MAX = 128 << 20
"""How much may wait to be judged; what comes then is recorded without bodies, and not judged."""
# What clients have written, and a catalog gives back: with its place, or in all of an answer.
_OF_CLIENTS = ("/metadata/", "/properties/")
_OF_TEXTS, _ENCODING, _OF_READINGS = "http.json-", "http.json-in-utf-8", ".reading"
_CONTENT = (b'"metadata"', b'"properties"')
# What a gateway may answer in the catalog's place, in words of its own.
_AT_THE_GATE = frozenset({401, 403, 406, 407, *range(500, 600)}) - {501}
_SUITE_ERROR = "an error of icecheck"
_UNDUE = "of a request that the document does not allow"
UNKNOWN = "of no operation of the document"
"""Why an exchange was not judged whose path and method are none of the document's."""

Place = tuple[str, str, int]
"""A prefix, an operation, and a status."""


class Watch:
    """Takes exchanges in the order in which they end, and judges them in a thread of its own.

    ``record`` gets each one without its secrets. What was found is complete after ``end``:
    ``observed`` is place -> passive check id -> what was seen, ``older`` the same of what others
    may have written, without a place. ``server_errors`` counts operation and status, ``not_judged``
    what was not judged, by its reason; ``statuses`` has those of each prefix and operation.
    ``past`` are addresses in answers, but for configs, by which clients leave the proxy;
    ``failures`` are errors of the suite itself.
    """

    def __init__(
        self,
        target: Target,
        contract: Contract,
        redactor: Redactor,
        record: Callable[[Exchange], object],
        lint: ClientLint | None = None,
    ) -> None:
        self.routes = Routes(contract, target)
        self.observed: defaultdict[Place, dict[str, Observed]] = defaultdict(dict)
        self.older: dict[str, Observed] = {}
        self.lint = lint
        self.latencies_ms: defaultdict[str, list[float]] = defaultdict(list)
        self.statuses: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self.failures: list[str] = []
        self.server_errors: Counter[tuple[str, int]] = Counter()
        self.not_judged: Counter[str] = Counter()
        self.server_header: str | None = None
        self.passed = 0
        self.past: dict[str, None] = {}
        self._origin = str(origin_of(target.base_url))
        self._schemas = schema_judge(contract)
        self._known = KnownMetadata()
        self._redactor = redactor
        self._record = record
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="icecheck-proxy")
        self._lock = threading.Lock()
        self._waiting = Counter[str]()

    @property
    def waiting(self) -> int:
        """How many exchanges are still to be judged."""
        return self._waiting["exchanges"]

    def take(self, passed: Passed) -> None:
        """Take in an exchange; it is judged later, after those that were taken in before."""
        size = len(passed.body or b"") + len(passed.request.body)
        with self._lock:
            if self._waiting["bytes"] + size > WAITING_BYTES_MAX:
                request = structs.replace(passed.request, body=b"")
                passed, size = replace(passed, request=request, body=None), 0
            self._waiting.update(exchanges=1, bytes=size)
        self._thread.submit(self._judge, passed).add_done_callback(partial(self._ended, size))

    def end(self) -> None:
        """Judge what is still waiting."""
        self._thread.shutdown()

    def _ended(self, size: int, judged: "Future[None]") -> None:
        """Count an error of ours: one exchange that cannot be judged spoils no other."""
        with self._lock:
            self._waiting.subtract({"exchanges": 1, "bytes": size})
        if (failure := judged.exception()) is not None:
            self.not_judged[_SUITE_ERROR] += 1
            self.failures.append(f"{type(failure).__name__} at exchange {self.passed}")

    def _judge(self, passed: Passed) -> None:
        self.passed += 1
        request = passed.request
        routed = self.routes.find(request.method, request.raw_path)
        found = None if routed is None else routed.operation
        shown, secrets = hidden(self._exchange(passed, routed), found, self._redactor.marks)
        self._redactor.learn_shown(secrets)
        exchange = self._redactor.exchange(shown)
        self._record(exchange)
        self.past.update(
            dict.fromkeys(
                leading_past(passed.status, passed.headers, passed.body or b"", self._origin)
            )
        )
        operation = exchange.operation or ""
        if passed.status is not None:
            self.latencies_ms[operation].append(passed.elapsed_ms)
            self.server_header = self.server_header or exchange.header("server")
        if routed is None or exchange.status is None or passed.body is None:
            self.not_judged[_why_not(passed, routed)] += 1
            return
        self.statuses[routed.prefix, operation].add(exchange.status)
        if exchange.status >= 500:
            self.server_errors[operation, exchange.status] += 1
        if routed.operation.facts.action is Action.CONFIGURE and exchange.status == 200:
            self._learn_config(request.query_string, passed.body)
        if self.lint is not None:
            told = structs.replace(request, body=exchange.request_body or b"")
            self.lint.add(operation, told, self.passed)
        self._judge_answer(exchange, routed)

    def _judge_answer(self, exchange: Exchange, routed: Routed) -> None:
        if trouble_of(exchange) is not None or _is_of_a_gateway(exchange):
            return  # it tells nothing of the catalog
        improper = asks_improperly(exchange, self._schemas, readings=True)
        if improper and exchange.status == 200 and asks_improperly(exchange, self._schemas):
            self.not_judged[_UNDUE] += 1  # but for the form of its text
        is_known = self._known.take(exchange, routed, improper=improper)
        has_content = any(map(exchange.response_body.__contains__, _CONTENT))
        mine = self.observed[routed.prefix, routed.operation.id, exchange.status or 0]
        for check_id, what in observe([exchange], self._schemas).items():
            # What was asked for against a strict reading is given back against it.
            if not is_known or (improper and check_id.endswith(_OF_READINGS)):
                what = self._without_older(check_id, what, has_content)  # noqa: PLW2901
            mine.setdefault(check_id, Observed()).merge(what)

    def _without_older(self, check_id: str, seen: Observed, has_content: bool) -> Observed:
        """Return what was seen but for what others may have written, which goes to ``older``."""
        whole = has_content and check_id.startswith(_OF_TEXTS) and check_id != _ENCODING
        older = {
            key: finding
            for key, finding in seen.findings.items()
            if whole or finding.pointer.startswith(_OF_CLIENTS)
        }
        if not older:
            return seen
        own = {k: f for k, f in seen.findings.items() if k not in older}
        self.older.setdefault(check_id, Observed()).merge(replace(seen, findings=older))
        return replace(seen, findings=own) if own else Observed()

    def _exchange(self, passed: Passed, routed: Routed | None) -> Exchange:
        request = passed.request
        query = f"?{request.query_string}" if request.query_string else ""
        return Exchange(
            CHECK,
            self.passed,
            Step.DO,
            None if routed is None else routed.operation.id,
            request.method,
            f"{self._origin}{request.raw_path}{query}",
            tuple(request.headers.items()),
            _read(request),
            passed.status,
            passed.headers,
            passed.body or b"",
            passed.elapsed_ms,
            passed.error or None,
        )

    def _learn_config(self, query: str, body: bytes) -> None:
        try:
            config: Any = read_json(body)
        except ValueError:
            return
        if isinstance(config, dict):
            self.routes.learn(query, config)


def _read(request: Request) -> bytes | None:
    """Return the body of a request decoded, or as it came where it cannot be; None if empty."""
    try:
        body = decoded_body(request.body, request.headers.get("content-encoding") or "")
    except UnusableAnswer:
        body = request.body
    return body or None


def _why_not(passed: Passed, routed: Routed | None) -> str:
    if passed.status is None:
        return "no answer came"
    if routed is None:
        return UNKNOWN
    return (
        "in an encoding that is not read" if passed.is_coded else "too large, or too much at once"
    )


def _is_of_a_gateway(exchange: Exchange) -> bool:
    """Return whether a gateway may have answered, in words of its own: there is no error object."""
    if exchange.status not in _AT_THE_GATE:
        return False
    body = parsed(exchange.response_body) if exchange.claims_json else None
    return not (isinstance(body, dict) and isinstance(body.get("error"), dict))
