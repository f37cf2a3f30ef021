"""``-n``: the number of checks that are judged at a time."""

import os

import click

_WORKERS_MAX = 16
_AUTO_MAX = 8
_AUTO_PER_PROCESSOR = 4


class Workers(click.ParamType[int]):
    """A number of workers, or ``auto``: four per processor and at most eight.

    They mostly wait for the catalog, so there may be more of them than processors.
    """

    name = "workers"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number; anything else is reported as misuse."""
        if value == "auto":
            return min(_AUTO_MAX, _AUTO_PER_PROCESSOR * (os.cpu_count() or 1))
        if not str(value).isdecimal() or not 1 <= int(value) <= _WORKERS_MAX:
            self.fail(f"{value!r}: give a number from 1 to {_WORKERS_MAX}, or auto", param, ctx)
        return int(value)
