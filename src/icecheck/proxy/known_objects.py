"""What the proxy knows of tables and views: who made them, and by what requests."""

from collections.abc import Collection

from icecheck.contract import Action
from icecheck.ownership.effects import effect_of, objects_named
from icecheck.ownership.ledger import Entry
from icecheck.proxy.routes import Routed
from icecheck.wire.exchange import Exchange

Key = tuple[str, Entry]
"""An object by the prefix that it was reached under, and its name."""
_SUCCESSES = frozenset({200, 204})


class KnownObjects:
    """Remembers objects by what passed; not safe for threads.

    A catalog gives back what was written into it. So it is not at fault for metadata that was
    there before, nor for what came of a request that it need not have accepted.
    """

    def __init__(self) -> None:
        self._made: set[Key] = set()
        self._improper: set[Key] = set()

    def named_in(self, exchange: Exchange, routed: Routed) -> Collection[Key]:
        """Return the objects that a request names."""
        found = objects_named(routed.operation, routed.names, exchange.request_body)
        return [(routed.prefix, entry) for entry in found]

    def are_proper(self, keys: Collection[Key]) -> bool:
        """Return whether no request that made these objects broke the document."""
        return self._improper.isdisjoint(keys)

    def were_made_here(self, keys: Collection[Key], routed: Routed) -> bool:
        """Return whether these objects were made by requests that passed, if not by this one."""
        return routed.operation.facts.action is Action.CREATE or self._made.issuperset(keys)

    def note(self, exchange: Exchange, routed: Routed, *, improper: bool) -> None:
        """Take in what a request did; ``improper``: the document does not allow it.

        What was not refused may have been applied, whatever was answered, or nothing.
        """
        status = exchange.status
        if improper and not (status is not None and 400 <= status < 500):
            self._improper.update(self.named_in(exchange, routed))
        if status not in _SUCCESSES:
            return
        effect = effect_of(routed.operation, routed.names, exchange.request_body)
        created = [(routed.prefix, entry) for entry in effect.creates]
        removed = [(routed.prefix, entry) for entry in effect.removes]
        if removed and created:  # a rename: what was known of the one holds for the other
            for known in (self._made, self._improper):
                if not known.isdisjoint(removed):
                    known.update(created)
        elif routed.operation.facts.action is Action.REGISTER:
            self._made.difference_update(created)  # its metadata may be of anybody
        else:
            self._made.update(created)
        for known in (self._made, self._improper):
            known.difference_update(removed)
