"""`--spec auto`: which member of a config announces something of a later document."""

from typing import Any

import pytest

from icecheck.findings.release import shown_version
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target


def shown(**config: Any) -> str:
    config = {"defaults": {}, "overrides": {}} | config
    return shown_version(config, Offer.read(config, Target("http://mock.invalid")))[0]


@pytest.mark.parametrize("place", ["defaults", "overrides"])
def test_a_separator_counts_wherever_clients_find_it(place: str) -> None:
    assert shown(**{place: {"namespace-separator": "%2E"}}) == "1.11.0"


@pytest.mark.parametrize("separator", ["", None, 7, ["%2E"]])
@pytest.mark.parametrize("place", ["defaults", "overrides"])
def test_what_is_no_separator_announces_none(place: str, separator: object) -> None:
    assert shown(**{place: {"namespace-separator": separator}}) == "1.10.0"


def test_a_lifetime_of_keys_counts() -> None:
    assert shown(**{"idempotency-key-lifetime": "PT30M"}) == "1.11.0"


@pytest.mark.parametrize("lifetime", ["", None, 1800, False, {}, ["PT30M"]])
def test_what_is_no_lifetime_announces_no_keys(lifetime: object) -> None:
    assert shown(**{"idempotency-key-lifetime": lifetime}) == "1.10.0"


def test_an_endpoint_of_a_later_document_counts() -> None:
    sign = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign"
    assert shown(endpoints=[sign]) == "1.11.0"
    assert shown(endpoints=["GET /v1/{prefix}/namespaces"]) == "1.10.0"
