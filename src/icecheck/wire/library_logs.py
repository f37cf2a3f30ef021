"""Keeps secrets out of what the libraries below a connection log, at whatever level."""

import logging
import re
from collections.abc import Callable

from icecheck.wire.redaction import Redactor

_READING = ("httpcore.connection", "httpcore.http11", "httpcore.http2", "httpx")
# It logs what it signs, every header among it, and the signature.
_SIGNING = "botocore.auth"
_HEADERS = re.compile(r"\[\(b['\"].*\)\]", re.DOTALL)


def hide_in_logs(redactor: Redactor) -> Callable[[], None]:
    """Redact the records of these libraries from now on; returns a function that ends it.

    The headers of an answer are logged before anybody could have learned what they hold: they are
    left out. Records about signing are dropped.
    """

    def hidden(record: logging.LogRecord) -> bool:
        record.msg = redactor.text(_HEADERS.sub("[…]", record.getMessage()))
        record.args = None
        return record.name != _SIGNING

    loggers = [logging.getLogger(name) for name in (*_READING, _SIGNING)]
    for logger in loggers:
        logger.addFilter(hidden)

    def end() -> None:
        for logger in loggers:
            logger.removeFilter(hidden)

    return end
