"""The recorded exchanges of a run, by the requests that they answer."""

import contextlib
import itertools
import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from hashlib import blake2s
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from icecheck.findings.verdict import Evidence
from icecheck.judging.evidence import evidence_from
from icecheck.targets.secret_marks import without_marks
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.retry import UNSENDABLE

_SHOWN = re.compile(r"[Bb]earer (<redacted:(second:|reader:)?[0-9a-f]+>)")
_WORD = re.compile(r"[0-9A-Za-z_]+")
_NOBODY = "<redacted:00000000>"


class Asked(NamedTuple):
    """What identifies a request: the check that sends it, and what it asks."""

    check: str
    method: str
    url: str
    body: bytes | None


class Recording:
    """Holds the exchanges of a run; each answers one request, equal requests in recorded order.

    ``folders`` is a directory for the files that checks write beside tables. ``setups`` is check ->
    what the report shows of the shared setup that it used. Not safe for threads.
    """

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        folders: Path,
        setups: Mapping[str, Sequence[Evidence]],
    ) -> None:
        self.exchanges = tuple(exchanges)
        self._folders = folders
        self._setups = setups
        self._used: set[int] = set()
        self._exactly: defaultdict[Asked, deque[int]] = defaultdict(deque)
        self._in_substance: defaultdict[Asked, deque[int]] = defaultdict(deque)
        self._of_check: defaultdict[str, list[int]] = defaultdict(list)
        self._words: dict[int, tuple[str, ...]] = {}
        for at, exchange in enumerate(self.exchanges):
            asked = asked_by(exchange)
            self._exactly[asked].append(at)
            self._in_substance[in_substance(asked)].append(at)
            self._of_check[exchange.check].append(at)

    def of_check(self, check_id: str) -> tuple[Exchange, ...]:
        """Return the exchanges of one check."""
        return tuple(self.exchanges[at] for at in self._of_check.get(check_id, ()))

    def take_exactly(self, asked: Asked) -> Exchange | None:
        """Return the next answer to exactly this request, and use it up."""
        return self._take(self._exactly, asked)

    def take_in_substance(self, asked: Asked) -> Exchange | None:
        """Return the next answer to a request that says the same in other letters."""
        return self._take(self._in_substance, in_substance(asked))

    def repeated(self, asked: Asked, *, beside_checks: bool) -> Exchange | None:
        """Return the last exchange for a request if that may be sent more often than it was.

        A request that got no answer may, and one that no check sends.
        """
        places = [at for at in self._of_check.get(asked.check, ()) if at in self._used]
        same = [self.exchanges[at] for at in places if asked_by(self.exchanges[at]) == asked]
        if not same or not (beside_checks or same[-1].status is None):
            return None
        return same[-1]

    def unused_of(self, check_id: str) -> list[Exchange]:
        """Return the exchanges of a check that no request has asked for."""
        left = (at for at in self._of_check.get(check_id, ()) if at not in self._used)
        return [e for e in map(self.exchanges.__getitem__, left) if not _was_unsendable(e)]

    def _take(self, places: defaultdict[Asked, deque[int]], asked: Asked) -> Exchange | None:
        waiting = places.get(asked)
        while waiting:
            at = waiting.popleft()
            if at not in self._used:
                self._used.add(at)
                return self.exchanges[at]
        return None

    # ---- what a session asks (client.shared_objects)

    def names(self, check_id: str, beginning: str) -> list[str]:
        """Return the names that begin like this in a check's requests, those to come first."""
        sent = [at for at in self._of_check.get(check_id, ()) if not self._cleans_up(at)]
        sent.sort(key=self._used.__contains__)
        words = itertools.chain.from_iterable(map(self._words_of, sent))
        return list(dict.fromkeys(word for word in words if word.startswith(beginning)))

    def _words_of(self, at: int) -> tuple[str, ...]:
        """Return the words in a recorded request, the address before the body."""
        if at not in self._words:
            sent = self.exchanges[at]
            text = (sent.request_body or b"").decode("utf-8", "replace")
            self._words[at] = tuple(_WORD.findall(f"{unquote(sent.url)} {text}"))
        return self._words[at]

    def shows(self, check_id: str, made: Sequence[Exchange]) -> bool:
        """Return whether the setup that is told of a check's finding has these exchanges."""
        told = {(e.request, e.request_body) for e in self._setups.get(check_id, ())}
        return bool(made) and told.issuperset(map(_as_told, made))

    def shows_next(self, check_id: str, maker: str) -> bool:
        """Return whether that setup has the next request of a maker that was not replayed yet."""
        waiting = [e for e in self.unused_of(maker) if e.step is not Step.UNDO]
        return self.shows(check_id, waiting[:1])

    def goes_on(self, check_id: str) -> bool:
        """Return whether the check has sent requests that were not replayed yet."""
        return any(e.step is not Step.UNDO for e in self.unused_of(check_id))

    def folder_for(self, check_id: str, table: str) -> Path | None:
        """Return a folder for a table's files; None if the run could not read its own.

        Then the check has sent nothing about the table after it was made.
        """
        place = f"/tables/{table}"
        sent = (
            self.exchanges[at] for at in self._of_check.get(check_id, ()) if not self._cleans_up(at)
        )
        if not any(place in each.url and each.method == "POST" for each in sent):
            return None
        return self._folders / blake2s(f"{check_id} {table}".encode(), digest_size=8).hexdigest()

    def _cleans_up(self, at: int) -> bool:
        return self.exchanges[at].step is Step.UNDO

    # ---- who has sent the requests

    def secrets(self) -> dict[str, str]:
        """Return what stands for the secrets of each principal in a replay, by whose they are.

        Requests of a replay show the digests by which the recording hides the secrets.
        """
        shown: defaultdict[str, Counter[str]] = defaultdict(Counter)
        clients: Counter[str] = Counter()
        for exchange in self.exchanges:
            for name, value in exchange.request_headers:
                if name.lower() == "authorization" and (found := _SHOWN.fullmatch(value)):
                    shown[(found[2] or "own:")[:-1]][found[1]] += 1
            if exchange.operation == "getToken" and exchange.status == 200:
                form = dict(parse_qsl((exchange.request_body or b"").decode("latin-1")))
                if form.get("client_secret"):
                    clients[f"{form.get('client_id', '')}:{form['client_secret']}"] += 1
        told = {whose: many.most_common(1)[0][0] for whose, many in shown.items()}
        own = told.get("own", _NOBODY)
        client = clients.most_common(1)[0][0] if clients else f"client:{own}"
        return {
            "token": own,
            "credential": client.removeprefix(":"),
            "second": told.get("second", "<redacted:second:00000000>"),
            "reader": told.get("reader", "<redacted:reader:00000000>"),
        }


def asked_by(exchange: Exchange) -> Asked:
    """Return what identifies the request of an exchange."""
    return Asked(exchange.check, exchange.method, exchange.url, exchange.request_body)


def in_substance(asked: Asked) -> Asked:
    """Return a request without the marks of its secrets, and without what they change in letters.

    A secret that a check makes up has another mark in a replay: the key of the run is not known.
    """
    return Asked(asked.check, asked.method, without_marks(asked.url), _plain(asked.body))


def _plain(body: bytes | None) -> bytes | None:
    if body is None:
        return None
    text = body.decode("latin-1")
    if "redacted" not in text:
        return body
    with contextlib.suppress(ValueError, RecursionError):  # a form, or what no client sends
        text = json.dumps(json.loads(body))
    return without_marks(text).encode()


def _as_told(exchange: Exchange) -> tuple[str, str]:
    """Return the request of an exchange as evidence tells it."""
    told = evidence_from(exchange, "")
    return told.request, told.request_body


def _was_unsendable(exchange: Exchange) -> bool:
    """Return whether a request was recorded that could not be written, and so was never sent."""
    return (exchange.error or "").startswith(UNSENDABLE)
