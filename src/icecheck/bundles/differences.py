"""What a bundle states that cannot be derived from what it holds, one line for each difference."""

from dataclasses import dataclass

from icecheck.findings.telling.finding_card import one_line
from icecheck.wire.exchange import Exchange

_CHARACTERS_MAX = 160
_ADDRESS_MAX = 400


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: what it is about, what the bundle says, what was derived, and where.

    ``about`` is the id of a check, the name of a member, or a part of the report. ``exchange``
    names the exchange that shows it, if one does.
    """

    about: str
    stated: str
    derived: str
    exchange: str = ""

    @property
    def line(self) -> str:
        """The difference in one line."""
        where = f" [{one_line(self.exchange, _ADDRESS_MAX)}]" if self.exchange else ""
        stated, derived = (one_line(t, _CHARACTERS_MAX) for t in (self.stated, self.derived))
        return f"{one_line(self.about)}: stated {stated}; derived {derived}{where}"


def named(exchange: Exchange) -> str:
    """Return the name of an exchange in a recording, with what it asks and how it is answered."""
    asked = f"{exchange.method} {exchange.url}"
    answered = exchange.status or exchange.error or "no answer"
    return f"exchange {exchange.ordinal} of {exchange.check or 'the run'}: {asked} -> {answered}"
