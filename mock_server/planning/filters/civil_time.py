"""Dates, times and timestamps as text and in Iceberg's numbers, also beyond Python's years."""

import re

MICROS_DIGITS = 6
NANOS_DIGITS = 9

_DATE = r"([+-]?[0-9]{4,7})-([0-9]{2})-([0-9]{2})"
_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
_OFFSET = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE_PATTERN = re.compile(_DATE)
_CLOCK_PATTERN = re.compile(_CLOCK)
_TIMESTAMP_PATTERN = re.compile(rf"{_DATE}T{_CLOCK}{_OFFSET}")
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_PER_ERA = 146_097
_EPOCH_SHIFT_DAYS = 719_468
_SECONDS_PER_DAY = 86_400
_UNITS_PER_SECOND = {MICROS_DIGITS: 1_000_000, NANOS_DIGITS: 1_000_000_000}


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a day counted from 1970-01-01, proleptic Gregorian.

    Years are shifted to begin in March, so that the leap day is the last day of a year.
    """
    era, day_of_era = divmod(days + _EPOCH_SHIFT_DAYS, _DAYS_PER_ERA)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    return year, month, day


def days_from_text(text: str) -> int:
    """Return the days from 1970-01-01 of an ISO 8601 date; ValueError for any other text."""
    match = _DATE_PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(f"not a date: {text[:40]}")
    return _days(match[1], match[2], match[3])


def micros_of_day_from_text(text: str) -> int:
    """Return the microseconds since midnight of `HH:MM[:SS[.ffffff]]`; else ValueError."""
    match = _CLOCK_PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(f"not a time: {text[:40]}")
    return _units_of_day(match[1], match[2], match[3], match[4], MICROS_DIGITS)


def timestamp_from_text(text: str, fraction_digits: int, *, with_zone: bool) -> int:
    """Return the units since the epoch of an ISO 8601 timestamp; else ValueError.

    A unit is 10^-`fraction_digits` seconds. `with_zone` allows an offset from UTC, and reads a text
    without one as UTC: PyIceberg sends it so. ValueError also for digits beyond the precision.
    """
    match = _TIMESTAMP_PATTERN.fullmatch(text)
    if match is None or (match[8] and not with_zone):
        raise ValueError(f"not a timestamp: {text[:60]}")
    days = _days(match[1], match[2], match[3])
    units = _units_of_day(match[4], match[5], match[6], match[7], fraction_digits)
    offset_seconds = 0
    if match[8] and match[8] != "Z":
        hours, minutes = match[8][1:].split(":")
        offset_seconds = int(hours) * 3600 + int(minutes) * 60
        if offset_seconds > 18 * 3600:
            raise ValueError(f"no such offset: {match[8]}")
        if match[8][0] == "-":
            offset_seconds = -offset_seconds
    return (days * _SECONDS_PER_DAY - offset_seconds) * _UNITS_PER_SECOND[fraction_digits] + units


def timestamp_of_day(days: int, fraction_digits: int) -> int:
    """Return the units since the epoch of a day's midnight."""
    return days * _SECONDS_PER_DAY * _UNITS_PER_SECOND[fraction_digits]


def text_from_days(days: int) -> str:
    """Return the ISO 8601 date of a day counted from 1970-01-01."""
    year, month, day = civil_from_days(days)
    return f"{_year_text(year)}-{month:02}-{day:02}"


def text_from_micros_of_day(micros: int) -> str:
    """Return `HH:MM:SS.ffffff` for a time of day in microseconds."""
    return _clock_text(micros, MICROS_DIGITS)


def text_from_timestamp(units: int, fraction_digits: int, *, with_zone: bool) -> str:
    """Return the ISO 8601 timestamp with all fraction digits; types with a zone get `+00:00`."""
    days, units_of_day = divmod(units, _SECONDS_PER_DAY * _UNITS_PER_SECOND[fraction_digits])
    clock = _clock_text(units_of_day, fraction_digits)
    return f"{text_from_days(days)}T{clock}{'+00:00' if with_zone else ''}"


def _days(year_text: str, month_text: str, day_text: str) -> int:
    year, month, day = int(year_text), int(month_text), int(day_text)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_LENGTHS[month - 1] + (leap and month == 2):
        raise ValueError(f"no such day: {year_text}-{month_text}-{day_text}")
    shifted_year = year - (month <= 2)
    era, year_of_era = divmod(shifted_year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_PER_ERA + day_of_era - _EPOCH_SHIFT_DAYS


def _units_of_day(
    hour: str, minute: str, second: str | None, fraction: str | None, fraction_digits: int
) -> int:
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"no such time: {hour}:{minute}:{second}")
    digits = (fraction or "").rstrip("0")
    if len(digits) > fraction_digits:
        raise ValueError(f"more than {fraction_digits} digits of a second: {fraction}")
    whole = hours * 3600 + minutes * 60 + seconds
    return whole * _UNITS_PER_SECOND[fraction_digits] + int(digits.ljust(fraction_digits, "0"))


def _clock_text(units_of_day: int, fraction_digits: int) -> str:
    seconds, fraction = divmod(units_of_day, _UNITS_PER_SECOND[fraction_digits])
    hours, rest = divmod(seconds, 3600)
    return f"{hours:02}:{rest // 60:02}:{rest % 60:02}.{fraction:0{fraction_digits}}"


def _year_text(year: int) -> str:
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}"
