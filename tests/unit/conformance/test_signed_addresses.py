"""Requests to be signed have the addresses that clients of S3 give them, and go to the signer."""

from typing import Any

import boto3
import pytest
from botocore.config import Config

from icecheck.client.table import Table
from icecheck.conformance.security.signing_requests import Signer

BASE = "http://catalog.test/api"


def signer(**settings: str) -> Signer:
    told = {key.replace("_", "."): value for key, value in settings.items()}
    table = Table(("ns",), "t", {"location": "s3://lake/a/t/"}, None)
    return Signer(table, told, told, BASE)


@pytest.mark.parametrize("bucket", ["lake", "lake.of.example"])
@pytest.mark.parametrize("key", ["a/b.parquet", "a b/day=1%2F2/ü+~(x)'!*"])
@pytest.mark.parametrize("region", ["eu-west-1", "us-gov-west-1", "cn-north-1"])
@pytest.mark.parametrize("endpoint", [None, "http://minio:9000", "http://127.0.0.1:9000"])
@pytest.mark.parametrize("in_path", [False, True])
def test_it_is_the_address_that_botocore_gives(
    bucket: str, key: str, region: str, endpoint: str | None, in_path: bool
) -> None:
    settings: dict[str, str] = {"client.region": region}
    settings |= {} if endpoint is None else {"s3.endpoint": endpoint}
    settings |= {"s3.path-style-access": "true"} if in_path else {}
    table = Table(("ns",), "t", {"location": "s3://lake/t"}, None)
    found = Signer(table, settings, settings, BASE).uri(f"s3://{bucket}/{key}")
    style: Any = {"addressing_style": "path" if in_path else "virtual"}
    client = boto3.client(
        "s3",
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(s3=style, signature_version="s3v4"),
    )
    due = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key})
    assert found == due.partition("?")[0]


def test_an_endpoint_is_found_as_javas_client_finds_it() -> None:
    found = [
        ({"signer.endpoint": "v1/x/sign"}, {"signer.endpoint": f"{BASE}/v1/x/sign"}),
        ({"signer.endpoint": "/v1/x"}, {"signer.endpoint": f"{BASE}/v1/x"}),
        (
            {"signer.endpoint": "x?a=b", "signer.uri": "https://s.test/"},
            {"signer.endpoint": "https://s.test/x?a=b"},
        ),
        (
            {"signer.endpoint": "https://o.test/x", "signer.uri": "https://s.test"},
            {"signer.endpoint": "https://o.test/x"},
        ),
        (
            {"s3.signer.uri": "https://s.test"},
            {"s3.signer.endpoint": "https://s.test/v1/aws/s3/sign"},
        ),
        ({"s3.signer.endpoint": "x"}, {"s3.signer.endpoint": f"{BASE}/x"}),
        ({"signer.uri": "https://s.test"}, {}),
        ({}, {}),
    ]
    table = Table(("ns",), "t", {"location": "s3://lake/t"}, None)
    for config, due in found:
        assert Signer(table, config, config, BASE).addresses() == due


def test_only_what_is_below_the_catalog_is_here() -> None:
    here = signer()
    assert here.is_here(f"{BASE}/v1/a%1Fb/sign?x=..")
    for address in (BASE, f"{BASE}x/sign", f"{BASE}/../sign", f"{BASE}/%2e%2e/sign", "https://o/x"):
        assert not here.is_here(address)


def test_places_of_a_table_have_no_slash_at_their_end() -> None:
    assert signer().location == "s3://lake/a/t"
    assert signer().beside("u") == "s3://lake/a/u"
