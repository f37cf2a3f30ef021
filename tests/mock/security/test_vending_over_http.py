"""Credentials for storage over a socket, where a header may come on several lines."""

import json
from http.client import HTTPConnection

import httpx

from icecheck.mock_server import MockCatalog, VendingSettings
from tests.mock.security.serving import SCHEMA

ASKED = "vended-credentials"


def test_the_list_may_be_sent_on_several_lines() -> None:
    with MockCatalog(root="memory://root", vending=VendingSettings(storage="s3")) as mock:
        with httpx.Client(base_url=f"http://127.0.0.1:{mock.port}/v1") as http:
            http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
            table = {"name": "t", "schema": SCHEMA}
            http.post("/namespaces/ns/tables", json=table).raise_for_status()
        for lines in ((ASKED, "remote-signing"), ("mind-reading", ASKED)):
            connection = HTTPConnection("127.0.0.1", mock.port, timeout=20)
            connection.putrequest("GET", "/v1/namespaces/ns/tables/t")
            for line in lines:
                connection.putheader("X-Iceberg-Access-Delegation", line)
            connection.endheaders()
            answer = json.load(connection.getresponse())
            connection.close()
            assert answer["config"]
            assert answer["storage-credentials"]
