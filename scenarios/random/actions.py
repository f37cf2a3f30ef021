"""What a history does, as data: actions on labelled objects, and the steps that each can mean.

A label is the path of an object below the root of a history: ``n0`` is a namespace, ``n0.n1`` one
inside it, ``n0.x1`` a table or view. A table and a view of one label have the same name.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from icecheck.scenarios.model.world import KEPT, MARK, Thing
from icecheck.scenarios.steps import commits, tables, views
from icecheck.scenarios.steps import step as things
from icecheck.scenarios.steps.evolving import VOCABULARIES, evolve, evolve_together
from icecheck.scenarios.steps.step import Step
from icecheck.targets.target import Namespace

LOOK = "look"
"""The name of the action that reads everything."""
_NAMESPACE = re.compile(r"n[0-9](\.n[0-9])?")
_OBJECT = re.compile(r"n[0-9](\.n[0-9])?\.x[0-9]")


@dataclass(frozen=True, slots=True)
class Action:
    """The name of an action, the labels of the objects that it is about, and further values."""

    name: str
    on: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


Meaning = Callable[[Sequence[Namespace], Sequence[str]], tuple[Step, ...]]
"""Gets the paths of the objects and the values; returns the steps for different states."""


def _namespace_steps(paths: Sequence[Namespace], values: Sequence[str]) -> tuple[Step, ...]:
    [path], [mark] = paths, values
    properties = {MARK: mark, KEPT: f"{mark} too"}
    return (things.create_namespace(path, properties), things.refused_namespace(path))


def _property_steps(paths: Sequence[Namespace], values: Sequence[str]) -> tuple[Step, ...]:
    [path], (key, value, removed) = paths, values
    if key == removed:
        return (things.refused_properties(path, 422),)
    change = {key: value, removed: None}
    return (things.update_properties(path, change), things.refused_properties(path, 404))


def _drop_steps(kind: str) -> Meaning:
    def steps(paths: Sequence[Namespace], _values: Sequence[str]) -> tuple[Step, ...]:
        [path] = paths
        thing = Thing(kind, path)
        if kind == "namespace":
            full = things.refused_drop(thing, 409)
            return (things.drop_namespace(path), full, things.refused_drop(thing, 404))
        return (things.drop(thing), things.refused_drop(thing, 404))

    return steps


def _rename_steps(kind: str) -> Meaning:
    def steps(paths: Sequence[Namespace], _values: Sequence[str]) -> tuple[Step, ...]:
        source, target = Thing(kind, paths[0]), paths[1]
        if source.path == target:
            return (things.rename_to_itself(source), things.refused_rename(source, target, 404))
        taken = things.refused_rename(source, target, 409)
        return (things.rename(source, target), taken, things.refused_rename(source, target, 404))

    return steps


def _on_table(make: Callable[[Thing, Sequence[str]], tuple[Step, ...]]) -> Meaning:
    return lambda paths, values: make(Thing("table", paths[0]), values)


def _commit_steps(make: Callable[[Thing, Sequence[str]], tuple[Step, ...]]) -> Meaning:
    """Return steps that are commits to a table: without the table they are refused."""

    def steps(table: Thing, values: Sequence[str]) -> tuple[Step, ...]:
        refused = [commits.refused_commit(table, *due) for due in ((404,), (404, 409))]
        return (*make(table, values), *refused)

    return _on_table(steps)


def _create_steps(table: Thing, values: Sequence[str]) -> tuple[Step, ...]:
    refused = [tables.refused_create(table, status) for status in (409, 404)]
    return (tables.create_table(table, values[0]), *refused)


def _register_steps(paths: Sequence[Namespace], _values: Sequence[str]) -> tuple[Step, ...]:
    table, source = (Thing("table", path) for path in paths)
    return (tables.register(table, source), tables.refused_register(table, source))


def _together_steps(paths: Sequence[Namespace], values: Sequence[str]) -> tuple[Step, ...]:
    first, last = (Thing("table", path) for path in paths)
    marks = {first: values[0], last: f"{values[0]} too"}
    return (commits.commit_together(marks),) if first != last else ()


def _refused_together_steps(paths: Sequence[Namespace], _: Sequence[str]) -> tuple[Step, ...]:
    first, last = (Thing("table", path) for path in paths)
    return (commits.refused_together(first, last),) if first != last else ()


def _words(kind: str, value: str) -> tuple[str, ...]:
    """Return the names of changes in a value such as ``add-column+sort``."""
    words = tuple(value.split("+"))
    if not VOCABULARIES[kind].knows(words):
        raise ValueError(f"{value!r} names no changes of a {kind}")
    return words


def _evolve_steps(kind: str) -> Meaning:
    def steps(paths: Sequence[Namespace], values: Sequence[str]) -> tuple[Step, ...]:
        thing, number = Thing(kind, paths[0]), int(values[1])
        missing = commits.refused_commit(thing, 404)
        if kind == "view":
            missing = views.refused_replace(thing, 404)
        return (evolve(thing, _words(kind, values[0]), number), missing)

    return steps


def _evolve_together_steps(paths: Sequence[Namespace], values: Sequence[str]) -> tuple[Step, ...]:
    first, last = (Thing("table", path) for path in paths)
    words = _words("table", values[0])
    return (evolve_together(first, last, words, int(values[1])),) if first != last else ()


def _register_over_steps(paths: Sequence[Namespace], _: Sequence[str]) -> tuple[Step, ...]:
    return (tables.register_over(*(Thing("table", path) for path in paths)),)


def _on_view(make: Callable[[Thing, Sequence[str]], tuple[Step, ...]]) -> Meaning:
    return lambda paths, values: make(Thing("view", paths[0]), values)


def _query(mark: str) -> str:
    return f"SELECT {mark} AS id, '{mark}' AS data"


def _view_steps(view: Thing, values: Sequence[str]) -> tuple[Step, ...]:
    refused = [views.refused_create_view(view, status) for status in (409, 404)]
    return (views.create_view(view, _query(values[0]), values[0]), *refused)


def _query_steps(view: Thing, values: Sequence[str]) -> tuple[Step, ...]:
    return (views.replace_query(view, _query(values[0])), views.refused_replace(view, 404))


ACTIONS: Mapping[str, Meaning] = {
    "create-namespace": _namespace_steps,
    "drop-namespace": _drop_steps("namespace"),
    "update-properties": _property_steps,
    "create-table": _on_table(_create_steps),
    "stage-table": _on_table(lambda t, v: (tables.stage(t, v[0]), tables.refused_stage(t))),
    "commit-staged-table": _on_table(lambda t, _: (tables.commit_staged(t),)),
    "register-table": _register_steps,
    "register-over": _register_over_steps,
    "drop-table": _drop_steps("table"),
    "purge-table": _on_table(lambda t, _: (tables.purge(t),)),
    "rename-table": _rename_steps("table"),
    "commit-properties": _commit_steps(
        lambda t, v: (commits.commit(t, {v[0]: v[1], v[2]: None}),) if v[0] != v[2] else ()
    ),
    "commit-stale": _commit_steps(lambda t, _: (commits.refused_commit(t, 409),)),
    "add-column": _commit_steps(lambda t, v: (commits.add_column(t, f"added_{v[0]}"),)),
    "add-snapshot": _commit_steps(lambda t, v: (commits.commit_snapshot(t, int(v[0])),)),
    "set-ref": _commit_steps(
        lambda t, v: (commits.name_snapshot(t, v[0], v[1]), commits.refused_name(t, v[0], v[1]))
    ),
    "remove-ref": _commit_steps(lambda t, v: (commits.remove_name(t, v[0]),)),
    "evolve": _evolve_steps("table"),
    "evolve-view": _evolve_steps("view"),
    "evolve-together": _evolve_together_steps,
    "commit-together": _together_steps,
    "commit-together-stale": _refused_together_steps,
    "create-view": _on_view(_view_steps),
    "replace-query": _on_view(_query_steps),
    "commit-stale-to-view": _on_view(lambda v, _: (views.refused_replace(v, 409),)),
    "drop-view": _drop_steps("view"),
    "rename-view": _rename_steps("view"),
    LOOK: lambda _paths, _values: (),
}
"""Every action, with the steps that it means: the first one that the state allows is taken."""

_SHAPES: Mapping[str, tuple[int, int]] = {
    "update-properties": (1, 3),
    "commit-properties": (1, 3),
    "set-ref": (1, 2),
    "rename-table": (2, 0),
    "rename-view": (2, 0),
    "register-table": (2, 0),
    "register-over": (2, 0),
    "evolve": (1, 2),
    "evolve-view": (1, 2),
    "evolve-together": (2, 2),
    "commit-together": (2, 1),
    "commit-together-stale": (2, 0),
    LOOK: (0, 0),
}
_PHRASES: Mapping[str, str] = {
    "evolve": "commit to table",
    "evolve-view": "commit to view",
    "evolve-together": "commit in one transaction to tables",
}
"""Actions whose names are no phrase that a reader of a finding would understand."""
_WITHOUT_VALUE = ("drop-", "purge-", "commit-stale", "commit-staged")
_OF_NAMESPACES = frozenset({"create-namespace", "drop-namespace", "update-properties"})

# What is drawn, and no more: other keys may be a catalog's own (`location`), and numbers have ends.
_TEXT = re.compile(r"[A-Za-z0-9_]{1,20}")
_KEY = re.compile(r"icecheck\.[a-z.-]{1,20}")
_NUMBER = re.compile(r"[0-9]{1,4}")
_CHANGES = re.compile(r"[a-z0-9-]+(\+[a-z0-9-]+)*")
_REF = re.compile(r"(?!main$)[a-z][a-z0-9]{0,9}")
_TEXTS: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "update-properties": (_KEY, _TEXT, _KEY),
    "commit-properties": (_KEY, _TEXT, _KEY),
    "add-snapshot": (_NUMBER,),
    "evolve": (_CHANGES, _NUMBER),
    "evolve-view": (_CHANGES, _NUMBER),
    "evolve-together": (_CHANGES, _NUMBER),
    "set-ref": (_REF, re.compile("branch|tag")),
    "remove-ref": (_REF,),
}
_ONCE = frozenset({"add-column", "add-snapshot"})
"""Actions that no history has twice with one value: a catalog may refuse the second one."""


def _shape(name: str) -> tuple[int, int]:
    """Return the numbers of labels and of values that an action has."""
    return _SHAPES.get(name, (1, 0 if name.startswith(_WITHOUT_VALUE) else 1))


def steps_of(action: Action, paths: Sequence[Namespace]) -> tuple[Step, ...]:
    """Return the steps that an action means for objects at these paths."""
    steps = ACTIONS[action.name](paths, action.values)
    if action.name != "create-namespace" or not is_nested(action):
        return steps
    create, *refused = steps
    return (create.if_nested(), *refused)


def is_nested(action: Action) -> bool:
    """Return whether an action is about a namespace inside another one, or about what is in it."""
    return any(label.count("n") > 1 for label in action.on)


def labels_of(action: Action) -> tuple[tuple[str, ...], ...]:
    """Return the parts of the labels of an action."""
    return tuple(tuple(label.split(".")) for label in action.on)


def is_about_the_same(one: Action, other: Action) -> bool:
    """Return whether actions are about the same object, or one about a namespace of the other's."""
    return any(
        a == b[: len(a)] or b == a[: len(b)] for a in labels_of(one) for b in labels_of(other)
    )


