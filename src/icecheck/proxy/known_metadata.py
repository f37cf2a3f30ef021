"""Which metadata came of proper requests that passed: only for that the catalog alone answers."""

from typing import Any

from icecheck.contract import Action, Object
from icecheck.judging.envelopes import parsed
from icecheck.ownership.effects import effect_of
from icecheck.proxy.routes import Routed
from icecheck.wire.exchange import Exchange

_FILES_MAX = 20_000
_UUIDS = {Object.TABLE: "table-uuid", Object.VIEW: "view-uuid"}
_MOMENTS = ("last-updated-ms", "current-version-id")
"""What differs after the next change too, where a catalog always names the same file."""


class KnownMetadata:
    """Remembers states of tables and views that proper requests have made; not safe for threads.

    A catalog gives back what was written into it, by anybody: by clients that are not behind the
    proxy, in files that were registered, by requests that it need not have accepted. So a state is
    known if it is that of a creation, or of a commit to a known state; a name says nothing, because
    others may drop what has it, and rename.
    """

    def __init__(self) -> None:
        self._files: dict[str, dict[str, Any]] = {}

    def take(self, exchange: Exchange, routed: Routed, *, improper: bool) -> bool:
        """Take in an answer; return whether nobody but the catalog has a part in its content.

        ``improper``: the document does not allow the request. Of such requests only the shape
        outside of the content is judged, and what they made is not known.
        """
        facts = routed.operation.facts
        if exchange.status != 200:
            return True
        if facts.object not in _UUIDS:
            # Nothing tells who has changed the properties of a namespace.
            return facts.action is Action.CREATE
        file, shown = _shown_in(exchange)
        names = (_UUIDS[facts.object], *_MOMENTS)
        if facts.action not in {Action.CREATE, Action.COMMIT}:
            known = self._files.get(file)
            return known is not None and _agree(known, shown, *names)
        is_known = facts.action is Action.CREATE or self._follows(exchange, routed, shown)
        if is_known and file and not improper:
            self._files[file] = {name: shown.get(name) for name in names}
            if len(self._files) > _FILES_MAX:
                del self._files[next(iter(self._files))]
        return is_known

    def _follows(self, exchange: Exchange, routed: Routed, shown: dict[str, Any]) -> bool:
        """Return whether a commit made a table, or the log says that it was to a known state."""
        if effect_of(routed.operation, routed.names, exchange.request_body).creates:
            return True
        log = shown.get("metadata-log")
        if not isinstance(log, list) or not log or not isinstance(log[-1], dict):
            return False
        known = self._files.get(str(log[-1].get("metadata-file")))
        return known is not None and _agree(known, shown, _UUIDS[routed.operation.facts.object])


def _shown_in(exchange: Exchange) -> tuple[str, dict[str, Any]]:
    """Return the metadata file that an answer names, "" if it names none, and the metadata."""
    answer = parsed(exchange.response_body)
    told = answer if isinstance(answer, dict) else {}
    file, metadata = told.get("metadata-location"), told.get("metadata")
    shown = metadata if isinstance(metadata, dict) else {}
    return file if isinstance(file, str) else "", shown


def _agree(known: dict[str, Any], shown: dict[str, Any], *names: str) -> bool:
    """Return whether metadata is of a known state; what is missing in it tells nothing."""
    return all(shown.get(name) is None or shown[name] == known[name] for name in names)
