"""A text with other characters in its last word is of the same shape: a UUID stays a UUID."""

import uuid

import pytest

from icecheck.objects.arranging import last_word, of_the_same_shape
from icecheck.targets.addresses import is_decodable, separator_flaw


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("prod", "qspe"),
        ("Prod_EU", "Prod_FV"),
        ("arn:aws:s3tables:us-east-1:123456789012:bucket/a-1", None),
        ("s3://bucket/warehouse/", None),
        ("", ""),
        ("--", "--"),
    ],
)
def test_only_the_last_word_is_another(text: str, other: str | None) -> None:
    found = of_the_same_shape(text)
    assert other is None or found == other
    assert len(found) == len(text)
    if word := last_word(text):
        assert last_word(found) != word
        start = text.rindex(word)
        assert found[:start] == text[:start]
        assert found[start + len(word) :] == text[start + len(word) :]


def test_a_uuid_stays_one() -> None:
    given = str(uuid.UUID(int=0x0B9A5BFA7B1E4A3C9D5E2F6C8E1D4A70))
    assert str(uuid.UUID(of_the_same_shape(given))) not in {given, ""}


@pytest.mark.parametrize("separator", ["%1F", "%2E", ".", "|", "%C3%A9", "", "\x1d"])
def test_a_separator_that_can_be_written(separator: str) -> None:
    assert is_decodable(separator)


@pytest.mark.parametrize("separator", ["%", "%1", "%ZZ", "%FF", "a%C3"])
def test_a_separator_that_cannot_be_written(separator: str) -> None:
    assert not is_decodable(separator)


@pytest.mark.parametrize("separator", ["_", "%5F", "x", "a1"])
def test_what_stands_in_the_names_of_a_run_separates_none_of_them(separator: str) -> None:
    assert separator_flaw(separator) is not None
