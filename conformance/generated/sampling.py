"""Selects the generated cases of a run: by the seed, with every family represented."""

import random
from collections.abc import Iterable

from icecheck.conformance.generated.generation import GeneratedCase


def sample(
    cases: Iterable[GeneratedCase], *, seed: int, purpose: str, cases_max: int
) -> tuple[GeneratedCase, ...]:
    """Return up to ``cases_max`` cases in the order of their generation.

    Each family is represented, even if there are more families than ``cases_max``; the seed and the
    purpose alone decide which of its cases represent it and which others are added.
    """
    shuffled = sorted(cases, key=lambda c: c.ordinal)
    # A string seeds by its bytes: the order is the same on every machine and under every hash seed.
    random.Random(f"{seed}:{purpose}").shuffle(shuffled)  # noqa: S311 - a choice, not a secret
    chosen: dict[str, GeneratedCase] = {}
    for case in shuffled:
        chosen.setdefault(case.family, case)
    picked = [*chosen.values()]
    taken = {c.ordinal for c in picked}
    rest = [c for c in shuffled if c.ordinal not in taken]
    picked += rest[: max(0, cases_max - len(picked))]
    return tuple(sorted(picked, key=lambda c: c.ordinal))