def shorter_forms(action: Action) -> Iterator[Action]:
    """Yield the action with one change less, for each of the changes that it commits."""
    words = action.values[0].split("+") if action.name.startswith("evolve") else ()
    for at in range(len(words) if len(words) > 1 else 0):
        kept = "+".join((*words[:at], *words[at + 1 :]))
        yield replace(action, values=(kept, *action.values[1:]))


def operations_of(actions: Sequence[Action]) -> frozenset[str]:
    """Return the operations that actions need."""
    paths = [("a",), ("b",)]
    return frozenset(
        step.operation
        for action in actions
        for step in steps_of(action, paths[: len(action.on)])[:1]
    )


def to_json(actions: Sequence[Action]) -> str:
    """Return actions as one line of JSON for ``from_json``."""
    rows = [[each.name, [*each.on], [*each.values]] for each in actions]
    return json.dumps(rows, separators=(",", ":"))


def from_json(text: str) -> tuple[Action, ...]:
    """Return the actions in a text; raise ValueError if the text is no list of actions."""
    match json.loads(text):
        case [*rows]:
            actions = tuple(_action(row) for row in rows)
            _expect_no_repeats(actions)
            return actions
    raise ValueError("the steps of a history are a list of actions")


def _expect_no_repeats(actions: Sequence[Action]) -> None:
    added = [(each.name, each.values[0]) for each in actions if each.name in _ONCE]
    if repeated := sorted({each for each in added if added.count(each) > 1}):
        name, value = repeated[0]
        raise ValueError(f"{name} has the value {value!r} twice in one history")


