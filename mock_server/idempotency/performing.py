"""Performs a request with an idempotency key once, and answers its repetitions as it was answered.

What counts is the effect, not what the client received: a rule that loses an answer, or turns it
into an error, stands around this. What was refused before it had an effect is not remembered.
"""

import hashlib
import re

import msgspec

from icecheck.mock_server.core.context import Call, Context, Operation, Outcome
from icecheck.mock_server.core.keyed_answers import KeyedAnswer
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KEY_HEADER
from icecheck.mock_server.security.vending import vended_again

FINAL_REFUSALS = frozenset({400, 404, 406, 409, 422})
"""The refusals that a repetition gets again (L2098); others may end otherwise the next time."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def performed_once(
    operation: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome:
    """Perform a request, or answer it as the first with its key; Problem 400 for another request.

    A key is the caller's own, in any spelling of its letters. Credentials are vended afresh. On a
    server that announces no lifetime, a key has no meaning.
    """
    if context.idempotency is None:
        return operation(context, state, call)
    key = call.request.headers[KEY_HEADER].lower()
    if not _UUID.fullmatch(key):
        raise problem.bad_request("Idempotency-Key has to be a UUID")
    caller = context.security.name_of(call.request.headers.get("authorization"))
    now_ms, asked = context.clock.now_ms(), digest_of(call)
    held = state.keyed.get(caller, key, now_ms)
    if held is not None:
        if held.asked != asked:
            raise problem.bad_request("This Idempotency-Key belongs to another request")
        return Outcome(state, vended_again(context, call, state, held.reply))
    outcome = _performed(operation, context, state, call)
    plain = outcome.plain or outcome.reply
    if plain.status >= 300 and plain.status not in FINAL_REFUSALS:
        return outcome
    answer = KeyedAnswer(asked, plain, now_ms + context.idempotency.milliseconds)
    remembered = outcome.state.keyed.with_answer(caller, key, answer, now_ms)
    return msgspec.structs.replace(outcome, state=outcome.state.with_keyed(remembered))


def digest_of(call: Call) -> str:
    """Return a digest of what a request asks for."""
    request = call.request
    told = f"{call.operation_id}\0{request.raw_path}\0{request.query_string}\0".encode()
    return hashlib.blake2b(told + request.body, digest_size=16).hexdigest()


def _performed(
    operation: Operation, context: Context, state: WarehouseState, call: Call
) -> Outcome:
    try:
        return operation(context, state, call)
    except Problem as refused:
        if refused.status not in FINAL_REFUSALS or refused.is_malformed:
            raise
        return Outcome(state, replies.problem_reply(refused))
