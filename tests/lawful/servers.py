"""Freedoms of servers: places, prefixes, clocks, credentials, and HTTP itself."""

import gzip
import itertools
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from icecheck.mock_server import VendingSettings, WarehouseDeclaration
from icecheck.mock_server.core.context import Registries, Reply, Request
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.storing import store_otherwise
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.callers import Security
from tests.kill.killing import WAREHOUSE
from tests.lawful.freedom import Freedom
from tests.lawful.lawful import Install

Body = dict[str, Any]
TABLES = ("createTable", "loadTable", "registerTable", "updateTable")
SILENT_HTTP = "silent: RFC 9110 leaves it to the server"


class _Shifted:
    """The system's clock, set wrongly by some milliseconds, and in steps of a resolution."""

    def __init__(self, shift_ms: int, resolution_ms: int = 1) -> None:
        self._shift_ms, self._resolution_ms = shift_ms, resolution_ms

    def now_ms(self) -> int:
        now = time.time_ns() // 1_000_000 + self._shift_ms
        return now - now % self._resolution_ms


def _bucket_of_its_own(registries: Registries) -> None:
    """Give each table that is created without a location a bucket of its own."""

    def placed(metadata: TableMetadata, sent: Body) -> TableMetadata:
        if sent.get("location"):
            return metadata
        return msgspec.structs.replace(metadata, location=f"s3://{metadata.table_uuid}--table-s3")

    store_otherwise(registries, "createTable", placed, written=True)


def _trailing_slash(registries: Registries) -> None:
    """Write a slash behind the location of each table that the server places."""

    def placed(metadata: TableMetadata, sent: Body) -> TableMetadata:
        if sent.get("location"):
            return metadata
        return msgspec.structs.replace(metadata, location=f"{metadata.location}/")

    store_otherwise(registries, "createTable", placed, written=True)


def _always_vending(prefix: str, config: dict[str, str]) -> Install:
    """Return an installation that adds these credentials, and as `config` too, to every answer."""

    def vended(body: Body) -> Body:
        more = [{"prefix": prefix, "config": config}]
        return body | {"config": (body.get("config") or {}) | config, "storage-credentials": more}

    def install(registries: Registries) -> None:
        for operation_id in TABLES:
            alter_body(registries, operation_id, vended)

    return install


# ------------------------------------------------------------------- HTTP


def _answer(response: httpx.Response, headers: Any, content: bytes) -> httpx.Response:
    return httpx.Response(
        response.status_code, headers=headers, content=content, request=response.request
    )


