"""Routes for the server as a whole: health, clock, tokens, snapshots and reset."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from icecheck.mock_server.admin.declared import Asked, Parts, Refusal, no_such, route
from icecheck.mock_server.admin.misbehaviour import clear_faults
from icecheck.mock_server.core.clock import SystemClock, VirtualClock
from icecheck.mock_server.serving.gates import RELEASE_SECONDS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_MAX_MS = 253_402_300_799_999
_ADVANCE_MAX_MS = 100 * 366 * 24 * 3600 * 1000


class Health(msgspec.Struct, frozen=True):
    """Whether the server answers."""

    status: Literal["ready"]


class Info(msgspec.Struct, frozen=True):
    """What serves here."""

    icecheck: str
    specification: str
    uri: str
    warehouses_on_demand: bool
    operations: list[str]


class Time(msgspec.Struct, frozen=True):
    """The time of the server's clock, and whether it stands still."""

    time_ms: int
    time: str
    stands_still: bool


class Advance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far to move the clock."""

    milliseconds: Annotated[int, Meta(ge=0, le=_ADVANCE_MAX_MS)]


class Freeze(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At what time to stop the clock (ISO 8601); null: at its present time."""

    time: Annotated[str, Meta(extra_json_schema={"format": "date-time"})] | None = None


class Saved(msgspec.Struct, frozen=True):
    """A saved snapshot, and the warehouses in it."""

    id: str
    warehouses: list[str]


class Snapshots(msgspec.Struct, frozen=True):
    """All saved snapshots."""

    snapshots: list[Saved]


class Reset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to reset, apart from what the warehouses hold."""

    faults: bool = True
    gates: bool = True
    defects: bool = True
    journal: bool = True


@route("GET", "/health", answer=Health)
def health(_parts: Parts, _asked: Asked) -> Health:
    """Tell that the server is ready: whoever gets an answer may send requests."""
    return Health("ready")


@route("GET", "/info", answer=Info)
def get_info(parts: Parts, _asked: Asked) -> Info:
    """Tell what serves here: versions, and the operations that are served."""
    from icecheck import __version__

    served = sorted(parts.registries.operations)
    return Info(
        __version__, parts.served.contract.version, parts.uri, parts.warehouses.on_demand, served
    )


@route("GET", "/clock", answer=Time)
def get_clock(parts: Parts, _asked: Asked) -> Time:
    """Tell the time of the server's clock; a clock that moves with each look moves."""
    return _time(_movable(parts))


@route("POST", "/clock/advance", body=Advance, answer=Time, refusals=(409,))
def advance_clock(parts: Parts, asked: Asked) -> Time:
    """Move the clock forward: tokens and credentials end earlier."""
    clock, far = _movable(parts), asked.body.milliseconds
    if clock.now_ms() + far > _TIME_MAX_MS:
        raise Refusal(400, "the clock would be past the year 9999")
    clock.advance(far)
    return _time(clock)


@route("POST", "/clock/freeze", body=Freeze, answer=Time, refusals=(409,))
def freeze_clock(parts: Parts, asked: Asked) -> Time:
    """Stop the clock, at its present time or at the one that is given."""
    clock = _movable(parts)
    clock.freeze(None if asked.body.time is None else _milliseconds(asked.body.time))
    return _time(clock)


@route("POST", "/clock/resume", answer=Time, refusals=(409,))
def resume_clock(parts: Parts, _asked: Asked) -> Time:
    """Let a clock that was stopped go on from the time at which it stands."""
    clock = _movable(parts)
    if isinstance(clock, VirtualClock):
        raise Refusal(409, "this server was started with a clock that stands still")
    clock.resume()
    return _time(clock)


@route("POST", "/tokens/revoke")
def revoke_tokens(parts: Parts, _asked: Asked) -> None:
    """Refuse from now on every token that was given so far, except the static one."""
    parts.security.revoke_tokens()


@route("GET", "/snapshots", answer=Snapshots)
def list_snapshots(parts: Parts, _asked: Asked) -> Snapshots:
    """List the saved snapshots."""
    saved = parts.states.saved.items()
    return Snapshots([Saved(id_, sorted(snapshot.states)) for id_, snapshot in saved])


@route("POST", "/snapshots", answer=Saved, status=201)
def save_snapshot(parts: Parts, _asked: Asked) -> Saved:
    """Remember what all warehouses hold now; this costs nothing."""
    id_ = parts.states.save()
    return Saved(id_, sorted(parts.states.saved[id_].states))


@route("POST", "/snapshots/{id}/restore", refusals=(404,))
def restore_snapshot(parts: Parts, asked: Asked) -> None:
    """Go back to a snapshot; warehouses opened since then are emptied, data files stay."""
    snapshot = parts.states.saved.get(asked.names["id"])
    if snapshot is None:
        raise no_such("snapshot", asked.names["id"])
    parts.states.restore(snapshot)


@route("DELETE", "/snapshots/{id}", refusals=(404,))
def forget_snapshot(parts: Parts, asked: Asked) -> None:
    """Forget a snapshot."""
    try:
        parts.states.forget(asked.names["id"])
    except KeyError:
        raise no_such("snapshot", asked.names["id"]) from None


@route("POST", "/reset", body=Reset, refusals=(409,))
def reset(parts: Parts, asked: Asked) -> None:
    """Empty every warehouse, and remove faults, gates and defects, and the journal, as asked.

    What waits at a gate is handled before that. 409, and all is reset, if a strict fault never
    fired. Snapshots and tokens stay, and the clock stays as it is.
    """
    if asked.body.gates:
        parts.gates.clear(timeout=RELEASE_SECONDS)
    parts.states.empty_all()
    if asked.body.defects:
        parts.defects.clear()
    if asked.body.journal:
        parts.journal.clear()
    if asked.body.faults:
        clear_faults(parts, asked)


def _milliseconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refusal(400, f"time is none in ISO 8601: {error}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    milliseconds = round((moment - _EPOCH) / timedelta(milliseconds=1))
    if not 0 <= milliseconds <= _TIME_MAX_MS:
        raise Refusal(400, "a time from 1970 to 9999, in UTC")
    return milliseconds


def _movable(parts: Parts) -> SystemClock | VirtualClock:
    if isinstance(parts.clock, SystemClock | VirtualClock):
        return parts.clock
    raise Refusal(409, "this server was given a clock of its program's own")


def _time(clock: SystemClock | VirtualClock) -> Time:
    now = clock.now_ms()
    shown = datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds")
    stopped = isinstance(clock, VirtualClock) or clock.stopped_ms is not None
    return Time(now, shown, stopped)
