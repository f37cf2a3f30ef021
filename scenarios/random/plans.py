"""Draws histories with Hypothesis as data: the same seed draws the same histories everywhere."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from icecheck.judging.generating import generating
from icecheck.scenarios.model.world import ADDED, KEPT, MARK
from icecheck.scenarios.random.actions import LOOK, Action

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["draw_plans"]

_KEYS = (MARK, KEPT, ADDED)
_REFS = (("b1", "branch"), ("v1", "tag"))
_SPACES = ("n0", "n0", "n1")
_NAMES = ("x0", "x1")
_OBJECTS = ("n0.x0", "n0.x0", "n0.x0", "n0.x1", "n0.x1", "n1.x0")
"""What is drawn most often is most often there."""
_OWN = "?"
"""Stands for a value that no other action of the history has."""

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
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    drawn: dict[tuple[Action, ...], None] = {}
    fragments = st.lists(_fragments(), min_size=steps_min, max_size=steps_max)

    @seeded(seed)
    @settings(
        # The first example is always the simplest one and is left out; more examples are drawn than
        # wanted, because some repeat.
        max_examples=2 * plans_max,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(fragments)
    def collect(plan: list[tuple[Action, ...]]) -> None:
        actions = [action for fragment in plan for action in fragment]
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


def _fragments() -> "SearchStrategy[tuple[Action, ...]]":
    """Draw one action, or a few actions that belong together."""
    from hypothesis import strategies as st

    return st.one_of(
        _action().map(lambda action: (action,)), *_names_used_again(), *_changes_in_sequence()
    )


def _names_used_again() -> "list[SearchStrategy[tuple[Action, ...]]]":
    """Return strategies for actions that free a name and use it again."""
    from hypothesis import strategies as st

    space = st.sampled_from(_SPACES)
    table, other = st.sampled_from(_OBJECTS), st.sampled_from(_OBJECTS)
    kind = st.sampled_from(("table", "table", "view"))
    return [
        st.builds(lambda k, t: (_new(f"drop-{k}", t), _new(f"create-{k}", t, _OWN)), kind, table),
        st.builds(
            lambda n: (
                *(_new(f"drop-{kind}", f"{n}.{x}") for kind in ("table", "view") for x in _NAMES),
                _new("drop-namespace", n),
                _new("create-namespace", n, _OWN),
            ),
            space,
        ),
        # Rename to the name of a dropped object, and back to the name that this freed.
        st.builds(
            lambda k, t, u: (
                _new(f"create-{k}", u, _OWN),
                _new(f"drop-{k}", t),
                Action(f"rename-{k}", (u, t)),
                Action(f"rename-{k}", (t, u)),
            ),
            kind,
            table,
            other,
        ),
        st.builds(
            lambda k, t, u: (Action(f"rename-{k}", (t, u)), _new(f"create-{k}", t, _OWN)),
            kind,
            table,
            other,
        ),
    ]


def _changes_in_sequence() -> "list[SearchStrategy[tuple[Action, ...]]]":
    """Return strategies for changes that belong together, such as staging and committing."""
    from hypothesis import strategies as st

    table, other = st.sampled_from(_OBJECTS), st.sampled_from(_OBJECTS)
    ref, another = st.sampled_from(_REFS), st.sampled_from(_REFS)
    return [
        st.builds(
            lambda t, r, s: (
                _new("add-snapshot", t, _OWN),
                _new("set-ref", t, *r),
                _new("remove-ref", t, s[0]),
            ),
            table,
            ref,
            another,
        ),
        st.builds(
            lambda t, u: (_new("drop-table", t), Action("register-table", (u, t))), table, other
        ),
        st.builds(
            lambda t: (_new("stage-table", t, _OWN), _new("commit-staged-table", t, _OWN)), table
        ),
        st.builds(
            lambda t, u: (
                _new("create-table", u, _OWN),
                Action("commit-together", (t, u), (_OWN,)),
                Action("commit-together-stale", (t, u)),
            ),
            table,
            other,
        ),
        st.builds(
            lambda t, u: (
                _new("drop-table", t),
                _new("create-view", t, _OWN),
                _new("replace-query", t, _OWN),
                Action("rename-view", (t, u)),
            ),
            table,
            other,
        ),
        st.builds(
            lambda t: (
                _new("create-namespace", "n0.n0", _OWN),
                _new("create-table", "n0.n0.x0", _OWN),
                Action("rename-table", ("n0.n0.x0", t)),
                _new("drop-namespace", "n0.n0"),
            ),
            table,
        ),
        st.builds(
            lambda t, k: (
                _new("create-table", t, _OWN),
                _new("commit-properties", t, k[0], _OWN, k[1]),
                _new("commit-properties", t, k[1], _OWN, k[0]),
            ),
            table,
            st.permutations(_KEYS),
        ),
    ]


def _action() -> "SearchStrategy[Action]":
    """Draw one action."""
    from hypothesis import strategies as st

    space, thing = st.sampled_from((*_SPACES, "n0.n0")), st.sampled_from(_OBJECTS)
    keys, two_keys = st.tuples(*[st.sampled_from(_KEYS)] * 2), st.permutations(_KEYS)
    ref = st.sampled_from(_REFS)
    made = ("create-table", "stage-table", "create-view")
    changed = ("add-column", "add-snapshot", "replace-query")
    others = ("commit-stale", "purge-table", "drop-table", "drop-view", "commit-stale-to-view")
    return st.one_of(
        st.builds(lambda name, t: _new(name, t, _OWN), st.sampled_from(made), thing),
        st.builds(lambda name, t: _new(name, t, _OWN), st.sampled_from(changed), thing),
        st.builds(_new, st.sampled_from(others), thing),
        st.builds(lambda n: _new("create-namespace", n, _OWN), space),
        st.builds(lambda n: _new("drop-namespace", n), space),
        st.builds(lambda n, k: _new("update-properties", n, k[0], _OWN, k[1]), space, keys),
        st.builds(lambda t, k: _new("commit-properties", t, k[0], _OWN, k[1]), thing, two_keys),
        st.builds(lambda t, r: _new("remove-ref", t, r[0]), thing, ref),
        st.builds(
            lambda k, t, u: Action(f"rename-{k}", (t, u)),
            st.sampled_from(("table", "view")),
            thing,
            thing,
        ),
        st.just(Action(LOOK)),
    )


def _new(name: str, on: str, *values: str) -> Action:
    return Action(name, (on,), values)
