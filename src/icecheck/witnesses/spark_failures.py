"""Classifies a failed Spark statement: a finding, no answer, not offered, or an error of ours."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CHAIN_MAX = 12

# Iceberg's exception classes for an answer by which the catalog refuses a request. Other exceptions
# are no refusals.
_REFUSALS = frozenset(
    {"BadRequestException", "ForbiddenException", "RESTException", "UnsupportedOperationException"}
)
_NO_ANSWER = frozenset(
    {
        "ConnectException",
        "ConnectTimeoutException",
        "ConnectionRequestTimeoutException",
        "HttpHostConnectException",
        "NoHttpResponseException",
        "SSLException",
        "SSLHandshakeException",
        "SSLPeerUnverifiedException",
        "ServiceUnavailableException",
        "SocketException",
        "SocketTimeoutException",
        "UnknownHostException",
    }
)
_JVM_TROUBLE = frozenset(
    {"OutOfMemoryError", "NoSuchMethodError", "AbstractMethodError", "NoClassDefFoundError"}
)
_OBJECT_STORE = re.compile(
    r"Failed to get file system for path|No FileSystem for scheme|"
    r"(NoClassDefFoundError|ClassNotFoundException): "
    r"(software[/.]amazon|com[/.]google[/.]cloud|com[/.]azure)"
)
_UNSUPPORTED_ENDPOINT = re.compile(r"Server does not support endpoint: (.*)")


@dataclass(frozen=True, slots=True)
class Throwable:
    """One exception in Java's chain of causes."""

    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


Kind = str
"""``finding``, ``no-answer``, ``not-claimed`` or ``no-object-store`` (see Failure)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A classified failure of a statement.

    ``kind``: "finding", the catalog is at fault unless the statement had to fail; "no-answer", the
    catalog could not be reached; "not-claimed", the client sent nothing because the catalog's
    config does not offer the endpoint; "no-object-store", the tables are in a store for which this
    JVM has no client. ``words`` is one line without the run's own names, so that equal failures
    have equal words.
    """

    kind: Kind
    chain: tuple[Throwable, ...]
    words: str

    @property
    def refused(self) -> bool:
        """Whether the catalog answered with a refusal."""
        return any(one.name in _REFUSALS for one in self.chain)

    def is_a(self, name: str) -> bool:
        """Return whether the chain contains a class of this simple name."""
        return any(one.name == name for one in self.chain)


def read_failure(error: BaseException, names: Mapping[str, str]) -> Failure | None:
    """Return the failure in an error of PySpark; None if it says nothing about the catalog.

    None means an error without a Java exception (the JVM is gone), or an error of the JVM itself.
    ``names`` are the run's own, placeholder -> text; they are removed from ``words``.
    """
    chain = _chain(error)
    kind = _kind(chain)
    if kind is None:
        return None
    return Failure(kind, chain, _anonymous(str(_telling(chain)), names))


def _chain(error: BaseException) -> tuple[Throwable, ...]:
    java: Any = getattr(error, "java_exception", None)
    found = []
    if java is None:
        java = getattr(error, "_origin", None)
        if java is not None:
            # Readers of the script know the error by PySpark's own class.
            found.append(Throwable(type(error).__name__, ""))
    while java is not None and len(found) < CHAIN_MAX:
        message = java.getMessage()
        found.append(Throwable(java.getClass().getSimpleName(), message or ""))
        java = java.getCause()
    return tuple(found)


def _telling(chain: tuple[Throwable, ...]) -> Throwable:
    """Return the most informative exception: the catalog's answer, else the innermost one."""
    said = [one for one in chain if one.message]
    answers = [one for one in said if one.name in _REFUSALS | _NO_ANSWER]
    return (answers or said or list(chain))[-1]


def _kind(chain: tuple[Throwable, ...]) -> Kind | None:
    texts = [str(one) for one in chain]
    names = {one.name for one in chain}
    if any(_UNSUPPORTED_ENDPOINT.search(text) for text in texts):
        return "not-claimed"
    if any(_OBJECT_STORE.search(text) for text in texts):
        return "no-object-store"
    if not chain or names & _JVM_TROUBLE:
        return None
    if names & _NO_ANSWER:
        return "no-answer"
    return "finding"


def _anonymous(text: str, names: Mapping[str, str]) -> str:
    """Return the first line without the run's names, uuids and long numbers."""
    text = _message_in(text.strip())
    line = text.splitlines()[0] if text else text
    for placeholder, name in sorted(names.items(), key=lambda item: -len(item[1])):
        line = line.replace(name, f"{{{placeholder}}}")
    line = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "{uuid}", line)
    line = re.sub(r"\b\d{12,}\b", "{number}", line)
    line = re.sub(r"(Request ID: )[^,)]+", r"\1{id}", line)
    return line if len(line) <= 240 else f"{line[:239]}…"


def _message_in(text: str) -> str:
    """Return the text with a quoted JSON answer replaced by its message.

    Iceberg's client quotes errors of other forms than the document's in full, including paths.
    """
    before, brace, rest = text.partition("{")
    try:
        answer = json.loads(brace + rest)
    except ValueError:
        return text
    error = answer.get("error")
    message = (error if isinstance(error, dict) else answer).get("message")
    return before + message if isinstance(message, str) else text
