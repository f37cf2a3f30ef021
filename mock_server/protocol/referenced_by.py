"""The views through which a table or view is read: the query parameter of 1.11.0 (L2054)."""

from urllib.parse import unquote_plus

from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.names import split_namespace

_PARAMETER = "referenced-by"


def check_referenced_by(query_string: str, separator: str | None) -> None:
    """Refuse (400) a list in which an element names no view; nothing depends on what it names.

    The list is taken apart as it was sent: a comma in a name is escaped. The last part of an
    element is the view's name, those before are its namespace's levels. Malformed escapes have been
    refused with the whole query before.
    """
    for pair in query_string.split("&"):
        name, _, value = pair.partition("=")
        if unquote_plus(name) != _PARAMETER:
            continue
        for element in value.split(","):
            parts = split_namespace(unquote_plus(element), separator)
            if len(parts) < 2:
                raise problem.malformed(f"{_PARAMETER} has no namespace for {parts[0][:100]!r}")
