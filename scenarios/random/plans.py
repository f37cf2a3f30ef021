"""Draws histories with Hypothesis as data: the same seed draws the same histories everywhere."""

from typing import TYPE_CHECKING

from icecheck.judging.generating import generating
from icecheck.scenarios.random.model import OWNER
from icecheck.scenarios.random.steps import (
    AddColumn,
    AddSnapshot,
    CommitProperties,
    CommitStale,
    CreateNamespace,
    CreateTable,
    DropNamespace,
    DropTable,
    ListTables,
    LoadNamespace,
    LoadTable,
    MoveTable,
    RegisterBack,
    RemoveRef,
    SetRef,
    StageCreate,
    Step,
    UpdateProperties,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["KEYS", "draw_plans"]

KEYS = ("icecheck.a", OWNER, "icecheck.b")
"""The properties that steps set and remove; the first ones are drawn more often."""
_VALUES = ("1", "2", "3")
_REFS = (("b1", "branch"), ("v1", "tag"))

# Each history starts with a namespace and a table, because refusals alone find little.
_OPENING: tuple[Step, ...] = (CreateNamespace(0, "1"), CreateTable(0, 0, "1"))


def draw_plans(
    seed: int, *, plans_max: int, steps_min: int, steps_max: int
) -> tuple[tuple[Step, ...], ...]:
    """Return up to ``plans_max`` different histories of at most ``steps_max`` steps each.

    The steps include the opening. Only small choices are drawn: into larger ones Hypothesis mixes
    constants of the modules that happen to be loaded, and the same seed would draw other histories
    elsewhere.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    drawn: dict[tuple[Step, ...], None] = {}
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
    def collect(plan: list[tuple[Step, ...]]) -> None:
        steps = [step for fragment in plan for step in fragment]
        drawn[(*_OPENING, *steps)[:steps_max]] = None

    with generating():
        collect()
    return tuple(drawn)[1 : plans_max + 1]


def _fragments() -> "SearchStrategy[tuple[Step, ...]]":
    """Draw one step, or a few steps that belong together."""
    from hypothesis import strategies as st

    namespace, table, other = st.sampled_from((0, 0, 0, 1)), st.sampled_from((0, 0, 1)), (0, 1)
    value, ref = st.sampled_from(_VALUES), st.sampled_from(_REFS)
    moves = st.builds(MoveTable, namespace, table, st.sampled_from(other), st.sampled_from(other))
    return st.one_of(
        _steps().map(lambda step: (step,)),
        st.builds(
            lambda n, t, v: (DropTable(n, t), CreateTable(n, t, v), LoadTable(n, t)),
            namespace,
            table,
            value,
        ),
        st.builds(
            lambda n, v: (
                DropTable(n, 0),
                DropTable(n, 1),
                DropNamespace(n),
                CreateNamespace(n, v),
            ),
            namespace,
            value,
        ),
        st.builds(
            lambda move, v: (
                CreateNamespace(move.to_namespace, v),
                move,
                CreateTable(move.namespace, move.table, v),
            ),
            moves,
            value,
        ),
        # Rename to the name of a dropped table, and back to the name that this freed.
        st.builds(
            lambda n, t, v: (
                CreateTable(n, 1 - t, v),
                DropTable(n, t),
                MoveTable(n, 1 - t, n, t),
                MoveTable(n, t, n, 1 - t),
            ),
            namespace,
            table,
            value,
        ),
        st.builds(
            lambda n, t, r, s: (AddSnapshot(n, t), SetRef(n, t, *r), RemoveRef(n, t, s[0])),
            namespace,
            table,
            ref,
            ref,
        ),
        st.builds(
            lambda n, t, v, k: (
                CreateTable(n, t, v),
                CommitProperties(n, t, "icecheck.a", v, OWNER),
                CommitProperties(n, t, "icecheck.b", v, k),
            ),
            namespace,
            table,
            value,
            st.sampled_from((OWNER, "icecheck.a")),
        ),
    )


def _steps() -> "SearchStrategy[Step]":
    """Draw one step; the first namespace and table are drawn most often."""
    from hypothesis import strategies as st

    namespace, table = st.sampled_from((0, 0, 0, 1)), st.sampled_from((0, 0, 1))
    key, value = st.sampled_from(KEYS), st.sampled_from(_VALUES)
    removed = st.sampled_from((OWNER, *KEYS))
    two_keys = st.permutations(KEYS).map(lambda keys: keys[:2])
    ref = st.sampled_from(_REFS)
    return st.one_of(
        st.builds(CreateTable, namespace, table, value),
        st.builds(CreateNamespace, namespace, value),
        st.builds(DropNamespace, namespace),
        st.builds(LoadNamespace, namespace),
        st.builds(UpdateProperties, namespace, key, value, removed),
        st.builds(ListTables, namespace),
        st.builds(StageCreate, namespace, table),
        st.builds(LoadTable, namespace, table),
        st.builds(
            lambda n, t, keys, v: CommitProperties(n, t, keys[0], v, keys[1]),
            namespace,
            table,
            two_keys,
            value,
        ),
        st.builds(CommitStale, namespace, table),
        st.builds(AddColumn, namespace, table),
        st.builds(lambda n, t, r: RemoveRef(n, t, r[0]), namespace, table, ref),
        st.builds(MoveTable, namespace, table, namespace, table),
        st.builds(DropTable, namespace, table),
        st.builds(RegisterBack, namespace, table),
    )
