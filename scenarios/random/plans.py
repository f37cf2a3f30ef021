"""Draws histories with Hypothesis as data: the same seed draws the same histories everywhere.

Each history starts with a few sequences of actions that belong together, so that all sequences are
in the histories of every seed, and goes on with whatever is drawn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from icecheck.judging.generating import drawing, generating
from icecheck.scenarios.model.world import ADDED, KEPT, MARK
from icecheck.scenarios.random.actions import Action, from_words

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_KEYS = (MARK, KEPT, ADDED)
_SPACES = ("n0", "n0", "n1")
_OBJECTS = ("n0.x0", "n0.x0", "n0.x0", "n0.x1", "n0.x1", "n1.x0")
"""What is drawn most often is most often there."""
_PAIRS = tuple((one, two) for one in _OBJECTS for two in _OBJECTS if one != two)
_OWN = "?"
"""Stands for a value that no other action of the history has."""

SEQUENCES = (
    "drop-{kind} {t}; create-{kind} {t} ?",
    (
        "drop-table {n}.x0; drop-view {n}.x0; drop-table {n}.x1; drop-view {n}.x1; "
        "drop-namespace {n}; create-namespace {n} ?"
    ),
    # Rename to the name of a dropped object, and back to the name that this freed.
    "create-{kind} {u} ?; drop-{kind} {t}; rename-{kind} {u} {t}; rename-{kind} {t} {u}",
    "rename-{kind} {t} {u}; create-{kind} {t} ?",
    "add-snapshot {t} ?; set-ref {t} b1 branch; set-ref {t} v1 tag; remove-ref {t} b1",
    "create-table {t} ?; drop-table {t}; register-table {u} {t}",
    "stage-table {u} ?; commit-staged-table {u}",
    (
        "create-table {t} ?; create-table {u} ?; commit-together {t} {u} ?; "
        "commit-together-stale {t} {u}"
    ),
    "drop-table {t}; drop-table {u}; create-view {t} ?; replace-query {t} ?; rename-view {t} {u}",
    "drop-table {t}; create-view {t} ?; commit-stale-to-view {t}; drop-view {t}",
    (
        "create-namespace n0.n0 ?; create-table n0.n0.x0 ?; rename-table n0.n0.x0 {t}; "
        "drop-namespace n0.n0"
    ),
    "create-namespace {n} ?; update-properties {n} {key} ? {other}",
    (
        "create-table {t} ?; commit-properties {t} {key} ? {other}; "
        "commit-properties {t} {other} ? {key}"
    ),
    "create-table {t} ?; add-column {t} ?; commit-stale {t}; purge-table {t}",
)
"""Actions that belong together, for two different objects ``t`` and ``u`` and a namespace ``n``."""
_SINGLE = (
    "create-table {t} ?", "stage-table {t} ?", "create-view {t} ?", "drop-table {t}",
    "drop-view {t}", "purge-table {t}", "rename-{kind} {t} {u}", "rename-{kind} {t} {t}",
    "create-namespace {n} ?", "drop-namespace {n}", "drop-namespace n0.n0",
    "update-properties {n} {key} ? {other}", "update-properties {n} {key} ? {key}",
    "commit-properties {t} {key} ? {other}", "add-column {t} ?", "add-snapshot {t} ?",
    "set-ref {t} b1 tag", "remove-ref {t} v1", "replace-query {t} ?", "commit-stale {t}", "look",
)  # fmt: skip

# Each history starts with namespaces and a table, because refusals alone find little.
_OPENING = (
    Action("create-namespace", ("n0",), (_OWN,)),
    Action("create-table", ("n0.x0",), (_OWN,)),
    Action("create-namespace", ("n1",), (_OWN,)),
)


def draw_plans(
    seed: int, *, plans_max: int, steps_min: int, steps_max: int
) -> tuple[tuple[Action, ...], ...]:
    """Return up to ``plans_max`` different histories of at most ``steps_max`` steps each.

    The steps include the opening. Only small choices are drawn: into larger ones Hypothesis mixes
    constants of the modules that happen to be loaded, and the same seed would draw other histories
    elsewhere.
    """
    from hypothesis import given
    from hypothesis import strategies as st

    drawn: dict[tuple[Action, ...], None] = {}
    sequences = st.tuples(*(_drawn((each,)) for each in SEQUENCES))
    further = st.lists(_drawn(SEQUENCES + _SINGLE), min_size=steps_min, max_size=steps_max)

    # The first example is always the simplest one and is left out; more examples are drawn than
    # wanted, because some repeat.
    @drawing(seed, 2 * plans_max)
    @given(sequences, further)
    def collect(first: tuple[Sequence[Action], ...], plan: list[Sequence[Action]]) -> None:
        mine = first[len(drawn) % plans_max :: plans_max]
        actions = [action for fragment in (*mine, *plan) for action in fragment]
        drawn[_numbered((*_OPENING, *actions)[:steps_max])] = None

    with generating():
        collect()
    return tuple(drawn)[1 : plans_max + 1]


def _numbered(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions with their positions for values, so that no two values are alike."""
    return tuple(
        replace(action, values=tuple(str(at) if each == _OWN else each for each in action.values))
        for at, action in enumerate(actions, start=1)
    )


def _drawn(templates: Sequence[str]) -> "SearchStrategy[tuple[Action, ...]]":
    """Draw the actions of one of these templates."""
    from hypothesis import strategies as st

    return st.builds(
        _filled,
        st.sampled_from(templates),
        st.sampled_from(("table", "table", "view")),
        st.sampled_from(_SPACES),
        st.sampled_from(_PAIRS),
        st.permutations(_KEYS),
    )


def _filled(
    template: str, kind: str, space: str, objects: tuple[str, str], keys: Sequence[str]
) -> tuple[Action, ...]:
    (t, u), (key, other, *_) = objects, keys
    text = template.format(kind=kind, n=space, t=t, u=u, key=key, other=other)
    return tuple(from_words(each) for each in text.split("; "))
