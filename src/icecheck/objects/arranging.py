"""Arrange steps beyond those of the client: a namespace at a given path, required operations."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange
from icecheck.replies.expect import NotOffered
from icecheck.targets.target import Namespace

UNKNOWN_PLAN = "icecheck-no-such-plan"
"""A plan-id that no catalog has given out; the plan task below is unknown in the same way."""
UNKNOWN_PLAN_TASK = "icecheck-no-such-plan-task"


_ALPHABETS = ("0123456789", "abcdef", "ghijklmnopqrstuvwxyz")
"""Characters that stand for one another in texts of one shape: those of a UUID stay hexadecimal."""


def last_word(text: str) -> str:
    """Return the letters and digits at the end of a text, or before what follows the last ones."""
    ended = text.rstrip("".join({each for each in text if not each.isalnum()}))
    start = len(ended)
    while start and ended[start - 1].isalnum():
        start -= 1
    return ended[start:]


def of_the_same_shape(text: str) -> str:
    """Return a text with other characters in its last word: a UUID, an ARN or a URI stays one.

    Letters that are not those of ASCII stay, and so does a text without a word.
    """
    word = last_word(text)
    start = text.rindex(word)
    return f"{text[:start]}{''.join(map(_another, word))}{text[start + len(word) :]}"


def _another(character: str) -> str:
    for alphabet in _ALPHABETS:
        if (at := alphabet.find(character.lower())) >= 0:
            other = alphabet[(at + 1) % len(alphabet)]
            return other.upper() if character.isupper() else other
    return character


def require(catalog: Catalog, *operation_ids: str) -> None:
    """End the check without a fault unless the catalog claims these operations."""
    for operation_id in operation_ids:
        if not catalog.claims(operation_id):
            reason = f"the catalog does not claim {operation_id}, which this check needs"
            raise NotOffered(reason)


def given_namespace_at(catalog: Catalog, namespace: Namespace) -> Namespace:
    """Create a namespace of this exact path, which must contain the run's token, and return it."""
    arrange(catalog, "createNamespace", lambda: catalog.create_namespace(namespace))
    return namespace
