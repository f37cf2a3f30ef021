"""Asks every operation that finds an object by its name, and judges whether it is found."""

from collections import Counter
from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.objects.requests_by_name import ENDING, FINDING
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.progress import Progress
from icecheck.scenarios.model.world import Thing, World

_DONE = (200, 202, 204)
_TURNS = 4
"""In so many turns of a name each operation is asked once."""
_FIRST = 2
"""The turn that comes first: renames then come in the turns of most operations."""
_NO_UUID = "00000000-0000-4000-8000-000000000000"


class Routes:
    """The operations that find tables, or views, and the names under which they are asked.

    ``refusing`` are the operations that answer 404 under a name that was never used, ``answering``
    those that find the first object. Only these are judged: other checks judge the rest. Every
    fourth one is asked, the others when the name's next turns come: most steps come several times.
    ``uuid`` is that of the object seen last, which commits assert.
    """

    def __init__(self, progress: Progress, kind: str, names: Sequence[Thing]) -> None:
        self.catalog: Catalog = progress.catalog
        self.progress = progress
        self.kind = kind
        self.names = names
        self.finding = [name for name in FINDING[kind] if self.catalog.claims(name)]
        ending = [name for name in ENDING[kind] if self.catalog.claims(name)]
        unused = names[0]
        self.uuid = _NO_UUID
        self.refusing = [
            each for each in (*self.finding, *ending) if self._ask(each, unused).status == 404
        ]
        self.answering: list[str] = []
        self.turns: Counter[Thing] = Counter()

    def _ask(self, operation_id: str, thing: Thing) -> Reply:
        ask = FINDING[self.kind].get(operation_id) or ENDING[self.kind][operation_id]
        return ask(self.catalog, (thing.namespace, thing.name), self.uuid)

    def look(self, world: World, thing: Thing) -> World:
        """Judge every operation under the name of a thing, or under the names in a namespace.

        A thing of another kind is judged by its name: no operation may find an object of this kind
        there unless there is one.
        """
        for name in self.names:
            if thing.path in (name.path, name.namespace):
                self._judge(world, name)
        return world

    def _judge(self, world: World, name: Thing) -> None:
        held = world.held.get(name)
        if held is not None:
            self.uuid = str(held.due.get(f"{self.kind}-uuid", self.uuid))
        if held is not None and not self.answering:
            self.answering = [each for each in self.finding if self._ask(each, name).ok]
            return
        due: tuple[int, ...] = (404,) if held is None else _DONE
        if held is None and name in world.once_staged:
            # Under a staged table's name, the requirement of a commit may be what fails (L1049).
            due = (404, 409)
        last = self.progress.doing[-1] if self.progress.doing else "nothing"
        asked = self.refusing if held is None else self.answering
        self.turns[name] += 1
        for operation_id in asked[(self.turns[name] + _FIRST) % _TURNS :: _TURNS]:
            detail = f"under {self.progress.label(name.path)}, after {last}"
            self._ask(operation_id, name).expect(*due, detail=detail)
