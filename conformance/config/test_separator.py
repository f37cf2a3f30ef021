"""Checks of how a configuration announces what separates the levels of namespaces."""

import re
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT, show

_SEPARATOR_NOT_ENCODED = declare(
    "separator-not-encoded",
    "Announces what separates the levels of namespaces otherwise than percent-encoded",
    Severity.SHAPE,
)
_SEPARATOR_EMPTY = declare(
    "separator-empty",
    "Announces that nothing separates the levels of namespaces",
    Severity.REFUSED,
    "Java's client, PyIceberg, iceberg-cpp: refuse it and do not start",
)

_NAME = "namespace-separator"
# RFC 3986 leaves letters, digits, hyphen, dot, underscore and tilde as they are; forms, which are
# URL-encoded too, leave an asterisk, and write a space as a plus sign.
_ENCODED = re.compile(r"([A-Za-z0-9._~*+-]|%[0-9A-Fa-f]{2})*")


@check("getConfig.separator-encoded")
def test_the_separator_is_announced_encoded(catalog: Catalog) -> None:
    """What separates the levels of namespaces is announced percent-encoded."""
    reply, member, announced = _announced(catalog)
    if not _ENCODED.fullmatch(announced):
        raise reply.violation(
            _SEPARATOR_NOT_ENCODED,
            "percent-encoded text",
            show(announced),
            pointer=f"/{member}/{_NAME}",
        )


@check("getConfig.separator-not-empty")
def test_the_separator_is_not_empty(catalog: Catalog) -> None:
    """What is announced to separate the levels of namespaces is not empty."""
    reply, member, announced = _announced(catalog)
    if not announced:
        raise reply.violation(
            _SEPARATOR_EMPTY, "a separator, or none announced", '""', pointer=f"/{member}/{_NAME}"
        )


def _announced(catalog: Catalog) -> tuple[Reply, str, str]:
    """Return the config, the member of it that counts, and the separator there, as clients do."""
    reply = catalog.get_config(catalog.target.warehouse).expect(200)
    config = object_in(reply)
    for member in ("overrides", "defaults"):
        values = config.get(member)
        said: Any = values.get(_NAME, ABSENT) if isinstance(values, dict) else ABSENT
        if isinstance(said, str):
            return reply, member, said
        if said is not ABSENT:
            raise not_applicable("what is announced is no text: another check judges that")
    raise not_applicable("the configuration announces no separator of levels")
