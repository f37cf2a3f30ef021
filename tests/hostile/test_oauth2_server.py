"""A catalog does not choose who gets the client secret: the user's token endpoint wins."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered
from icecheck.targets.target import Principal, Target
from icecheck.witnesses.spark_statements import spark_session

HOME = "http://catalog.test"
NAMED = "http://login.test/token"
STRANGER = "http://stranger.test/token"
SECRETS = {"hush-first", "hush-second"}


@dataclass
class Hosts:
    """Every address of a small network: a catalog, and who gives tokens to anybody who asks."""

    config: dict[str, Any]
    accepted: str = "token-1"
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if b"client_secret" in request.content:
            secret = parse_qs(request.content.decode())["client_secret"][0]
            self.asked.append((str(request.url), secret))
            token = f"token-{len(self.asked)}"
            return httpx.Response(200, json={"access_token": token, "token_type": "bearer"})
        if request.url.path == "/v1/config":
            return httpx.Response(200, json=self.config)
        known = request.headers.get("authorization") == f"Bearer {self.accepted}"
        return httpx.Response(200 if known else 401, json={"namespaces": []})

    @property
    def endpoints(self) -> set[str]:
        return {url for url, _ in self.asked}


def spoken_with(hosts: Hosts, **options: Any) -> Session:
    """A session that has got its tokens, and one more because the first was not accepted."""
    target = Target(HOME, credential="me:hush-first", isolation="flat", **options)
    session = open_session(target, run_id="r", transport=httpx.MockTransport(hosts))
    hosts.accepted = f"token-{len(hosts.asked) + 1}"
    catalog = session_catalog(session)
    assert catalog.list_namespaces().status == 200
    return session


def session_catalog(session: Session) -> Any:
    from icecheck.client.catalog import Catalog

    return Catalog(session, "any")


@pytest.mark.parametrize("part", ["defaults", "overrides"])
def test_the_endpoint_that_the_user_named_is_the_only_one_that_gets_secrets(part: str) -> None:
    hosts = Hosts({"defaults": {}, "overrides": {}} | {part: {"oauth2-server-uri": STRANGER}})
    second = Principal(credential="you:hush-second")
    spoken_with(hosts, oauth2_server_uri=NAMED, second=second).close()
    assert {secret for _, secret in hosts.asked} == SECRETS
    assert len(hosts.asked) == 3
    assert hosts.endpoints == {NAMED}


@pytest.mark.parametrize("part", ["defaults", "overrides"])
def test_a_config_names_the_endpoint_where_the_user_named_none(part: str) -> None:
    elsewhere = f"{HOME}/login"
    hosts = Hosts({"defaults": {}, "overrides": {}} | {part: {"oauth2-server-uri": elsewhere}})
    spoken_with(hosts).close()
    assert [url for url, _ in hosts.asked] == [f"{HOME}/v1/oauth/tokens", elsewhere]


def test_overrides_win_over_defaults() -> None:
    one, two = ({"oauth2-server-uri": f"{HOME}/{name}"} for name in ("one", "two"))
    hosts = Hosts({"defaults": one, "overrides": two})
    spoken_with(hosts).close()
    assert hosts.asked[-1][0] == f"{HOME}/two"


@dataclass
class Workbench:
    """A Spark that says which target it was given."""

    given: list[Target] = field(default_factory=list)

    def session(self, catalog: Any) -> tuple[Any, str]:
        self.given.append(catalog.target)
        return SimpleNamespace(), "icecheck"


def test_spark_is_not_sent_to_an_endpoint_that_the_user_did_not_choose() -> None:
    """The overrides of a config win in Java's client, whatever its settings say."""
    hosts = Hosts({"defaults": {}, "overrides": {"oauth2-server-uri": STRANGER}})
    session, spark = spoken_with(hosts, oauth2_server_uri=NAMED), Workbench()
    with pytest.raises(NotOffered) as refused:
        spark_session(session_catalog(session), spark)
    session.close()
    assert refused.value.kind is SkipKind.SAFETY_LEVEL
    assert spark.given == []


@pytest.mark.parametrize("overrides", [{}, {"oauth2-server-uri": NAMED}, {"oauth2-server-uri": 3}])
def test_spark_gets_the_endpoint_of_the_user(overrides: dict[str, Any]) -> None:
    hosts = Hosts({"defaults": {"oauth2-server-uri": STRANGER}, "overrides": overrides})
    session, spark = spoken_with(hosts, oauth2_server_uri=NAMED), Workbench()
    spark_session(session_catalog(session), spark)
    session.close()
    assert [target.oauth2_server_uri for target in spark.given] == [NAMED]
