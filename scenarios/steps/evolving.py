"""Steps that commit named changes to a table or a view, or to two tables together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.judging.probes import DOES_NOT
from icecheck.objects.committing import numbered_assertions, set_property
from icecheck.ownership.effects import read_body
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import MARK, Thing, World
from icecheck.scenarios.steps.changes import Metadata, Vocabulary
from icecheck.scenarios.steps.commits import sent_updates
from icecheck.scenarios.steps.step import DONE, NOT_SUPPORTED, Step, world_has
from icecheck.scenarios.steps.table_changes import TABLES
from icecheck.scenarios.steps.view_changes import VIEWS
from icecheck.targets.target import Namespace

Json = dict[str, Any]

VOCABULARIES: Mapping[str, Vocabulary] = {"table": TABLES, "view": VIEWS}
_COMMITS = {"table": "updateTable", "view": "replaceView"}


def evolve(thing: Thing, words: Sequence[str], number: int) -> Step:
    """Commit these changes to a table or a view.

    The commit must be refused if one of the words stands for what makes it fail.
    """
    vocabulary = VOCABULARIES[thing.kind]
    what = f"a commit of {' + '.join(words)}"

    def send(observer: Observer) -> Reply | None:
        body = _body(observer, thing, words, number)
        if body is None:
            return None
        names: dict[str, str | Namespace] = {"namespace": thing.namespace, thing.kind: thing.name}
        return observer.catalog.call(_COMMITS[thing.kind], names, body=body)

    step = Step(
        what,
        _COMMITS[thing.kind],
        send,
        world_has(thing),
        (200,),
        lambda world, reply: world.committed(thing, sent_updates(reply)),
        (thing,),
    )
    return _judged(step, vocabulary, words)


def _judged(step: Step, vocabulary: Vocabulary, words: Sequence[str]) -> Step:
    """Return a step that is refused if one of the words says so, and declined where it may be.

    A catalog may look at the updates before it looks at the requirements.
    """
    kept = sorted(word for word in words if word in vocabulary.changes)
    lawful = NOT_SUPPORTED if vocabulary.is_due(kept) else DOES_NOT
    if statuses := vocabulary.statuses_of(words):
        return replace(step, due=statuses, after=None, lawful=lawful)
    return replace(step, lawful=lawful, sort=" ".join((step.operation, *kept)))


def evolve_together(first: Thing, last: Thing, words: Sequence[str], number: int) -> Step:
    """Commit these changes to each of two tables in one transaction.

    What makes a commit fail is about the last one; then neither may change.
    """
    what = f"a transaction of {' + '.join(words)}"
    kept = [word for word in words if word in TABLES.changes]

    def send(observer: Observer) -> Reply | None:
        parts = [_body(observer, first, kept, number), _body(observer, last, words, number)]
        changes = [part for part in parts if part is not None]
        return observer.catalog.commit_transaction(changes) if len(changes) == len(parts) else None

    def after(world: World, reply: Reply) -> World:
        for change in read_body(reply.exchange.request_body)["table-changes"]:
            named = change["identifier"]
            thing = Thing("table", (*named["namespace"], named["name"]))
            world = world.committed(thing, change["updates"])
        return world

    step = Step(
        what,
        "commitTransaction",
        send,
        world_has(first, last),
        DONE,
        after,
        (first, last),
        relies=("transaction.every-table-changes",),
    )
    return _judged(step, TABLES, words)


def _body(observer: Observer, thing: Thing, words: Sequence[str], number: int) -> Json | None:
    """Return a commit of these changes; None if the thing is unknown, or there are no changes.

    A commit that must be refused has some change all the same, which then must not show.
    """
    vocabulary, metadata = VOCABULARIES[thing.kind], observer.metadata.get(thing)
    if metadata is None:
        return None
    updates = vocabulary.made(observer.catalog, words, metadata, number)
    failing = vocabulary.failing(words, metadata)
    if not updates and not failing:
        return None
    # That nothing is there may not be required beside what there is.
    alone = any(each["type"] == "assert-create" for each in failing)
    return {
        "identifier": thing.identifier,
        "requirements": failing if alone else _held(thing, metadata, number) + failing,
        "updates": updates or [set_property("unwanted", MARK)],
    }


def _held(thing: Thing, metadata: Metadata, number: int) -> list[Json]:
    """Return requirements that hold: that of the uuid, and for every second number all others."""
    uuid = {"type": f"assert-{thing.kind}-uuid", "uuid": metadata.get(f"{thing.kind}-uuid")}
    if thing.kind == "view" or number % 2:
        return [uuid]
    current = metadata.get("current-snapshot-id")
    main = None if current == -1 else current
    is_main = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": main}
    return [uuid, *numbered_assertions(metadata), is_main]
