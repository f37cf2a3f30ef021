"""Names that a careless server confuses: what is odd about each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Odd:
    """What is odd about a name: its ending, or what stands before the stem of the names."""

    what: str
    ending: str = ""
    beginning: str = ""


Names: TypeAlias = Sequence[Sequence[Odd]]
"""What is odd about each of several names with one stem."""

PLAIN = Odd("nothing odd", "a")

# Ordered so that a mangled name is made before the name that it becomes. No capitals: a catalog may
# be case-insensitive. A name has several oddities where none is mangled into another name's.
FAMILIES: dict[str, Names] = {
    "address": (
        (Odd("a percent sign", "a%20b"),),  # decoded twice
        (Odd("a plus sign", "a+b"),),  # decoded as a form
        (
            Odd("a tilde in front", beginning="~"),
            Odd("a space", "a b"),  # left encoded
            Odd("a question mark", "a?b"),  # cut off at the query
            Odd("a number sign", "a#b"),  # cut off at the fragment
            Odd("a semicolon", "a;b"),  # cut off as a path parameter
            Odd("a colon", "a:b"),  # a resource name
            Odd("an ampersand", "a&b=c"),  # put into a query unencoded
        ),
        (PLAIN,),
    ),
    "store": (
        (
            Odd("a character beyond the basic plane", "\U0001f427"),  # utf8mb3
            Odd("a decomposed letter", "e\u0301"),  # NFC
            Odd("a quotation mark", 'a"b'),  # JSON put together as text
            Odd("braces", "a{b}$c"),  # a template
            Odd("a composed letter", "\u00e9"),  # NFD; accents dropped
            Odd("a blank at the end", "a "),  # strip(), CHAR columns
        ),
        (
            # The name of a directory that stores and engines treat as hidden, as below.
            Odd("a point in front", beginning="."),
            Odd("an apostrophe", "a'b"),  # SQL put together as text
        ),
        (
            # As a pattern of LIKE it matches the name before it.
            Odd("an underscore in front", beginning="_"),
            Odd("an underscore", "a_b"),
        ),
        (PLAIN,),
    ),
}
"""The names of a family, by where they cause errors."""
IN_PATHS: dict[str, Names] = {**FAMILIES, "address": FAMILIES["address"][:-1]}
"""The same, where no name of an address is turned into the plain one."""
IN_BODIES: dict[str, Names] = {**FAMILIES, "address": FAMILIES["address"][:3]}
"""The same, for requests that name an object in their body, where nothing cuts a name off."""


def apart(names: Names) -> Names:
    """Return names with one oddity each."""
    return [[odd] for odds in names for odd in odds]
