"""How many events there are, on which day they arrive, and in which file they lie."""

import math
from dataclasses import dataclass

DAYS = (1, 2)
"""The days of arrival."""
ROWS_MIN = 1_000
ROWS_OF_SCALE_1 = 1_000_000

_SHARES = {1: 0.6, 2: 0.4}
_PART_ROWS_MAX = 250_000
_PARTS_MIN = 3
_ROWS_OF_A_CUSTOMER = 100


@dataclass(frozen=True, slots=True)
class Part:
    """One file of events: the day on which it arrives, its number on that day, and its rows.

    A ``wide`` one has a column that earlier ones have not.
    """

    day: int
    number: int
    rows: int
    wide: bool = False

    @property
    def file(self) -> str:
        """The name of the file; names of one day sort as their numbers."""
        return f"day-{self.day}-part-{self.number:04}.parquet"


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a pipeline and the seed of its events.

    Files and what lies in them depend on nothing else, whatever the number of cores.
    """

    rows: int
    seed: int = 0

    @property
    def customers(self) -> int:
        """How many customers there are; the first one has the id 0."""
        return self.rows // _ROWS_OF_A_CUSTOMER

    @property
    def orders_of_a_day(self) -> int:
        """How many orders are placed on a day; those of the first day have the first ids."""
        return self.rows // 5

    def parts(self, day: int) -> tuple[Part, ...]:
        """Return the files that arrive on a day, in this order.

        The last third of those of the last day is wide.
        """
        rows = round(self.rows * _SHARES[day])
        many = max(_PARTS_MIN, math.ceil(rows / _PART_ROWS_MAX))
        return tuple(
            Part(
                day,
                number,
                rows * (number + 1) // many - rows * number // many,
                wide=day == DAYS[-1] and number >= many - many // _PARTS_MIN,
            )
            for number in range(many)
        )