def _action(row: object) -> Action:
    match row:
        case [str(name), [*on], [*values]] if name in ACTIONS:
            if _fits(name, on, values):
                return Action(name, tuple(map(str, on)), tuple(map(str, values)))
            labels, texts = _shape(name)
            kind = "namespaces (n0)" if name in _OF_NAMESPACES else "objects (n0.x0)"
            told = f"{labels} labels of {kind}, and {texts} values such as those that are drawn"
            raise ValueError(f"{row!r}: {name} has {told}")
    raise ValueError(f"no such action: {row!r}; actions are {sorted(ACTIONS)}")


def _fits(name: str, on: Sequence[object], values: Sequence[object]) -> bool:
    label = _NAMESPACE if name in _OF_NAMESPACES else _OBJECT
    patterns = [label] * len(on) + [*_TEXTS.get(name, [_TEXT] * len(values))]
    return (len(on), len(values)) == _shape(name) and all(
        isinstance(each, str) and pattern.fullmatch(each)
        for each, pattern in zip([*on, *values], patterns, strict=True)
    )


def from_words(text: str) -> Action:
    """Return the action in a text such as ``rename-table n0.x0 n1.x0``, values last."""
    name, *rest = text.split(" ")
    labels, values = _shape(name)
    if len(rest) != labels + values:
        raise ValueError(f"{text!r}: {name} has {labels} labels and {values} values")
    return Action(name, tuple(rest[:labels]), tuple(rest[labels:]))


def in_words(action: Action) -> str:
    """Return an action as a short phrase, such as ``rename table n0.x0 n1.x0``.

    Numbers in parentheses are in the properties and ids that the action sends.
    """
    values = f" ({', '.join(action.values)})" if action.values else ""
    phrase = _PHRASES.get(action.name) or action.name.replace("-", " ")
    return " ".join([phrase, *action.on]) + values
