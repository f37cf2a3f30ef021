"""Checks of the announced lifetime of idempotency keys."""

import time
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.conformance.idempotency.keys import NOT_ANNOUNCED, require_keys
from icecheck.conformance.idempotency.lifetimes import is_duration, readable_seconds
from icecheck.conformance.idempotency.repeating import again, first, keyed
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.replies.matching import show

_NO_DURATION = declare(
    "key-lifetime-is-no-duration",
    "Announces a lifetime of idempotency keys that is no duration",
    Severity.SHAPE,
    "Spark, Flink, Trino (Java client 1.11): do not start",
)
_UNREADABLE = declare(
    "key-lifetime-unreadable",
    "Announces a lifetime of idempotency keys in units that clients do not read",
    Severity.REFUSED,
    "Spark, Flink, Trino (Java client 1.11): do not start",
)

_MEMBER = "idempotency-key-lifetime"
_PAUSE_SECONDS = 2.0
_OTHERS = 4


def _announced(catalog: Catalog) -> tuple[Reply, Any]:
    """Return an answer of the config, and the lifetime in it; null reads as absent."""
    reply = catalog.get_config(catalog.target.warehouse).expect(200)
    lifetime = object_in(reply).get(_MEMBER)
    if lifetime is None:
        raise NotOffered(NOT_ANNOUNCED, SkipKind.NOT_DECLARED)
    return reply, lifetime


@check("getConfig.idempotency-key-lifetime")
def test_the_lifetime_of_keys_is_a_duration(catalog: Catalog) -> None:
    """The announced lifetime of idempotency keys is a duration of ISO 8601."""
    reply, lifetime = _announced(catalog)
    if not isinstance(lifetime, str):
        reply.expect_shape(f"/{_MEMBER}")
    if not isinstance(lifetime, str) or not is_duration(lifetime):
        due = "a duration such as PT30M"
        raise reply.violation(_NO_DURATION, due, show(lifetime), pointer=f"/{_MEMBER}")


@check("getConfig.idempotency-key-lifetime-readable")
def test_clients_can_read_the_lifetime_of_keys(catalog: Catalog) -> None:
    """The announced lifetime of idempotency keys is in days, hours, minutes and seconds."""
    reply, lifetime = _announced(catalog)
    if not isinstance(lifetime, str) or not is_duration(lifetime):
        why = f"{show(lifetime)} is no duration"
        raise Blocked("getConfig.idempotency-key-lifetime", why, exchange=reply.exchange.ordinal)
    if readable_seconds(lifetime) is None:
        due = "days, hours, minutes and seconds only"
        raise reply.violation(_UNREADABLE, due, show(lifetime), pointer=f"/{_MEMBER}")


@check("idempotency.kept-for-the-lifetime")
def test_keys_are_kept_for_a_while(catalog: Catalog) -> None:
    """A key is still honoured after two seconds and four others, if it is to be kept longer."""
    seconds = readable_seconds(require_keys(catalog))
    if not seconds:
        raise not_applicable("nobody can tell how long keys are to be kept")
    namespace = catalog.new_namespace_name()
    body = {"namespace": [*namespace], "properties": {}}
    creation = keyed(catalog, "createNamespace", body=body)
    created = first(catalog, creation)
    ends = time.monotonic() + min(_PAUSE_SECONDS, seconds / 2)
    if catalog.claims("updateProperties"):
        for number in range(_OTHERS):
            change = {"removals": [], "updates": {"icecheck.keyed": str(number)}}
            other = keyed(catalog, "updateProperties", {"namespace": namespace}, change)
            if not other.send(catalog).ok:
                break  # a catalog may keep no properties
    catalog.session.connection.pause(max(0.0, ends - time.monotonic()))
    again(catalog, creation, created, "after-a-while")
