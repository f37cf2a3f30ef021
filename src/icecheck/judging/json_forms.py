"""Judges answers as the JSON text that travels between systems (RFC 8259)."""

from collections.abc import Iterator

from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.findings.verdict import Finding
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import JsonFlaw

_STRICT_PARSERS = "iceberg-go and iceberg-rust: their JSON parsers refuse the whole answer"

_ENCODED_OTHERWISE = declare(
    "json-encoded-otherwise",
    "Sends JSON that is not UTF-8 without a byte order mark",
    Severity.SHAPE,
    _STRICT_PARSERS,
    values_in_title=False,
)
_NO_NUMBER = declare(
    "json-no-number",
    "Sends NaN or Infinity, which JSON does not have",
    Severity.SHAPE,
    _STRICT_PARSERS,
    values_in_title=False,
)
_MEMBER_TWICE = declare(
    "json-member-twice",
    "Sends JSON objects in which a member stands twice",
    Severity.SHAPE,
    "iceberg-rust: refuses the answer where it knows the member; others read one of the two",
    values_in_title=False,
)
_BEYOND_DOUBLES = declare(
    "json-number-beyond-doubles",
    "Sends numbers that no double can hold",
    Severity.SHAPE,
    _STRICT_PARSERS,
    values_in_title=False,
)

TITLES = {
    "http.json-in-utf-8": "JSON comes in UTF-8, without a byte order mark",
    "http.json-has-no-nan": "JSON comes without NaN and Infinity",
    "http.json-members-once": "JSON comes with each member of an object once",
    "http.json-numbers-fit-doubles": "JSON comes with numbers that a double can hold",
}
"""Check id, which is that of its requirement, -> its title."""

_CHECKS: dict[JsonFlaw, tuple[str, Symptom, str]] = {
    JsonFlaw.ENCODING: ("http.json-in-utf-8", _ENCODED_OTHERWISE, "UTF-8 without a mark"),
    JsonFlaw.NO_NUMBER: ("http.json-has-no-nan", _NO_NUMBER, "a number or null"),
    JsonFlaw.REPEATED: ("http.json-members-once", _MEMBER_TWICE, "each member once"),
    JsonFlaw.RANGE: (
        "http.json-numbers-fit-doubles",
        _BEYOND_DOUBLES,
        "numbers in the range of a double",
    ),
}


def findings_of(exchange: Exchange) -> Iterator[tuple[str, Finding]]:
    """Yield check id and finding for each flaw of an answer that says it is JSON."""
    for flaw, told in exchange.text_flaws:
        check_id, symptom, due = _CHECKS[flaw]
        where = f"in the body of {exchange.operation} {exchange.status}"
        yield check_id, Finding(symptom, due, told, where, exchange=exchange.ordinal)
