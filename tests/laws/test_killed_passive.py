"""Law 2 for passive checks: each can fail on an answer that the mock gives."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from icecheck.client.catalog import Catalog
from icecheck.contract import Response
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.replies.schema import schema_judge
from icecheck.run.collect import collect
from icecheck.wire.exchange import Exchange
from tests.kill.killing import mock_session
from tests.kit.contracts import CONTRACT

OPEN_TYPE = re.compile(rb'"type":"(long|string|int|sql)"')
"""Types of columns and of a view's representations: the document lists them in prose only."""

ODD_TEXT = (b"NaN", b"1e999", b'{"b":1,"b":1}')
"""JSON values that RFC 8259 forbids, or advises against."""

ALIKE_MAX = 4
"""The number of answers of one operation and status that are spoiled: they differ little."""


def answers() -> list[Exchange]:
    """Return the faithful mock's answers to the checks."""
    with mock_session() as (_, session):
        session.exchanges.clear()
        for check in collect((Group.CHECKS,), CONTRACT):
            judge(check, Catalog(session, check.id))
        return list(session.exchanges)


def spoiled(exchange: Exchange) -> Iterator[Exchange]:
    """Yield the answer with faults that servers make."""
    if exchange.status == 204:
        yield replace(exchange, response_body=b"{}")
    if exchange.raced:
        yield replace(exchange, status=500)
    if not exchange.claims_json:
        return
    text = exchange.response_body
    for each in (b"\xef\xbb\xbf" + text, *(b'{"a":%b,' % a + text[1:] for a in ODD_TEXT)):
        yield replace(exchange, response_body=each)
    body = json.loads(text)
    wrong = [[], *({k: v for k, v in body.items() if k != member} for member in body)]
    if isinstance(error := body.get("error"), dict):
        wrong.append({"error": error | {"code": error["code"] + 1}})
        wrong.append({"error": error | {"type": "SomethingOfMyOwn"}})
    for each in wrong:
        yield replace(exchange, response_body=json.dumps(each).encode())
    if isinstance(metadata := body.get("metadata"), dict):
        twice = {k: [*v, *v] if isinstance(v, list) else v for k, v in metadata.items()}
        yield replace(exchange, response_body=json.dumps(body | {"metadata": twice}).encode())
    odd = OPEN_TYPE.sub(b'"type":"odd"', exchange.response_body)
    yield replace(exchange, response_body=odd)
    odd = exchange.response_body.replace(b'"type":"sql"', b'"type":"odd"')
    yield replace(exchange, response_body=odd)


def verdicts(exchanges: list[Exchange]) -> list[Verdict]:
    return passive_verdicts(observe(exchanges, schema_judge(CONTRACT)), CONTRACT)


def shapeless(sample: Exchange, row: Response) -> Iterator[Exchange]:
    """Yield answers of a documented status with a JSON content type and undocumented bodies."""
    status = int(row.status.replace("XX", "99"))
    method = CONTRACT.operations[row.operation_id].method
    answer = replace(sample, operation=row.operation_id, method=method, status=status)
    for body in (b"[]", b"not JSON"):
        yield replace(answer, response_body=body)


def test_every_passive_check_of_a_body_can_fail_whether_or_not_the_mock_answers_so() -> None:
    with mock_session() as (_, session):
        (sample, *_) = [e for e in session.exchanges if e.claims_json]
    contract = CONTRACT
    rows = [row for row in contract.documented_responses if row.has_body]
    judged = [row for row in rows if contract.operations[row.operation_id].method != "HEAD"]
    assert len(judged) > 200
    for row in judged:
        for answer in shapeless(sample, row):
            failed = {v.check for v in verdicts([answer]) if v.outcome is Outcome.FAIL}
            assert f"schema.{row.id}" in failed, answer.response_body


def test_every_passive_check_that_sees_an_answer_can_fail() -> None:
    told = answers()
    seen = verdicts(told)
    assert {v.outcome for v in seen} == {Outcome.PASS}
    assert len(seen) > 50
    alike: Counter[tuple[object, ...]] = Counter()
    failed: set[str] = set()
    for exchange in told:
        with_snapshots = b'"snapshot-id"' in exchange.response_body
        kind = (exchange.operation, exchange.status, with_snapshots, exchange.raced)
        alike[kind] += 1
        if alike[kind] <= ALIKE_MAX:
            wrong = verdicts(list(spoiled(exchange)))
            failed |= {v.check for v in wrong if v.outcome is Outcome.FAIL}
    assert {v.check for v in seen} - failed == set()
