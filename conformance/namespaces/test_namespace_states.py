"""Checks that a change of one of several nested namespaces changes no property of the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, refused_depth
from icecheck.findings.shared_symptoms import EFFECT_MISSING, EFFECT_ON_ANOTHER
from icecheck.judging.check import generated_check
from icecheck.judging.probes import is_refusal
from icecheck.objects.arranging import require
from icecheck.objects.reading import NO_PROPERTIES, not_applicable, object_in
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ANY_OBJECT, show
from icecheck.targets.target import Namespace

Properties = Mapping[str, str]
State = Mapping[str, Properties]
"""The existing namespaces by their name in this check, with the properties set on each.

A table in a namespace is one too, without properties.
"""

_KEYS = ("icecheck.of", "icecheck.both", "icecheck.turn")
_MEMBERS = ("a", "a.b", "a.b.a", "a.c", "ab")
_TABLE = ".table"


@dataclass(frozen=True, slots=True)
class _Step:
    """A request about one namespace, with the condition under which it must have the statuses."""

    what: str
    member: str
    possible: Callable[[State], bool]
    send: Callable[[Catalog, Namespace], Reply]
    statuses: tuple[int, ...]
    due: Callable[[State], State]


def _created(member: str, properties: Properties) -> _Step:
    told = "with properties" if properties else "without properties"
    head = member.rpartition(".")[0]
    return _Step(
        f"creating {member} {told}",
        member,
        lambda state: member not in state and (not head or head in state),
        lambda catalog, path: catalog.create_namespace(path, properties),
        (200,),
        lambda state: {**state, member: dict(properties)},
    )


def _changed(member: str, updates: Properties, *removals: str) -> _Step:
    def due(state: State) -> State:
        kept = {key: each for key, each in state[member].items() if key not in removals}
        return {**state, member: {**kept, **updates}}

    names = [" and ".join(each) or "nothing" for each in (updates, removals)]
    return _Step(
        f"setting {names[0]}, and removing {names[1]}, of {member}",
        member,
        lambda state: member in state,
        lambda catalog, path: catalog.update_properties(path, updates=updates, removals=removals),
        (200,),
        due,
    )


def _without(member: str) -> Callable[[State], State]:
    return lambda state: {key: each for key, each in state.items() if key != member}


def _dropped(member: str) -> _Step:
    def empty(state: State) -> bool:
        return member in state and not any(each.startswith(f"{member}.") for each in state)

    return _Step(
        f"dropping {member}",
        member,
        empty,
        lambda catalog, path: catalog.drop_namespace(path),
        (200, 204),
        _without(member),
    )


def _with_a_table(member: str) -> _Step:
    body = bodies.create_table_body("inner", properties=dict.fromkeys(_KEYS, "a table's"))
    return _Step(
        f"creating a table in {member}",
        member,
        lambda state: member in state,
        lambda catalog, path: catalog.create_table(path, body),
        (200,),
        lambda state: {**state, f"{member}{_TABLE}": {}},
    )


def _without_the_table(member: str) -> _Step:
    table = f"{member}{_TABLE}"
    return _Step(
        f"dropping the table in {member}",
        member,
        lambda state: table in state,
        lambda catalog, path: catalog.drop_table(path, "inner"),
        (200, 204),
        _without(table),
    )


def _refused(step: _Step, status: int, possible: Callable[[State], bool]) -> _Step:
    """Return the step as one that must be refused and change nothing, under this condition."""
    what = f"the refused try of {step.what}"
    return replace(step, what=what, statuses=(status,), possible=possible, due=lambda state: state)


_ALL = dict.fromkeys(_KEYS, "unwanted")
_STEPS = (
    _created("a.b", {}),
    _created("a.c", {"icecheck.of": "a.c", "icecheck.both": "a.c"}),
    _created("ab", {"icecheck.of": "ab"}),
    _created("a.b.a", {"icecheck.of": "a.b.a", "icecheck.both": "a.b.a"}),
    _changed("a", {"icecheck.both": "a", "icecheck.turn": "1"}),
    _changed("a.b", {"icecheck.turn": "2"}),
    _refused(_created("a.c", _ALL), 409, lambda state: "a.c" in state),
    _changed("a.b", {}, "icecheck.turn"),
    _changed("a.b.a", {"icecheck.turn": "3"}, "icecheck.of"),
    _refused(_changed("a.c", _ALL, "icecheck.of"), 422, lambda state: "a.c" in state),
    _with_a_table("a.c"),
    _refused(_dropped("a.c"), 409, lambda state: "a.c.table" in state),
    _without_the_table("a.c"),
    _dropped("a.c"),
    _changed("a.b", {"icecheck.turn": "1"}),
    _changed("a", {}, *_KEYS),
    _refused(_changed("a.c", _ALL), 404, lambda state: "a.c" not in state),
    _changed("a", {"icecheck.of": "a again"}),
    _dropped("a.b.a"),
    _created("a.b.a", {}),
    _created("a.c", {}),
    _changed("a.c", {"icecheck.both": "a.c again"}, "icecheck.of"),
    _dropped("ab"),
    _dropped("a.b.a"),
    _dropped("a.b"),
    _created("a.b", {"icecheck.turn": "4"}),
)


class _Namespaces:
    """The namespaces of the check, their paths and their expected properties."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        root = given_namespace(catalog)
        head = given_namespace(catalog, {"icecheck.of": "a"}, under=root)
        name = head[-1]
        self.paths: Mapping[str, Namespace] = {
            "a": head,
            "a.b": (*head, "b"),
            "a.b.a": (*head, "b", name),  # has its grandparent's name
            "a.c": (*head, "c"),
            "ab": (*root, f"{name}b"),
        }
        self.state: State = {"a": {"icecheck.of": "a"}}
        self.made = {*self.state}
        self.taken = 0
        self.sent = 0

    def take(self, step: _Step) -> None:
        """Send a step if it is possible, and judge its namespace, after every sixth one all."""
        # What a catalog never let the run make is not the run's to change.
        gone = step.statuses == (404,)
        if not step.possible(self.state) or (gone and step.member not in self.made):
            return
        reply = step.send(self.catalog, self.paths[step.member])
        if reply.exchange.operation == "createNamespace":
            refused_depth(self.catalog, reply)
        if step.statuses == (200,) and is_refusal(reply):
            # A lawful refusal, of a depth or of a property: the next steps assume no change.
            step = _refused(step, reply.status, step.possible)
        reply.expect(*step.statuses, detail=step.what)
        self.taken += reply.ok
        before, self.state = self.state, step.due(self.state)
        self.made |= {*self.state}
        self.sent += 1
        for member in _MEMBERS if self.sent % 6 == 0 else (step.member,):
            self._expect(member, before, step)

    def _expect(self, member: str, before: State, step: _Step) -> None:
        reply = self.catalog.load_namespace_metadata(self.paths[member])
        told = f"{member}, after {step.what}"
        if member not in self.state:
            reply.expect(404, detail=told)
            return
        found = object_in(reply.expect(200, detail=told)).get("properties")
        if found is None:  # loadNamespaceMetadata.none-set judges how a namespace without any shows
            found = {}
        if not isinstance(found, dict):
            due, seen = show(ANY_OBJECT), show(found)
            raise reply.violation(NO_PROPERTIES, due, seen, detail=told, pointer="/properties")
        due_properties = {key: self.state[member].get(key) for key in _KEYS}
        was = {key: before.get(member, {}).get(key) for key in _KEYS}
        is_same = member in before and was == due_properties
        symptom = EFFECT_ON_ANOTHER.of("namespace") if is_same else EFFECT_MISSING.of("properties")
        shown = {key: found.get(key) for key in _KEYS}
        equal(shown, due_properties, symptom=symptom, detail=told)


@generated_check("states.namespaces", needs=("namespace-properties", "nested-namespaces"))
def test_a_life_of_namespaces(catalog: Catalog) -> None:
    """After every change to one of several namespaces each has just the properties set on it."""
    require(catalog, "createNamespace", "updateProperties", "dropNamespace")
    several = _Namespaces(catalog)
    for step in _STEPS:
        several.take(step)
    if not several.taken:
        raise not_applicable("the catalog refuses every one of these changes")