def _zipped(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    content = response.read()
    if not content or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    headers = [(k, v) for k, v in response.headers.multi_items() if k != "content-length"]
    added = [("content-encoding", "gzip"), ("vary", "accept-encoding")]
    return _answer(response, [*headers, *added], gzip.compress(content))


def _chunked(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    content = response.read()
    headers = [(k, v) for k, v in response.headers.multi_items() if k != "content-length"]
    if not content:
        return response
    pieces = [content[i : i + 700] for i in range(0, len(content), 700)]
    return httpx.Response(
        response.status_code,
        headers=[*headers, ("transfer-encoding", "chunked")],
        content=iter(pieces),
        request=response.request,
    )


def _titled(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    headers = [(k.title(), v) for k, v in response.headers.multi_items()]
    own = [("Server", "acme/1"), ("X-Request-Id", "7"), ("Strict-Transport-Security", "max-age=1")]
    return _answer(response, [*headers, *own], response.read())


def _charset(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    headers = [
        (k, "application/json; charset=UTF-8" if k == "content-type" and "json" in v else v)
        for k, v in response.headers.multi_items()
    ]
    return _answer(response, headers, response.read())


def _typed(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    headers = [
        (k, "Application/JSON;Charset=utf-8" if k == "content-type" and "json" in v else v)
        for k, v in response.headers.multi_items()
    ]
    return _answer(response, headers, response.read())


def _cookies(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    headers = response.headers.multi_items()
    own = [
        ("set-cookie", "route=a1; Path=/"),
        ("cache-control", "no-store"),
        ("connection", "close"),
    ]
    return _answer(response, [*headers, *own], response.read())


def _pretty(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    return _written_anew(response, indent=2, sort_keys=True)


def _escaped(_request: httpx.Request, response: httpx.Response) -> httpx.Response:
    return _written_anew(response, ensure_ascii=True, separators=(" , ", " : "))


def _written_anew(response: httpx.Response, **style: Any) -> httpx.Response:
    content = response.read()
    if "json" not in response.headers.get("content-type", "") or not content:
        return response
    headers = [(k, v) for k, v in response.headers.multi_items() if k != "content-length"]
    written = json.dumps(json.loads(content), **style) + "\n"
    return _answer(response, headers, written.encode())


def _slows_down(registries: Registries) -> None:
    """Refuse one request in 40 with 503 and Retry-After, before anything is done."""
    turns = itertools.count(1)

    def gate(_request: Request, _security: Security) -> Reply | None:
        if next(turns) % 40:
            return None
        headers = (("retry-after", "0"),)
        return replies.error_reply(503, "SlowDownException", "Slow down", headers)

    registries.gates["slow-down"] = gate


def _own_separator(registries: Registries) -> None:
    """Announce another separator of the levels of namespaces, as catalogs of 1.11 do."""

    def told(body: Body) -> Body:
        return body | {"overrides": body["overrides"] | {"namespace-separator": "%2E"}}

    alter_body(registries, "getConfig", told)


def _separated(request: httpx.Request) -> httpx.Request:
    path, mark, query = request.url.raw_path.partition(b"?")
    pairs = [
        b"parent=" + pair[7:].replace(b".", b"%1F").replace(b"%2E", b"%1F")
        if pair.startswith(b"parent=")
        else pair
        for pair in query.split(b"&")
    ]
    raw_path = path.replace(b"%2E", b"%1F") + mark + b"&".join(pairs)
    return httpx.Request(
        request.method,
        request.url.copy_with(raw_path=raw_path),
        headers=request.headers,
        content=request.read(),
    )


def _seventh_uuids(registries: Registries) -> None:
    """Give tables uuids of version 7."""

    def numbered(metadata: TableMetadata, _sent: Body) -> TableMetadata:
        old = metadata.table_uuid
        return msgspec.structs.replace(metadata, table_uuid=f"{old[:14]}7{old[15:]}")

    store_otherwise(registries, "createTable", numbered, written=True)


def _root(uri: str) -> Freedom:
    return Freedom("silent: a location is any string", server={"root": uri}, about="root")


def _prefixed(prefix: str, **more: Any) -> Mapping[str, Any]:
    return {"warehouses": [WarehouseDeclaration(WAREHOUSE, prefix=prefix, **more)]}


SERVERS: dict[str, Freedom] = {
    "root-on-s3": _root("s3://lake-eu-central-1/prod"),
    "root-on-gs": _root("gs://lake/warehouse"),
    "root-on-abfss": _root("abfss://data@lake.dfs.core.windows.net/w"),
    "root-on-hdfs": _root("hdfs://nameservice1/user/hive"),
    "root-on-https": _root("https://files.example.org/w"),
    "root-of-its-own": _root("acme-volume:/main/v1"),
    "bucket-of-its-own": Freedom(
        "silent: a location is any string", _bucket_of_its_own, about="place"
    ),
    "trailing-slash": Freedom("silent: a location is any string", _trailing_slash, about="place"),
    "no-prefix": Freedom(
        "L1824-L1830: the prefix is optional", server={"prefix": False}, about="prefix"
    ),
    "long-prefix": Freedom(
        "L1824-L1830: the prefix is a string",
        server=_prefixed("accounts/42/catalogs/main"),
        about="prefix",
    ),
    "slows-down": Freedom("L4657-L4661: 503 with Retry-After", _slows_down),
    "own-separator": Freedom(
        "rule 10: a later document", _own_separator, asked=_separated, about="separator"
    ),
    "uuids-of-version-7": Freedom("silent: which uuids", _seventh_uuids),
    "clock-behind": Freedom(
        "silent: whose clock", server={"clock": _Shifted(-3_600_000)}, about="clock"
    ),
    "clock-ahead": Freedom(
        "silent: whose clock", server={"clock": _Shifted(7_200_000)}, about="clock"
    ),
    "clock-of-seconds": Freedom(
        "silent: the resolution", server={"clock": _Shifted(0, 1000)}, about="clock"
    ),
    "vends-s3": Freedom(
        "L1861-L1866: the server may choose",
        server={"vending": VendingSettings(storage="s3", seconds=900)},
        about="vending",
    ),
    "vends-gcs": Freedom(
        "L1861-L1866: the server may choose",
        server={"vending": VendingSettings(storage="gcs", prefixes=("gs://lake/",))},
        about="vending",
    ),
    "vends-adls": Freedom(
        "L1861-L1866: the server may choose",
        server={"vending": VendingSettings(storage="adls")},
        about="vending",
    ),
    "signs": Freedom(
        "L1861-L1872: the server may choose",
        server={
            "vending": VendingSettings(storage="s3", signer_uri="https://signer.example.org/")
        },
        about="vending",
    ),
    "vends-unasked": Freedom(
        "L3256-L3269: any prefix, any configuration",
        _always_vending("s3", {"s3.endpoint": "https://o.example", "s3.access-key-id": "k"}),
        about="vending",
    ),
    "gzip": Freedom(SILENT_HTTP, sent=_zipped, about="coding"),
    "chunked": Freedom(SILENT_HTTP, sent=_chunked, about="coding"),
    "title-case-headers": Freedom(SILENT_HTTP, sent=_titled),
    "charset": Freedom(SILENT_HTTP, sent=_charset, about="media-type"),
    "other-media-type-spelling": Freedom(SILENT_HTTP, sent=_typed, about="media-type"),
    "cookies": Freedom(SILENT_HTTP, sent=_cookies),
    "pretty-json": Freedom("silent: RFC 8259 leaves it open", sent=_pretty, about="json"),
    "escaped-json": Freedom("silent: RFC 8259 leaves it open", sent=_escaped, about="json"),
}  # fmt: skip
"""Name -> the freedom."""
