"""Legal values that a careless server changes when it stores them or returns them.

Each value tests one property; the comment beside it names the error that it detects. A catalog may
refuse any of them with a 4xx, and must keep those that it accepts.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EdgeValue:
    """One legal value and a few words on what is unusual about it (the same in every run)."""

    what: str
    value: Any


LONG_TEXT = "0123456789abcdef" * 512
"""8 KiB: longer than a VARCHAR(4000), shorter than any sensible limit of a request."""

STRINGS = (
    EdgeValue("the empty string", ""),  # '' is NULL; dropped as a falsy value
    EdgeValue("blanks around", " lead and trail "),  # strip()
    EdgeValue("a single blank", " "),  # strip(), then '' is NULL
    EdgeValue("two blanks inside", "a  b"),  # whitespace folded
    EdgeValue("a no-break space at the end", "a\u00a0"),  # a strip() that knows Unicode
    EdgeValue("a tab", "a\tb"),  # columns separated by tabs
    EdgeValue("CR LF", "a\r\nb"),  # line ends normalised
    EdgeValue("a bare CR", "a\rb"),  # line ends normalised, as XML does
    EdgeValue("LF at the end", "a\nb\n"),  # read as a line; an unescaped properties file
    EdgeValue("an apostrophe", "it's ''"),  # SQL put together as text; '' unescaped
    EdgeValue("quotation marks", '"a" ""'),  # JSON put together as text; a CSV column
    EdgeValue("a backtick", "`a`"),  # identifiers unquoted
    EdgeValue("backslashes", "a\\b\\\\c\\n\\u0041"),  # escapes read twice
    EdgeValue("a percent sign", "%41%2F%zz %s %d"),  # percent-decoded; a format string
    EdgeValue("a plus sign", "a+b c"),  # form-decoded
    EdgeValue("& ? # = ;", "a&b?c#d=e;f"),  # put into a query or a list of pairs
    EdgeValue("slashes", "//a//b/"),  # normalised as a path
    EdgeValue("dots that climb", "../a/./b/.."),  # normalised as a path
    EdgeValue("braces", "{a} {{b}} %{c}"),  # a template, str.format
    EdgeValue("a variable", "${HOME} $a ${env:HOME}"),  # substituted as Hadoop and shells do
    EdgeValue("markup", "<b>&amp;</b>&lt;"),  # escaped or unescaped for HTML
    EdgeValue("null as text", "null"),  # taken for no value
    EdgeValue("None as text", "None"),  # str(None) turned back
    EdgeValue("true as text", "true"),  # typed by its looks
    EdgeValue("False as text", "False"),  # lower-cased as a flag
    EdgeValue("zero as text", "0"),  # dropped as a falsy value
    EdgeValue("an exponent as text", "1e5"),  # typed by its looks
    EdgeValue("leading zeros", "007"),  # typed by its looks
    EdgeValue("trailing zeros", "1.500"),  # typed by its looks
    EdgeValue("a number beyond doubles", "9007199254740993"),  # typed by its looks
    EdgeValue("JSON as text", '{"b": 1,  "a": [2]}'),  # parsed and written anew
    EdgeValue("a list as text", "[b, a,, a]"),  # split at commas
    EdgeValue("commas", "b,a,,a,"),  # split and joined
    EdgeValue("a date as text", "2026-02-30"),  # typed by its looks
    EdgeValue("capitals", "MiXeD"),  # lower()
    EdgeValue("a composed letter", "caf\u00e9"),  # NFD
    EdgeValue("a decomposed letter", "cafe\u0301"),  # NFC
    EdgeValue("a ligature and full width", "\ufb01 \uff21"),  # NFKC
    EdgeValue("a sharp s", "stra\u00dfe \u1e9e"),  # casefold(), upper()
    EdgeValue("dotted and dotless i", "\u0130\u0131Ii"),  # lower() of the Turkish kind
    EdgeValue("a character beyond the basic plane", "\U0001f427"),  # utf8mb3, UTF-16 cut in two
    EdgeValue("joined characters", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),  # joiner dropped
    EdgeValue("right to left", "\u05e9\u05dc\u05d5\u05dd abc \u202e\u202c"),  # marks dropped
    EdgeValue("a byte order mark", "\ufeffa"),  # utf-8-sig
    EdgeValue("a line separator", "a\u2028b\u0085c"),  # splitlines()
    EdgeValue("SQL wildcards", "100%_[a]*?"),  # LIKE patterns escaped and kept so
    EdgeValue("a comment", "a -- b /* c */ # d"),  # comments removed
    EdgeValue("8 KiB", LONG_TEXT),  # cut to the width of a column
)
"""Values for members that are free text: property values, docs, SQL, summaries."""

KEYS = (
    EdgeValue("a key with a capital", "icecheck.hostile.Case"),  # keys lower-cased
    EdgeValue("the same key in small letters", "icecheck.hostile.case"),  # case-insensitive maps
    EdgeValue("the same key in capitals", "icecheck.hostile.CASE"),
    EdgeValue("a key that begins another one", "icecheck.hostile"),  # dots taken for nesting
    EdgeValue("a key with empty parts", "icecheck.hostile..a."),
    EdgeValue("a key with blanks", " icecheck hostile key "),  # strip()
    EdgeValue("the same key without blanks around", "icecheck hostile key"),
    EdgeValue("a key with quotes", "icecheck.hostile'\"`"),  # SQL and JSON paths
    EdgeValue("a key with a backslash", "icecheck.hostile\\a"),
    EdgeValue("a key with a percent sign", "icecheck.hostile%41"),  # decoded
    EdgeValue("the key that this is decoded", "icecheck.hostileA"),
    EdgeValue("a key with = and :", "icecheck.hostile=a:b"),  # a properties file
    EdgeValue("a key with a slash", "icecheck.hostile/a~1b"),  # JSON pointers
    EdgeValue("a key with a wildcard", "icecheck_hostile.%"),  # LIKE
    EdgeValue("a key with a line end", "icecheck.hostile\na"),
    EdgeValue("a composed key", "icecheck.hostile.caf\u00e9"),  # keys normalised
    EdgeValue("the same key decomposed", "icecheck.hostile.cafe\u0301"),
    EdgeValue("a key beyond the basic plane", "icecheck.hostile.\U0001f427"),  # utf8mb3
    EdgeValue("a key with a sharp s", "icecheck.hostile.stra\u00dfe"),  # casefold(), collations
    EdgeValue("a key that is equal for some collations", "icecheck.hostile.strasse"),
    EdgeValue("a number as a key", "007"),  # an array of a scripting language
    EdgeValue("a smaller number as a key", "7"),
    EdgeValue("a key with a dollar", "$icecheck.hostile"),  # document stores
    EdgeValue("a key of an object's prototype", "__proto__"),  # JavaScript
    EdgeValue("an underscore for a hyphen", "icecheck_hostile_a"),  # members renamed
    EdgeValue("a hyphen for an underscore", "icecheck-hostile-a"),
    EdgeValue("a long key", "icecheck.hostile." + "k" * 500),  # VARCHAR(255)
)
"""Keys for free maps; several are equal for a server that folds case, trims or decodes."""

INTEGERS = (
    EdgeValue("zero", 0),  # dropped as a falsy value
    EdgeValue("one", 1),  # taken for true
    EdgeValue("2^31 - 1", 2**31 - 1),
)
"""Values for members that are 32 bits wide and not negative."""

FLOAT_BREAKERS = (
    EdgeValue("2^53 + 1", 2**53 + 1),  # a double
    EdgeValue("2^63 - 1", 2**63 - 1),  # a double; one more wraps around
    EdgeValue("16 digits of nine", 9_999_999_999_999_999),  # a double, an exponent
)
"""Integers that no double holds."""

LONGS = (
    *INTEGERS,
    EdgeValue("2^31", 2**31),  # INT columns wrap around or clamp
    EdgeValue("2^31 + 1", 2**31 + 1),
    EdgeValue("2^32 + 1", 2**32 + 1),  # cut to 32 bits: 1
    EdgeValue("a round number", 10**15),  # 1e15
    *FLOAT_BREAKERS,
)
"""Values for members that are 64 bits wide and not negative."""

STRING_LISTS = (
    EdgeValue("an empty list", []),  # dropped as falsy, null
    EdgeValue("a list of one", ["only"]),  # unwrapped
    EdgeValue("an order that sorting changes", ["b", "a", "C", "10", "9"]),  # sorted
    EdgeValue("equal but for case", ["a", "A", "b"]),  # a set that folds
    EdgeValue("a separator inside", ["a.b", "a,b", "c"]),  # joined and split again
    EdgeValue("many", [f"level{n}" for n in range(40, 0, -1)]),  # cut off
)
"""Values for lists of strings whose order counts and whose items differ."""


def string_map() -> dict[str, str]:
    """Return a map that holds every edge string and every edge key, in a fixed order."""
    values = {f"icecheck.value.{n}": each.value for n, each in enumerate(STRINGS)}
    return values | {each.value: f"of {each.what}" for each in KEYS}


def shuffled(values: Sequence[T], seed: int, purpose: str) -> list[T]:
    """Return values in an order that depends only on the seed and the purpose."""
    made = [*values]
    # A string seeds by its bytes: the order is the same on every machine and under every hash seed.
    random.Random(f"{seed}:{purpose}").shuffle(made)  # noqa: S311 - a choice, not a secret
    return made


def in_halves(items: Sequence[T]) -> tuple[list[T], list[T]]:
    """Return the two halves of a refused group, each to be sent on its own."""
    middle = len(items) // 2
    return [*items[:middle]], [*items[middle:]]
