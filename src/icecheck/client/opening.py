"""Opens a session: reads the config, follows it, and finds a place for the run's objects."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from icecheck.client.isolation import drop_roots, isolate
from icecheck.client.session import UNKNOWN, Beginning, Isolation, Session
from icecheck.contract import DEFAULT_SPEC_VERSION, Contract, contract_for
from icecheck.findings.replay import Replays
from icecheck.ownership.ledger import Entry, Ledger
from icecheck.ownership.ledger_file import LedgerFile
from icecheck.ownership.request_guard import RequestGuard
from icecheck.replies.schema import schema_judge
from icecheck.targets.adaptations import Adaptations
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target, UsageError
from icecheck.targets.usual_urls import usual_urls
from icecheck.wire.connection import Connection, TargetUnusable, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import read_json
from icecheck.wire.redaction import Redactor
from icecheck.wire.scheme import other_url
from icecheck.wire.secret_values import Seen
from icecheck.wire.unreachable import Unreachable

WITHOUT_WAREHOUSE = "many catalogs serve no config without a warehouse: --warehouse NAME"

_RUN_ID = re.compile(r"[a-z0-9]{1,16}")


def open_session(
    target: Target,
    *,
    run_id: str,
    seed: int = 0,
    worker: str = "",
    spec: str = DEFAULT_SPEC_VERSION,
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
    ledger: Path | None = None,
    redactor: Redactor | None = None,
    replays: Replays = Replays(),  # noqa: B008 - a value that nothing changes
    beginning: Beginning | None = None,
    sleep: Callable[[float], None] | None = None,
) -> Session:
    """Ask the catalog for its config, find out how to work in it, and return the session.

    ``spec`` is the release that the catalog is held to. Everything that the run makes is entered in
    the file ``ledger`` beforehand; ``redactor`` is told all secrets, and may be shared.
    ``beginning`` is told what is seen on the way; ``sleep`` waits, in seconds, before a retry.
    Raises TargetUnusable when there is no catalog to verify, UsageError for a bad run id or ledger,
    or for ``replays`` that need what the catalog does not claim; only the config was asked then.
    """
    contract = contract_for(spec)
    _refuse_misuse(run_id, target, contract)
    begun = beginning or Beginning()
    connection = Connection(target, contract, transport, sleep=sleep, redactor=redactor)
    begun.connection = connection
    owner = target.owner(run_id)
    with contextlib.ExitStack() as undo, _told_if_unusable(connection, transport):
        undo.callback(connection.close)
        exchange, config = _fetch_config(connection, target, begun)
        offer = _offer_for(replays, Offer.read(config, target), contract)
        sent_to = _signed_in(connection, offer, target)
        journal = None if ledger is None else LedgerFile(ledger, owner, target)
        ledgered, undropped = Counter[Entry](), set[str]()
        root = Ledger(owner, journal, ledgered, undropped)
        if journal is not None:
            undo.callback(lambda: journal.close(keep=len(root) > 0))
        begun.session = session = Session(
            target=sent_to,
            connection=connection,
            contract=contract,
            schemas=schema_judge(contract),
            run_id=run_id,
            seed=seed,
            offer=offer,
            isolation=Isolation(UNKNOWN, ()),
            config=config,
            root=root,
            spec=spec,
            server_header=exchange.header("server"),
            on_exchange=on_exchange,
            journal=journal,
            worker=worker,
            replays=replays,
            adaptations=Adaptations(target.location_root, places_namespaces=True),
            config_url=target.base_url,
            ledgered=ledgered,
            undropped=undropped,
        )
        own = (contract, offer, target, sent_to, owner, ledgered)
        connection.guard = RequestGuard(*own, session.elsewhere)
        for one in begun.sent:
            session.record(one)
        undo.callback(session.absorb, root)
        session.at_close.callback(drop_roots, session)
        session.isolation = isolate(session, worker)
        undo.pop_all()
    return session


def _offer_for(replays: Replays, offer: Offer, contract: Contract) -> Offer:
    """Return the offer, if it has what is to be replayed; raise UsageError if not."""
    lacking = sorted(id_ for id_ in replays.operations if not offer.claims(id_, contract))
    if lacking:
        told = f"what is to be replayed needs {', '.join(lacking)}"
        raise UsageError(f"{told}, which the catalog's config does not claim")
    return offer


def _refuse_misuse(run_id: str, target: Target, contract: Contract) -> None:
    if not _RUN_ID.fullmatch(run_id):
        raise UsageError(f"run id {run_id!r}: use 1 to 16 lower-case letters and digits")
    unknown = [id_ for id_ in target.claims if id_ not in contract.operations]
    if unknown:
        raise UsageError(f"no operation {unknown[0]!r}: see `icecheck list operations`")


def _signed_in(connection: Connection, offer: Offer, target: Target) -> Target:
    """Make the connection follow the config, with the tokens of all principals; return the target.

    Raises as ``_followed`` and ``Connection.fetch_tokens`` do.
    """
    token = offer.overrides.get("token", offer.defaults.get("token"))
    if isinstance(token, str) and token:
        connection.use_token(token)
    sent_to = _followed(connection, offer, target)
    connection.fetch_tokens()
    return sent_to


def _followed(connection: Connection, offer: Offer, target: Target) -> Target:
    """Make the connection follow the config; return the target as the config tells clients.

    Raises TargetUnusable if the config cannot be followed.
    """
    try:
        followed = offer.sends(target)
        flaw = offer.flaw(target)
    except (UsageError, ValueError) as unsendable:
        raise TargetUnusable(
            f"the config tells clients what they cannot do: {unsendable}"
        ) from None
    if flaw is not None:
        raise TargetUnusable(f"the config is not followed, and nothing was sent: {flaw}")
    connection.follow(followed)
    return followed


def preflight(
    target: Target,
    contract: Contract,
    transport: httpx.BaseTransport | None = None,
    redactor: Redactor | None = None,
    beginning: Beginning | None = None,
) -> dict[str, Any]:
    """Ask for the config once, close the connection, and return the config.

    ``beginning`` is told what is seen on the way. Raises TargetUnusable when there is no catalog,
    or a config that a run would not follow.
    """
    begun = beginning or Beginning()
    begun.connection = connection = Connection(target, contract, transport, redactor=redactor)
    with contextlib.closing(connection), _told_if_unusable(connection, transport):
        _, config = _fetch_config(connection, target, begun)
        _followed(connection, Offer.read(config, target), target)
    return config


class _NoCatalog(Exception):
    """Something other than a catalog has answered; it may be a server that wants TLS."""

    def __init__(self, words: str, *, may_be_tls: bool) -> None:
        self.may_be_tls = may_be_tls
        super().__init__(words)


@contextlib.contextmanager
def _told_if_unusable(
    connection: Connection, transport: httpx.BaseTransport | None
) -> Iterator[None]:
    """Turn an unreachable target, or one that is no catalog, into TargetUnusable with advice.

    The message holds no secrets.
    """
    target, redactor = connection.target, connection.redactor
    try:
        yield
    except Unreachable as trouble:
        hint = _hint_of_tls(str(trouble))
        words = redactor.text(f"{target.base_url} cannot be reached: {trouble}{hint}")
        raise _unusable(words, target, look=transport is None and not hint) from None
    except _NoCatalog as other:
        look = transport is None and other.may_be_tls
        raise _unusable(redactor.text(str(other)), target, look=look) from None
    except TargetUnusable as unusable:
        words = redactor.text(str(unusable))
        raise TargetUnusable(words, other_url=unusable.other_url) from None


def _fetch_config(
    connection: Connection, target: Target, begun: Beginning
) -> tuple[Exchange, dict[str, Any]]:
    url = f"{target.base_url}{target.config_path}"
    wire = Wire("", 1, Step.PROBE, "getConfig", "GET", url, {}, None)
    exchange = connection.send(wire, begun.sent.append)
    connection.redactor.learn(exchange.response_body, Seen.IN_CONFIG)
    where, words = f"GET {url}", _error_words(exchange, connection.redactor)
    match exchange.status:
        case 200:
            pass
        case 401 | 403:
            raise TargetUnusable(
                f"{where} answered {exchange.status}: the credentials were refused; "
                "check --token or --credential"
            )
        case 400 | 404 if target.warehouse is not None and exchange.claims_json:
            raise TargetUnusable(
                f"{where} answered {exchange.status}{words}: "
                f"is --warehouse {target.warehouse!r} right?"
            )
        case status:
            raise _NoCatalog(
                f"{where} answered {status}{words}: no Iceberg REST catalog "
                "at this URL (give the part before /v1)",
                # Servers with TLS answer 400 to plain HTTP, if they answer at all.
                may_be_tls=status == 400 and not exchange.claims_json,
            )
    try:
        config = read_json(exchange.response_body)
    except ValueError:
        config = None
    if not isinstance(config, dict):
        media = exchange.header("content-type") or "no content type"
        raise TargetUnusable(
            f"{where} answered 200 with {media} that is no JSON object: no Iceberg REST catalog "
            "at this URL (give the part before /v1)"
        )
    begun.config = config
    return exchange, config


def _error_words(exchange: Exchange, redactor: Redactor) -> str:
    try:
        message = read_json(exchange.response_body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f" ({redactor.text(str(message))[:120]})"


def _hint_of_tls(trouble: str) -> str:
    said = trouble.upper()
    if " ALERT " in said:
        return "; it may want a certificate of its clients: --client-cert FILE --client-key FILE"
    if "CERTIFICATE" in said:
        return "; for a private authority give its certificate with --ca-bundle"
    return ""


def _unusable(words: str, target: Target, *, look: bool) -> TargetUnusable:
    """Return TargetUnusable, with the other URL if only the scheme of this one is wrong."""
    other = other_url(target.base_url, target.timeout_seconds) if look else None
    if other is None:
        return TargetUnusable(words)
    speaks = "speaks TLS" if other.startswith("https") else "speaks no TLS"
    return TargetUnusable(f"{words}; the server {speaks}: try {other}", other_url=other)


def help_to_reach(
    target: Target, contract: Contract, transport: httpx.BaseTransport | None, redactor: Redactor
) -> str:
    """Return the advice for a config that cannot be had, from one more look at the answer."""
    found = _asked(target.base_url, target, contract, transport, redactor)
    status = found.status or 0
    if not status:
        return "check the host, the port and the scheme; for a private authority: --ca-bundle FILE"
    if status in {401, 403}:
        return (
            "give --token, or --credential ID:SECRET with --oauth2-server-uri if it is elsewhere; "
            "AWS wants --sigv4 REGION/SERVICE"
        )
    if 300 <= status < 400:
        return f"it redirects to {found.header('location')}: give that URL"
    if status in {400, 404} and target.warehouse is None and found.claims_json:
        return WITHOUT_WAREHOUSE
    for url in usual_urls(target.base_url):
        if _is_config(answer := _asked(url, target, contract, transport, redactor)):
            return f"a catalog answers at {url}: give that URL"
        if answer.status == 401:
            return f"something that wants credentials answers at {url}: give that URL and --token"
    if status in {400, 404} and target.warehouse is None:
        return WITHOUT_WAREHOUSE
    if b"<html" in found.response_body[:2000].lower():
        return "a web page answers here: give the part of the URL before /v1"
    return "give the part of the URL before /v1, without /v1 itself"


def _asked(
    url: str,
    target: Target,
    contract: Contract,
    transport: httpx.BaseTransport | None,
    redactor: Redactor,
) -> Exchange:
    """Ask for a config below a URL of the same host; return the last exchange."""
    exchanges: list[Exchange] = []
    connection = Connection(target, contract, transport, redactor=redactor)
    asked = f"{url}{target.config_path}"
    wire = Wire("", 1, Step.PROBE, "getConfig", "GET", asked, {}, None)
    with contextlib.suppress(Unreachable, TargetUnusable):
        connection.send(wire, exchanges.append)
    connection.close()
    return exchanges[-1] if exchanges else Exchange("", 1, Step.PROBE, None, "GET", asked, (), None)


def _is_config(exchange: Exchange) -> bool:
    if exchange.status != 200:
        return False
    try:
        return isinstance(read_json(exchange.response_body), dict)
    except ValueError:
        return False
