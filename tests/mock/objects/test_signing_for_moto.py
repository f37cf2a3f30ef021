"""What is signed is taken by moto's own S3, whose authentication is on, and nothing else is."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import boto3
import httpx
import pytest
import requests
from moto import mock_aws
from moto.core import set_initial_no_auth_action_count

from icecheck.mock_server import MockCatalog, VendingSettings
from tests.mock.asking import create

REGION = "us-east-1"
AMAZON = f"https://lake.s3.{REGION}.amazonaws.com"
TRUST = """{"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
 "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}"""
RIGHTS = """{"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
 "Action": "s3:*", "Resource": "*"}]}"""


class Signed(NamedTuple):
    """A request with the headers that the mock has answered."""

    method: str
    uri: str
    headers: dict[str, str]

    def sent(self, content: bytes = b"", **other: Any) -> requests.Response:
        """Send it to moto, or the same with something `other`."""
        request = self._replace(**other)
        return _sent(request.method, request.uri, request.headers, content)


@set_initial_no_auth_action_count(0)
def _sent(method: str, uri: str, headers: dict[str, str], content: bytes) -> requests.Response:
    return requests.request(method, uri, headers=headers, data=content, timeout=60)


@pytest.fixture
def credentials() -> Iterator[dict[str, str]]:
    """The credentials of a role that may do everything in S3, where moto stands for Amazon."""
    with mock_aws():
        boto3.client("s3", region_name=REGION).create_bucket(Bucket="lake")
        iam = boto3.client("iam", region_name=REGION)
        role = iam.create_role(RoleName="signer", AssumeRolePolicyDocument=TRUST)["Role"]
        iam.put_role_policy(RoleName="signer", PolicyName="all", PolicyDocument=RIGHTS)
        sts = boto3.client("sts", region_name=REGION)
        assumed = sts.assume_role(RoleArn=role["Arn"], RoleSessionName="session")["Credentials"]
        yield {
            "s3.access-key-id": assumed["AccessKeyId"],
            "s3.secret-access-key": assumed["SecretAccessKey"],
            "s3.session-token": assumed["SessionToken"],
        }


@pytest.fixture
def catalog(credentials: dict[str, str]) -> Iterator[httpx.Client]:
    vending = VendingSettings(storage="s3", config=credentials)
    mock = MockCatalog(spec="1.11.0", root="s3://lake/root", vending=vending)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as http:
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        yield http
    mock.stop()


@pytest.fixture
def location(catalog: httpx.Client) -> str:
    made: str = create(catalog, "t").json()["metadata"]["location"]
    return made.removeprefix("s3://lake/")


def signed(catalog: httpx.Client, method: str, uri: str) -> Signed:
    body = {"method": method, "uri": uri, "region": REGION, "headers": {}}
    answer = catalog.post("/namespaces/ns/tables/t/sign", json=body)
    assert answer.status_code == 200, answer.text
    headers = {name: ", ".join(values) for name, values in answer.json()["headers"].items()}
    return Signed(method, answer.json()["uri"], headers)


@pytest.mark.parametrize("start", [AMAZON, f"https://s3.{REGION}.amazonaws.com/lake"])
def test_it_is_taken_as_it_was_signed(catalog: httpx.Client, location: str, start: str) -> None:
    uri = f"{start}/{location}/a%20file"
    assert signed(catalog, "PUT", uri).sent(b"content").status_code == 200
    assert signed(catalog, "GET", uri).sent().content == b"content"


def test_what_was_tampered_with_is_refused(catalog: httpx.Client, location: str) -> None:
    put = signed(catalog, "PUT", f"{AMAZON}/{location}/x")
    authorization = put.headers["authorization"]
    other = "0" if authorization[-1] != "0" else "1"
    tampered: list[dict[str, Any]] = [
        {"headers": put.headers | {"authorization": authorization[:-1] + other}},
        {"headers": put.headers | {"x-amz-date": "20200101T000000Z"}},
        {"uri": f"{put.uri}y"},
        {"method": "DELETE"},
    ]
    for each in tampered:
        answer = put.sent(b"x", **each)
        found = re.search(r"<Code>(\w+)</Code>", answer.text)
        assert answer.status_code == 403, (each, answer.text)
        assert found is None or found[1] in {"SignatureDoesNotMatch", "AccessDenied"}
    assert put.sent(b"x").status_code == 200
