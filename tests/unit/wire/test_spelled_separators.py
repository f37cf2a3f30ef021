"""How an announced separator is written in paths, and which one the mock can announce."""

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.targets.addresses import spelled_separator


@pytest.mark.parametrize("separator", ["$", ".", "::", "~", "!", "@", "-", "%24", "%1D", "%2F"])
def test_what_can_stand_in_a_path_is_written_as_it_is_announced(separator: str) -> None:
    assert spelled_separator(separator) == separator


@pytest.mark.parametrize(
    ("separator", "spelled"), [("\x1d", "%1D"), ("/", "%2F"), ("|", "%7C"), ("é", "%C3%A9")]
)
def test_what_cannot_stand_in_a_path_is_encoded(separator: str, spelled: str) -> None:
    assert spelled_separator(separator) == spelled


@pytest.mark.parametrize("separator", ["%1F%1F", "%1F%2E", "%2E%1F", "a", "_", "%5F", "%00", ""])
def test_the_mock_announces_no_separator_that_it_cannot_tell_apart(separator: str) -> None:
    with pytest.raises(ValueError, match="separate the levels"):
        MockCatalog(spec="1.11.0", namespace_separator=separator)
