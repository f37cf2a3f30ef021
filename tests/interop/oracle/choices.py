"""Draws from small sets: what every generator of this folder is made of."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

Value = TypeVar("Value")


class Choices:
    """Draws from a random source of Hypothesis (`st.randoms`), so that what fails is shrunk.

    A random source costs a tenth of drawing from strategies. Earlier options are simpler.
    """

    __slots__ = ("_below",)

    def __init__(self, source: Random) -> None:
        self._below = source.randrange

    def number(self, first: int, last: int) -> int:
        """A number from first to last, both included."""
        return first if first == last else first + self._below(last - first + 1)

    def one(self, options: Sequence[Value]) -> Value:
        """One of the options; the simplest comes first."""
        return options[self.number(0, len(options) - 1)]

    def seldom(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.number(0, one_in - 1) == one_in - 1

    def mostly(self, usual: Sequence[Value], other: Sequence[Value], one_in: int = 8) -> Value:
        """One of the usual options, if there are any, and once in so many times another."""
        return self.one(other) if not usual or self.seldom(one_in) else self.one(usual)

    def some(self, options: Sequence[Value], most: int) -> list[Value]:
        """Up to so many of the options, each once."""
        left = list(options)
        size = self.number(0, min(most, len(left)))
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(size)]

    def weighted(self, weights: dict[Value, int]) -> Value:
        """One of the keys, as often as it weighs."""
        point = self.number(0, sum(weights.values()) - 1)
        for value, weight in weights.items():
            if point < weight:
                return value
            point -= weight
        raise AssertionError("weights are positive")

    def damaged(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body with one member lost, null or of another type."""
        member = self.one(sorted(body))
        damage: Any = self.one(["lost", None, "2", 2.0, True, [], {}, -1])
        if damage == "lost":
            return {name: value for name, value in body.items() if name != member}
        return {**body, member: damage}
