"""How long a catalog keeps idempotency keys, as its config announces it (1.11.0, L2172)."""

import re

_FRACTION = r"\d+(?:[.,]\d+)?"
_LAST = "(?:[.,]\\d+)?"
_IN_UNITS = re.compile(
    rf"P(?=[\dT])(?:{_FRACTION}W|(?:{_FRACTION}Y)?(?:{_FRACTION}M)?(?:{_FRACTION}D)?"
    rf"(?:T(?=\d)(?:{_FRACTION}H)?(?:{_FRACTION}M)?(?:{_FRACTION}S)?)?)"
)
_AS_A_DATE = re.compile(
    rf"P(?:\d{{4}}-?(?:\d{{2}}-?\d{{2}}|\d{{3}}))(?:T\d{{2}}:?\d{{2}}:?\d{{2}}{_LAST})?"
)
_OF_JAVA = re.compile(
    r"P(?=[\dT])(?:(?P<days>\d+)D)?(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?"
    r"(?:(?P<seconds>\d+(?:[.,]\d{0,9})?)S)?)?"
)
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def is_duration(text: str) -> bool:
    """Return whether a text is a duration of ISO 8601, in either format, capitals or not.

    Letters may be small by RFC 3339, which JSON Schema's format names. Units may be left out, and
    each may have a fraction: ISO allows that for the last one, and no sentence draws the line here.
    """
    return any(form.fullmatch(text.upper()) for form in (_IN_UNITS, _AS_A_DATE))


def readable_seconds(text: str) -> float | None:
    """Return the length of a duration that Java's client reads; None for one that it does not."""
    found = _OF_JAVA.fullmatch(text.upper())
    if found is None:
        return None
    counts = found.groupdict(default="0")
    return sum(float(counts[unit].replace(",", ".")) * each for unit, each in _SECONDS.items())
