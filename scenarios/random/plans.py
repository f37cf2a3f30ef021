"""Draws histories with Hypothesis as data: the same seed draws the same histories everywhere.

Each history starts with a few sequences of actions that belong together, so that all sequences are
in the histories of every seed, and goes on with whatever is drawn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icecheck.judging.generating import drawing, generating
from icecheck.scenarios.model.world import ADDED, KEPT, MARK
from icecheck.scenarios.random.actions import Action, from_words
from icecheck.scenarios.steps.table_changes import TABLES
from icecheck.scenarios.steps.view_changes import VIEWS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_KEYS = (MARK, KEPT, ADDED)
_SPACES = ("n0", "n0", "n1")
_OBJECTS = ("n0.x0", "n0.x0", "n0.x0", "n0.x1", "n0.x1", "n1.x0")
"""What is drawn most often is most often there."""
_PAIRS = tuple((one, two) for one in _OBJECTS for two in _OBJECTS if one != two)
_SHARES = 6
"""All sequences are in so many histories."""
_OWN = "?"
"""Stands for a value that no other action of the history has."""

SEQUENCES = (
    # Definitions of which the current one is not the last, and ids that were given before.
    (
        "create-table {t} ?; evolve {t} add-column+partition+sort ?; "
        "evolve {t} add-column+add-spec+add-order ?; evolve {t} other-schema+other-spec ?; "
        "evolve {t} drop-schema+drop-spec+other-order ?; evolve {t} add-column+partition ?"
    ),
    # Snapshots and refs: what main has not, what no ref names any more, and the way back.
    (
        "create-table {t} ?; evolve {t} append+branch+tag ?; evolve {t} ahead+retain ?; "
        "evolve {t} fast-forward ?; evolve {t} append+tag+drop-branch ?; "
        "evolve {t} branch+roll-back ?; evolve {t} expire+{change} ?"
    ),
    (
        "create-table {t} ?; create-table {u} ?; evolve {t} append+branch ?; "
        "evolve-together {t} {u} append+{change} ?; evolve-together {t} {u} {more}+{wrong} ?; "
        "evolve-together {t} {u} append+unknown-snapshot ?"
    ),
    (
        "drop-table {t}; create-view {t} ?; evolve-view {t} add-version+replace-schema ?; "
        "evolve-view {t} properties+replace+relocate ?; evolve-view {t} other-version ?; "
        "evolve-view {t} replace-schema+unknown-version ?; evolve-view {t} replace-schema ?"
    ),
    (
        "drop-table {u}; create-table {t} ?; evolve {t} upgrade+key ?; "
        "evolve {t} append+tag+key ?; rename-table {t} {u}; evolve {u} drop-key+{change} ?"
    ),
    (
        "create-table {t} ?; evolve {t} append+branch+{change} ?; drop-table {u}; "
        "rename-table {t} {u}; create-table {t} ?; evolve-together {t} {u} properties+{more} ?"
    ),
    (
        "drop-table {n}.x0; drop-view {n}.x0; drop-table {n}.x1; drop-view {n}.x1; "
        "drop-namespace {n}; create-namespace {n} ?"
    ),
    # Rename to the name of a dropped object, and back to the name that this freed.
    "create-{kind} {u} ?; drop-{kind} {t}; rename-{kind} {u} {t}; rename-{kind} {t} {u}",
    (
        "create-table {t} ?; evolve {t} append ?; drop-table {t}; drop-table {u}; "
        "create-view {t} ?; replace-query {t} ?; rename-view {t} {u}"
    ),
    (
        "create-namespace n0.n0 ?; create-table n0.n0.x0 ?; rename-table n0.n0.x0 {t}; "
        "drop-namespace n0.n0"
    ),
    (
        "create-table {u} ?; create-table {t} ?; evolve {t} append+branch+{change} ?; "
        "drop-table {t}; register-over {u} {t}; evolve {u} ahead+{more} ?"
    ),
    "drop-table {t}; create-view {t} ?; commit-stale-to-view {t}; drop-view {t}",
    "drop-{kind} {t}; create-{kind} {t} ?; look",
    "rename-{kind} {t} {u}; create-{kind} {t} ?",
    (
        "stage-table {u} ?; commit-staged-table {u}; commit-together {t} {u} ?; "
        "commit-together-stale {t} {u}"
    ),
    "create-namespace {n} ?; update-properties {n} {key} ? {other}",
    (
        "create-table {t} ?; commit-properties {t} {key} ? {other}; "
        "commit-properties {t} {other} ? {key}"
    ),
    "create-table {t} ?; drop-table {t}; register-table {u} {t}",
    "create-table {t} ?; add-column {t} ?; commit-stale {t}; purge-table {t}",
    "create-table {t} ?; evolve {t} append+statistics ?; drop-table {t}; create-table {t} ?",
)
"""Actions that belong together, for two different objects ``t`` and ``u`` and a namespace ``n``."""
_SINGLE = (
    "create-table {t} ?", "stage-table {t} ?", "create-view {t} ?", "drop-table {t}",
    "drop-view {t}", "purge-table {t}", "rename-{kind} {t} {u}", "rename-{kind} {t} {t}",
    "create-namespace {n} ?", "drop-namespace {n}", "drop-namespace n0.n0",
    "update-properties {n} {key} ? {other}", "update-properties {n} {key} ? {key}",
    "commit-properties {t} {key} ? {other}", "add-column {t} ?", "add-snapshot {t} ?",
    "set-ref {t} b1 tag", "remove-ref {t} v1", "replace-query {t} ?", "commit-stale {t}", "look",
    "evolve {t} {change} ?", "evolve {t} {change}+{more} ?", "evolve {t} {change}+{wrong} ?",
    "evolve {t} {more}+{change} ?", "evolve-view {t} {of_view} ?",
    "evolve-view {t} {of_view}+{view_fails} ?", "evolve-together {t} {u} {change} ?",
    "evolve-together {t} {u} {change}+{wrong} ?", "register-over {t} {u}",
)  # fmt: skip

_CHANGES = tuple(TABLES.changes)
_OF_VIEWS = tuple(VIEWS.changes)
_FAILS = (*TABLES.wrong, *TABLES.stale)
_VIEW_FAILS = (*VIEWS.wrong, *VIEWS.stale)

# Each history starts with namespaces and a table, because refusals alone find little.
_OPENING = (
    Action("create-namespace", ("n0",), (_OWN,)),
    Action("create-table", ("n0.x0",), (_OWN,)),
    Action("create-namespace", ("n1",), (_OWN,)),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many histories there are at most, and how many steps each of them has."""

    plans_max: int
    steps_min: int
    steps_max: int


