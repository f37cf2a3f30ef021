"""Selects the generated cases of a run: by the seed, with every place represented."""

import random
from collections.abc import Iterable

from icecheck.conformance.generated.generation import GeneratedCase


def sample(
    cases: Iterable[GeneratedCase],
    *,
    seed: int,
    purpose: str,
    cases_max: int,
    at_most: bool = False,
) -> tuple[GeneratedCase, ...]:
    """Return up to ``cases_max`` cases in the order of their generation.

    Each family is represented, or each place where there are more families than ``cases_max``:
    even if there are more places too, unless ``at_most``. The seed and the purpose alone decide
    which of their cases represent them and which others are added.
    """
    shuffled = sorted(cases, key=lambda c: c.ordinal)
    # A string seeds by its bytes: the order is the same on every machine and under every hash seed.
    random.Random(f"{seed}:{purpose}").shuffle(shuffled)  # noqa: S311 - a choice, not a secret
    many = len({case.family for case in shuffled}) > cases_max
    chosen: dict[str, GeneratedCase] = {}
    for case in shuffled:
        chosen.setdefault(case.place if many else case.family, case)
    # Those that are not from schemathesis are the only ones of their kind.
    picked = sorted(chosen.values(), key=lambda case: "." in case.family)
    if at_most:
        del picked[cases_max:]
    taken = {c.ordinal for c in picked}
    rest = [c for c in shuffled if c.ordinal not in taken]
    picked += rest[: max(0, cases_max - len(picked))]
    return tuple(sorted(picked, key=lambda c: c.ordinal))
