"""Defects of single parts of a commit, and of commits by other writers."""

from collections.abc import Callable
from typing import Any, TypeGuard

from msgspec import structs

from icecheck.mock_server.core.context import Call, FileEffect, Outcome, Registries
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body, wrap
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem, bad_request

Json = dict[str, Any]

# ---- requirements and updates


@defect(
    "commit-keeps-updates-of-a-conflict",
    on="updateTable",
    breaks="commit.atomic-on-failed-requirement",
    suffering="A writer that was refused has overwritten another one.",
)
def _keeps_updates_of_a_conflict(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Updates are stored before the requirements are checked, and stay."""
    try:
        return faithful(state, call)
    except Problem as problem:
        if problem.status != 409:
            raise
        stored = faithful(state, with_members(call, requirements=[]))
        return structs.replace(stored, reply=replies.problem_reply(problem))


@defect(
    "commit-keeps-updates-before-a-refused-one",
    on="updateTable",
    breaks="commit.atomic-on-refused-update",
    suffering="Half a commit is visible.",
)
def _keeps_updates_before_a_refused_one(
    faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """Each update is stored by itself; one that fails leaves those before it."""
    effects: list[FileEffect] = []
    reply = None
    for update in sent_json(call)["updates"]:
        try:
            outcome = faithful(state, with_members(call, updates=[update]))
        except Problem as problem:
            return Outcome(state, replies.problem_reply(problem), tuple(effects))
        state, reply = outcome.state, outcome.reply
        effects += [e for e in outcome.effects if isinstance(e, FileEffect)]
    return faithful(state, call) if reply is None else Outcome(state, reply, (*effects,))


@defect(
    "commit-checks-updates-first",
    on="updateTable",
    breaks="commit.requirements-before-updates",
    suffering="Writers give up where they should have retried.",
)
def _checks_updates_first(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Updates are validated before requirements."""
    if state.table(call.namespace, call.name) is not None:
        faithful(state, with_members(call, requirements=[]))
    return faithful(state, call)


@defect(
    "commit-checks-the-result",
    on="updateTable",
    breaks="commit.requirements-against-base",
    suffering="Every schema evolution conflicts with itself.",
)
def _checks_the_result(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Requirements are checked against the table as the updates leave it."""
    outcome = faithful(state, with_members(call, requirements=[]))
    faithful(outcome.state, with_members(call, updates=[]))
    return outcome


def _with(name: str, alter: Callable[[list[Any]], list[Any]]) -> Callable[[Json], Json]:
    """Return what alters a list of a body; what is malformed is left to the faithful mock."""

    def altered(body: Json) -> Json:
        listed = body.get(name)
        return {**body, name: alter(listed)} if _are_objects(listed) else body

    return altered


def _are_objects(listed: Any) -> TypeGuard[list[Any]]:
    return isinstance(listed, list) and all(isinstance(each, dict) for each in listed)


declare_each(
    ("commit-groups-updates", "commit.updates-in-order", "Updates are applied kind by kind.",
     "What a client removed last is there again.",
     by(alter_request_body, "updateTable",
        _with("updates", lambda updates: sorted(updates, key=lambda u: str(u.get("action")))))),
    ("commit-checks-one-requirement", "commit.every-requirement-counts",
     "The first requirement decides.", "Concurrent writers overwrite each other.",
     by(alter_request_body, "updateTable",
        _with("requirements", lambda requirements: requirements[:1]))),
    ("commit-applies-one-update", "commit.several-updates",
     "Only the first update of a commit is applied.", "Most of a commit is lost.",
     by(alter_request_body, "updateTable", _with("updates", lambda updates: updates[:1]))),
    ("commit-wants-identifier", "commit.identifier-optional",
     "A commit without an identifier in its body is refused.",
     "Clients that leave out what the path says already cannot commit.",
     by(refuse_where, "updateTable", lambda _, call: "identifier" not in sent_json(call))),
    ("commit-refuses-nothing", "commit.nothing-to-do", "A commit without updates is refused.",
     "A client that found nothing to change gets an error.",
     by(refuse_where, "updateTable", lambda _, call: sent_json(call).get("updates") == [])),
)  # fmt: skip


# ---- other writers


@defect(
    "commit-asserts-nothing",
    breaks="commit.one-winner",
    suffering="Of two writers, the slower one wins and the other one's rows are gone.",
)
def _asserts_nothing(registries: Registries) -> None:
    """Requirements are parsed and then forgotten."""
    for name in registries.assertions:
        registries.assertions[name] = lambda _assertion, _metadata: None


@defect(
    "commit-forgets-other-writers",
    on=remembering(dict, wrap, "updateTable"),
    breaks="commit.independent-writers",
    suffering="Acknowledged commits are lost.",
)
def _forgets_other_writers(
    cache: dict[tuple[tuple[str, ...], str], TableEntry],
    faithful: Faithful,
    state: WarehouseState,
    call: Call,
) -> Outcome:
    """Commits start from a cached table that nothing refreshes."""
    entry = state.table(call.namespace, call.name)
    if entry is not None:
        cached = cache.setdefault((call.namespace, call.name), entry)
        state = state.with_table(call.namespace, call.name, cached)
    return faithful(state, call)


@defect(
    "commit-accepts-replays",
    on=remembering(dict, wrap, "updateTable"),
    breaks="commit.same-commit-twice",
    suffering="A writer whose answer was lost cannot tell whether it wrote once or twice.",
)
def _accepts_replays(
    seen: dict[bytes, Outcome], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """A commit seen before is answered as then, whatever its requirements say now."""
    earlier = seen.get(call.request.body)
    if earlier is not None:
        return Outcome(state, earlier.reply)
    seen[call.request.body] = outcome = faithful(state, call)
    return outcome


@defect(
    "commit-moves-main-once",
    on="updateTable",
    breaks="commit.updates-in-order",
    suffering="A transaction with two steps on one table can never be committed.",
)
def _moves_main_once(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A commit may name each branch once."""
    actions = (u for u in sent_json(call)["updates"] if u["action"] == "set-snapshot-ref")
    named = [update["ref-name"] for update in actions]
    if len(set(named)) < len(named):
        raise bad_request("A ref is set twice")
    return faithful(state, call)


@defect(
    "commit-expiry-empties-the-log",
    on=table_update("remove-snapshots"),
    breaks="commit.snapshot-log-after-removal",
    suffering="After snapshots expired, no query finds the table as it was at a time.",
)
def _expiry_empties_the_log(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """With a snapshot that is removed, the whole history of main is."""
    before = draft.metadata.snapshots
    faithful(update, draft)
    if draft.metadata.snapshots != before:
        draft.change(snapshot_log=())
