"""Which of many generated cases one run sends: chosen by the seed, no kind of them left out."""

import random
from collections.abc import Iterable

from icecheck.conformance.generated.generation import GeneratedCase

__all__ = ["sample"]


def sample(
    cases: Iterable[GeneratedCase], *, seed: int, purpose: str, cases_max: int
) -> tuple[GeneratedCase, ...]:
    """Return up to ``cases_max`` cases in the order they were generated in.

    Each family is represented, even if there are more families than ``cases_max``; which of its
    cases stand for it, and which others fill up, follows from the seed and the purpose alone.
    """
    shuffled = sorted(cases, key=lambda c: c.ordinal)
    # A string seeds by its bytes: the same on every machine and under every hash seed.
    random.Random(f"{seed}:{purpose}").shuffle(shuffled)  # noqa: S311 - a choice, not a secret
    chosen: dict[str, GeneratedCase] = {}
    for case in shuffled:
        chosen.setdefault(case.family, case)
    picked = [*chosen.values()]
    taken = {c.ordinal for c in picked}
    rest = [c for c in shuffled if c.ordinal not in taken]
    picked += rest[: max(0, cases_max - len(picked))]
    return tuple(sorted(picked, key=lambda c: c.ordinal))
