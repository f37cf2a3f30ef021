"""Which properties are compared: those that were to be set, and not a server's own."""

from icecheck.client.catalog import Table
from icecheck.objects.comparing import Difference, first_difference

BEFORE = {
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://here/t",
    "properties": {"owner": "the server's"},
}


def seen_after(due, shown):
    """Return how properties that a table shows differ from due ones, if they do."""
    wanted, after = ({**BEFORE, "properties": properties} for properties in (due, shown))
    return first_difference(Table, BEFORE, wanted, after)


def test_a_property_that_was_to_be_set_is_compared_whatever_its_key() -> None:
    found = seen_after({"comment": "new"}, {"owner": "the server's", "comment": "old"})
    assert isinstance(found, Difference)
    assert (found.pointer, found.due, found.seen, found.beside) == ("/comment", "new", "old", False)


def test_a_property_that_was_there_before_may_be_the_servers_own() -> None:
    assert seen_after({"comment": "new"}, {"owner": "another", "comment": "new"}) is None
    assert seen_after({}, {"owner": "the server's"}) is None
