"""Judges what passes, one exchange after the other, beside the clients that wait for nothing."""

from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
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
_CREDENTIALS = ("authorization", "original-authorization", "proxy-authorization")
_WITHIN_METADATA = "/metadata/"


class Watch:
    """Takes exchanges in the order in which they end, and judges them in a thread of its own.

    ``record`` gets each one without its secrets. What was found is complete after ``end``:
    ``observed`` is passive check id -> what was seen, ``older`` the same of metadata that was there
    before the proxy. ``server_errors`` counts operation and status, ``not_judged`` what was too
    long or of no operation, ``statuses`` has those of each operation.
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
        self.observed: dict[str, Observed] = {}
        self.older: dict[str, Observed] = {}
        self.lint = lint
        self.latencies_ms: defaultdict[str, list[float]] = defaultdict(list)
        self.statuses: defaultdict[str, set[int]] = defaultdict(set)
        self.server_errors: Counter[tuple[str, int]] = Counter()
        self.not_judged: Counter[str] = Counter()
        self.server_header: str | None = None
        self.passed = 0
        self._origin = str(origin_of(target.base_url))
        self._schemas = schema_judge(contract)
        self._known = KnownObjects()
        self._redactor = redactor
        self._record = record
        self._failure: BaseException | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="icecheck-proxy")

    def take(self, passed: Passed) -> None:
        """Take in an exchange; it is judged later, after those that were taken in before."""
        self._thread.submit(self._judge, passed).add_done_callback(self._ended)

    def end(self) -> None:
        """Judge what is still waiting. Raises what went wrong while something was judged."""
        self._thread.shutdown()
        if self._failure is not None:
            raise self._failure

    def _ended(self, judged: "Future[None]") -> None:
        """Remember the first failure: the clients go on, and the end tells."""
        self._failure = self._failure or judged.exception()

    def _judge(self, passed: Passed) -> None:
        self.passed += 1
        request = passed.request
        self._learn_secrets(request)
        routed = self.routes.find(request.method, request.raw_path)
        exchange = self._redactor.exchange(self._exchange(passed, routed))
        self._record(exchange)
        operation = exchange.operation or ""
        if passed.status is not None:
            self.latencies_ms[operation].append(passed.elapsed_ms)
            self.server_header = self.server_header or exchange.header("server")
        if routed is None or exchange.status is None or passed.body is None:
            self.not_judged[_why_not(passed, routed)] += 1
            return
        self.statuses[operation].add(exchange.status)
        if exchange.status >= 500:
            self.server_errors[operation, exchange.status] += 1
        if routed.operation.facts.action is Action.CONFIGURE and exchange.status == 200:
            self._learn_config(request.query_string, passed.body)
        if self.lint is not None:
            told = structs.replace(request, body=exchange.request_body or b"")
            self.lint.add(operation, told, self.passed)
        self._judge_answer(exchange, routed)

    def _judge_answer(self, exchange: Exchange, routed: Routed) -> None:
        if trouble_of(exchange) is not None:
            return  # throttled, or the page of a gateway: it tells nothing of the catalog
        improper = asks_improperly(exchange, self._schemas)
        self._known.note(exchange, routed, improper=improper)
        keys = self._known.named_in(exchange, routed)
        seen: dict[str, Observed] = {}
        observe([exchange], self._schemas, seen, proper=self._known.are_proper(keys))
        made_here = self._known.were_made_here(keys, routed)
        for check_id, what in seen.items():
            if not made_here:
                what = self._without_older(check_id, what)  # noqa: PLW2901
            self.observed.setdefault(check_id, Observed()).merge(what)

    def _without_older(self, check_id: str, seen: Observed) -> Observed:
        """Return what was seen but for what is wrong with metadata, which goes to ``older``."""
        older = {k: f for k, f in seen.findings.items() if f.pointer.startswith(_WITHIN_METADATA)}
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

    def _learn_secrets(self, request: Request) -> None:
        """Hide what clients show: no value of theirs is known beforehand."""
        for name in _CREDENTIALS:
            if (value := request.headers.get(name)) is not None:
                self._redactor.add(value.partition(" ")[2] or value)

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
    return "of no operation of the document" if routed is None else "the body could not be kept"
