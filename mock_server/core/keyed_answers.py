"""The answers to requests with an idempotency key (1.11.0, L2079): one immutable value."""

import msgspec

from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.protocol.wire import Reply

ANSWERS_MAX = 10_000
"""How many answers a warehouse remembers; the oldest are forgotten first."""

BODIES_BYTES_MAX = 64 * 1024 * 1024
"""How long the bodies of these answers are together, at most."""


class KeyedAnswer(msgspec.Struct, frozen=True):
    """The final answer to a request: `asked` is a digest of that, `reply` is without credentials.

    `expires_ms` is epoch milliseconds on the server's clock.
    """

    asked: str
    reply: Reply
    expires_ms: int


class KeyedAnswers(msgspec.Struct, frozen=True):
    """The remembered answers by caller and key; `with_answer` returns new ones.

    `by_age` has the same keys in the order in which their answers expire.
    """

    by_key: SortedMap[tuple[str, ...], KeyedAnswer] = SortedMap()
    by_age: SortedMap[tuple[str, ...], int] = SortedMap()
    bodies_bytes: int = 0

    def get(self, caller: str, key: str, now_ms: int) -> KeyedAnswer | None:
        """Return the answer to a caller's request with this key; None without one that lasts."""
        found = self.by_key.get((caller, key))
        return found if found is not None and now_ms < found.expires_ms else None

    def with_answer(
        self, caller: str, key: str, answer: KeyedAnswer, now_ms: int
    ) -> "KeyedAnswers":
        """Return the answers with one more, without expired ones and without too many."""
        kept = self.without(caller, key)
        more = KeyedAnswers(
            kept.by_key.with_item((caller, key), answer),
            kept.by_age.with_item(_aged(caller, key, answer), 0),
            kept.bodies_bytes + len(answer.reply.body),
        )
        while (oldest := next(more.by_age.after(), None)) is not None:
            _age, whose, which = oldest[0]
            held = more.by_key.get((whose, which))
            is_over = held is None or held.expires_ms <= now_ms
            is_much = len(more.by_key) > ANSWERS_MAX or more.bodies_bytes > BODIES_BYTES_MAX
            if not is_over and not (is_much and len(more.by_key) > 1):
                break
            more = more.without(whose, which)
        return more

    def without(self, caller: str, key: str) -> "KeyedAnswers":
        """Return the answers without that to this request, if there is one."""
        held = self.by_key.get((caller, key))
        if held is None:
            return self
        return KeyedAnswers(
            self.by_key.without((caller, key)),
            self.by_age.without(_aged(caller, key, held)),
            self.bodies_bytes - len(held.reply.body),
        )


def _aged(caller: str, key: str, answer: KeyedAnswer) -> tuple[str, ...]:
    return f"{answer.expires_ms:020d}", caller, key