def draw_plans(seed: int, sizes: Sizes) -> tuple[tuple[Action, ...], ...]:
    """Return different histories of these sizes.

    The steps include the opening. Only small choices are drawn: into larger ones Hypothesis mixes
    constants of the modules that happen to be loaded, and the same seed would draw other histories
    elsewhere.
    """
    from hypothesis import given
    from hypothesis import strategies as st

    drawn: dict[tuple[Action, ...], None] = {}
    sequences = st.tuples(*(_drawn((each,)) for each in SEQUENCES))
    further = st.lists(
        _drawn(SEQUENCES + _SINGLE), min_size=sizes.steps_min, max_size=sizes.steps_max
    )

    # The first example is always the simplest one and is left out; more examples are drawn than
    # wanted, because some repeat.
    @drawing(seed, 2 * sizes.plans_max)
    @given(sequences, further)
    def collect(first: tuple[Sequence[Action], ...], plan: list[Sequence[Action]]) -> None:
        mine = first[len(drawn) % _SHARES :: _SHARES]
        actions = [action for fragment in (*mine, *plan) for action in fragment]
        drawn[_numbered((*_OPENING, *actions)[: sizes.steps_max])] = None

    with generating():
        collect()
    return tuple(drawn)[1 : sizes.plans_max + 1]


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
        st.sampled_from(_CHANGES),
        st.sampled_from(_CHANGES),
        st.sampled_from(_FAILS),
        st.sampled_from(_OF_VIEWS),
        st.sampled_from(_VIEW_FAILS),
    )


def _filled(
    template: str,
    kind: str,
    space: str,
    objects: tuple[str, str],
    keys: Sequence[str],
    *words: str,
) -> tuple[Action, ...]:
    (t, u), (key, other, *_) = objects, keys
    named = dict(zip(("change", "more", "wrong", "of_view", "view_fails"), words, strict=True))
    text = template.format(kind=kind, n=space, t=t, u=u, key=key, other=other, **named)
    return tuple(from_words(each) for each in text.split("; "))
