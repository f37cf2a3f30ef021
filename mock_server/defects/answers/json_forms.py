"""Defects of answers as JSON text: encodings, marks, numbers and members that do not travel."""

from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _rewrite(registries: Registries, rewrite: Callable[[bytes], bytes]) -> None:
    """Change the text of every JSON answer, refusals included."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(state, call)
        except Problem as refused:
            outcome = Outcome(state, replies.problem_reply(refused))
        if not outcome.reply.body:
            return outcome
        reply = msgspec.structs.replace(outcome.reply, body=rewrite(outcome.reply.body))
        return msgspec.structs.replace(outcome, reply=reply)

    for operation_id in [*registries.operations]:
        wrap(registries, operation_id, around)


def _encoded_in(encoding: str) -> Callable[[bytes], bytes]:
    return lambda body: body.decode().encode(encoding)


def _with_member(text: bytes) -> Callable[[bytes], bytes]:
    """Return a function that adds a member, as text, to a JSON object."""
    return lambda body: body[:-1] + (b"," if len(body) > len(b"{}") else b"") + text + b"}"


for _encoding in ("utf-16", "utf-16-le", "utf-32-be"):
    declare(
        f"json-{_encoding}",
        f"Answers are encoded in {_encoding.upper()}.",
        by(_rewrite, _encoded_in(_encoding)),
        breaks="http.json-in-utf-8",
        suffering="Clients in Go and Rust can read no answer.",
    )

for _literal in ("NaN", "-Infinity"):
    declare(
        f"json-{_literal.strip('-').lower()}",
        f"A number that cannot be computed is written as {_literal}.",
        by(_rewrite, _with_member(f'"hit-ratio":{_literal}'.encode())),
        breaks="http.json-has-no-nan",
        suffering="Clients in Go and Rust can read no answer.",
    )

declare_each(
    ("json-byte-order-mark", "http.json-in-utf-8", "Answers begin with a byte order mark.",
     "Clients in Go and Rust can read no answer.",
     by(_rewrite, lambda body: b"\xef\xbb\xbf" + body)),
    ("json-members-twice", "http.json-members-once", "The members of an answer are written twice.",
     "Clients in Rust can read no answer.",
     by(_rewrite, lambda body: body[:-1] + b"," + body[1:] if len(body) > len(b"{}") else body)),
    ("json-numbers-beyond-doubles", "http.json-numbers-fit-doubles",
     "A number in the answers is larger than any double.",
     "Clients in Go and Rust can read no answer.", by(_rewrite, _with_member(b'"quota":1e999'))),
)  # fmt: skip
