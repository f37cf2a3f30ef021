"""Defects of keys that are remembered too late, or not for long enough."""

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.keyed_answers import KeyedAnswers
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.commits.late_sight import LateSight
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.keying import FaithfulKeys, around_keys, keys_of
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KEY_HEADER

_LATE_MS = 300
_SHORT_MS = 500


def note_keys_late(registries: Registries, *operation_ids: str) -> None:
    """Note a key apart from the effect, and after it: who asks meanwhile is taken for somebody new.

    The answer goes out when the key is noted, so only a client that does not wait for it notices.
    """
    sight = LateSight(_LATE_MS)

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        seen = sight.state(faithful.context, state)
        outcome = faithful(state.with_keyed(seen.keyed), call)
        if outcome.state.keyed is seen.keyed:
            return replace(outcome, state=outcome.state.with_keyed(state.keyed))
        return sight.wrote(faithful.context, state, outcome)

    for each in operation_ids:
        around_keys(registries, each, around)


_AFTERWARDS = "A key is noted in a transaction of its own, after the effect."

declare_each(
    ("keys-noted-after-commits", "idempotency.at-once", _AFTERWARDS,
     "A commit that a proxy sends twice is made twice.",
     by(note_keys_late, "updateTable")),
    ("keys-noted-after-creations", "idempotency.at-once", _AFTERWARDS,
     "A creation that a proxy sends twice is refused, and its refusal is what is remembered.",
     by(note_keys_late, "createTable")),
    ("keys-noted-with-the-answer", "idempotency.lost-answer",
     "A key is noted once the answer has gone out: if the client has gone, it is too late.",
     "A script whose connection broke is told that the table which it drops is not there.",
     by(note_keys_late, "dropTable")),
)  # fmt: skip


@defect(
    "keys-stay-in-progress",
    breaks="idempotency.lost-answer",
    suffering="A writer whose connection broke never learns that it has committed.",
)
def _stay_in_progress(registries: Registries) -> None:
    """A key whose request comes again too early is in progress from then on, and never done."""
    sight, stuck = LateSight(_LATE_MS), set[str]()

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        key = call.request.headers[KEY_HEADER]
        if faithful.held(state, call) is None:
            return sight.wrote(faithful.context, state, faithful(state, call))
        if faithful.held(sight.state(faithful.context, state), call) is None:
            stuck.add(key)
        if key in stuck:
            raise Problem(409, "CommitFailedException", "A request with this key is in progress")
        return faithful(state, call)

    around_keys(registries, "updateTable", around)


@defect(
    "keys-expire-early",
    breaks="idempotency.kept-for-the-lifetime",
    suffering="A request that is repeated in time is carried out as a new one.",
    on=keys_of("createNamespace"),
)
def _expire_early(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Keys are forgotten in half a second, whatever the config announces."""
    held = faithful.held(state, call)
    settings = faithful.context.idempotency
    if held is None or settings is None:
        return faithful(state, call)
    age_ms = faithful.context.clock.now_ms() - (held.expires_ms - settings.milliseconds)
    return faithful(state if age_ms < _SHORT_MS else state.with_keyed(KeyedAnswers()), call)


def _announce(registries: Registries, lifetime: str) -> None:
    """Announce the lifetime of keys in other words."""
    alter_body(registries, "getConfig", lambda body: body | {"idempotency-key-lifetime": lifetime})


_START_NOT = "Clients that read the lifetime do not start."

declare_each(
    ("key-lifetime-in-words", "getConfig.idempotency-key-lifetime",
     "The lifetime of keys is written as in the server's settings.", _START_NOT,
     by(_announce, "30 minutes")),
    ("key-lifetime-is-a-number", "getConfig.idempotency-key-lifetime",
     "The lifetime of keys is a number of seconds.", _START_NOT, by(_announce, "1800")),
    ("key-lifetime-in-weeks", "getConfig.idempotency-key-lifetime-readable",
     "The lifetime of keys is announced in weeks.", "Java's client does not start.",
     by(_announce, "P1W")),
    ("key-lifetime-in-months", "getConfig.idempotency-key-lifetime-readable",
     "The lifetime of keys is announced in months and days.", "Java's client does not start.",
     by(_announce, "P1M15D")),
)  # fmt: skip
