"""Whether the catalog gives idempotency keys a meaning."""

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered

NOT_ANNOUNCED = "the catalog announces no idempotency-key-lifetime: keys have no meaning there"


def require_keys(catalog: Catalog) -> str:
    """Return the announced lifetime of keys, as it is written; NotOffered where there is none.

    Clients must then assume that keys are not supported (1.11.0, L2181-L2182).
    """
    lifetime = catalog.session.offer.idempotency_key_lifetime
    if lifetime is None:
        raise NotOffered(NOT_ANNOUNCED, SkipKind.NOT_DECLARED)
    return lifetime
