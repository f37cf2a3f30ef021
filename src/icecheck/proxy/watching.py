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
from icecheck.judging.observed import Observed
from icecheck.judging.passive import asks_improperly, observe
from icecheck.mock_server.linting.client_lint import ClientLint
from icecheck.mock_server.protocol.wire import Request
from icecheck.proxy.forwarding import Passed
from icecheck.proxy.known_objects import KnownObjects
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
_OF_WHOLE_ANSWERS = "http.json-"
# What a gateway may answer in the catalog's place, in words of its own.
_AT_THE_GATE = frozenset({401, 403, 406, 407})
_SUITE_ERROR = "an error of icecheck"


class Watch:
    """Takes exchanges in the order in which they end, and judges them in a thread of its own.

    ``record`` gets each one without its secrets. What was found is complete after ``end``:
    ``observed`` is prefix -> passive check id -> what was seen, ``older`` the same of what was
    there before the proxy, without a prefix. ``server_errors`` counts operation and status,
    ``not_judged`` what was not judged, by its reason; ``statuses`` has those of each prefix and
    operation.
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
        self.observed: defaultdict[str, dict[str, Observed]] = defaultdict(dict)
        self.older: dict[str, Observed] = {}
        self.lint = lint
        self.latencies_ms: defaultdict[str, list[float]] = defaultdict(list)
        self.statuses: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self.failures: list[str] = []
        self.server_errors: Counter[tuple[str, int]] = Counter()
        self.not_judged: Counter[str] = Counter()
        self.server_header: str | None = None
        self.passed = 0
        self._origin = str(origin_of(target.base_url))
        self._schemas = schema_judge(contract)
        self._known = KnownObjects()
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
        shown = hidden(self._exchange(passed, routed), found, self._redactor.marks)
        exchange = self._redactor.exchange(shown)
        self._record(exchange)
        operation = exchange.operation or ""
        if passed.status is not None:
            self.latencies_ms[operation].append(passed.elapsed_ms)
            self.server_header = self.server_header or exchange.header("server")
        if routed is None or exchange.status is None or passed.body is None:
            self.not_judged[_why_not(passed, routed)] += 1
            if routed is not None and passed.status is None:
                self._known.note(exchange, routed, improper=self._is_improper(exchange))
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

    def _is_improper(self, exchange: Exchange) -> bool:
        return asks_improperly(exchange, self._schemas)

    def _judge_answer(self, exchange: Exchange, routed: Routed) -> None:
        self._known.note(exchange, routed, improper=self._is_improper(exchange))
        if trouble_of(exchange) is not None:
            return  # throttled, or the page of a gateway: it tells nothing of the catalog
        if exchange.status in _AT_THE_GATE and not exchange.claims_json:
            return
        keys = self._known.named_in(exchange, routed)
        seen: dict[str, Observed] = {}
        observe([exchange], self._schemas, seen, proper=self._known.are_proper(keys))
        made_here = self._known.were_made_here(keys, routed)
        mine = self.observed[routed.prefix]
        for check_id, what in seen.items():
            if not made_here:
                what = self._without_older(check_id, what)  # noqa: PLW2901
            mine.setdefault(check_id, Observed()).merge(what)

    def _without_older(self, check_id: str, seen: Observed) -> Observed:
        """Return what was seen but for what others may have written, which goes to ``older``."""
        whole = check_id.startswith(_OF_WHOLE_ANSWERS)
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
    return "of no operation of the document" if routed is None else "too large, or too much at once"
