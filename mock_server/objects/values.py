"""The values of parameters and headers: moto fails at those that it cannot read."""

import re
from collections.abc import Mapping
from datetime import datetime

from icecheck.mock_server.objects.refusals import S3Refusal

_DATE_FORM = "%a, %d %b %Y %H:%M:%S GMT"
_DATES = frozenset({"if-modified-since", "if-unmodified-since"})
_INTEGER_MAX = 2**31 - 1
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "max-keys": (0, _INTEGER_MAX),
    "max-parts": (0, _INTEGER_MAX),
    "max-uploads": (0, _INTEGER_MAX),
    "part-number-marker": (0, _INTEGER_MAX),
    "partNumber": (1, 10_000),
}
_RANGE = re.compile(r"bytes=[0-9]{0,18}-[0-9]{0,18}(,[0-9]{0,18}-[0-9]{0,18})*")


def check_numbers(query: Mapping[str, str]) -> None:
    """Raise S3Refusal for a parameter that is no number, or not one that it can be."""
    for name, (least, most) in _NUMBERS.items():
        value = query.get(name)
        if value is not None and not is_number(value, least, most):
            raise S3Refusal(
                400, "InvalidArgument", f"{name} has to be a number from {least} to {most}"
            )


def is_number(text: str, least: int, most: int) -> bool:
    """Return whether a text is a whole number in decimal digits between two others."""
    is_short = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return is_short and least <= int(text) <= most


def is_acted_upon(method: str, name: str, value: str) -> bool:
    """Return whether a header has an effect: HTTP has a malformed range or date ignored."""
    if name == "range":
        return method in {"GET", "HEAD"} and _RANGE.fullmatch(value) is not None
    return name not in _DATES or _is_date(value)


def _is_date(text: str) -> bool:
    try:
        datetime.strptime(text, _DATE_FORM)  # noqa: DTZ007 - it is only read
    except ValueError:
        return False
    return True
