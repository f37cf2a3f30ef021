"""Bodies in signed chunks, by the examples that AWS computed in its documentation."""

import hashlib

import msgspec
import pytest

from icecheck.mock_server.objects.payloads import payload_of
from icecheck.mock_server.objects.refusals import S3Refusal
from icecheck.mock_server.objects.signatures import Signature, signed
from icecheck.mock_server.protocol.wire import Request
from tests.mock.objects.asking import REGION
from tests.mock.objects.conftest import Stage

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
CONTENT = b"a" * 66560
PARTS = (CONTENT[:65536], CONTENT[65536:], b"")
PLAIN = (
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    (
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ),
    "\r\n",
)
TRAILER_SIGNATURE = "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"
TRAILED = (
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    (
        "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
        "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
        "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
    ),
    f"x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:{TRAILER_SIGNATURE}\r\n\r\n",
)
Example = tuple[str, str, tuple[str, ...], str]


def body_of(example: Example) -> bytes:
    chunks = zip(PARTS, example[2], strict=True)
    body = b"".join(
        f"{len(part):x};chunk-signature={value}\r\n".encode() + (part and part + b"\r\n")
        for part, value in chunks
    )
    return body + example[3].encode()


def request_of(example: Example) -> tuple[Request, Signature]:
    body = body_of(example)
    headers = {
        "host": "s3.amazonaws.com",
        "content-encoding": "aws-chunked",
        "x-amz-content-sha256": example[0],
        "x-amz-date": "20130524T000000Z",
        "x-amz-decoded-content-length": str(len(CONTENT)),
        "x-amz-storage-class": "REDUCED_REDUNDANCY",
    }
    if example is TRAILED:
        headers["x-amz-trailer"] = "x-amz-checksum-crc32c"
    else:
        headers["content-length"] = str(len(body))
    signature = Signature(
        "AKIAIOSFODNN7EXAMPLE", REGION, "20130524T000000Z", tuple(sorted(headers)), example[0]
    )
    path = "/examplebucket/chunkObject.txt"
    request = Request("PUT", path, "", headers, body)
    return request, signed("PUT", path, "", headers, signature, SECRET)


@pytest.mark.parametrize("example", [PLAIN, TRAILED])
def test_the_examples_of_aws_are_read(example: Example) -> None:
    request, signature = request_of(example)
    assert signature.value == example[1]
    assert payload_of(request, signature, SECRET) == CONTENT


@pytest.mark.parametrize("example", [PLAIN, TRAILED])
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"aaa", b"aba", "SignatureDoesNotMatch"),
        (b"0;chunk-signature=", b"0;chunk-signature=0", "SignatureDoesNotMatch"),
        (b"10000;chunk-signature=", b"10001;chunk-signature=", "SignatureDoesNotMatch"),
        (b"10000;chunk-signature=", b"fffffff;chunk-signature=", "IncompleteBody"),
        (b"10000;", b"-1;", "InvalidRequest"),
        (b"10000;", b";", "InvalidRequest"),
        (b"sOO8", b"sOO9", "SignatureDoesNotMatch"),
        (b"x-amz-trailer-signature:", b"x-amz-other:", "InvalidRequest"),
    ],
)
def test_a_changed_chunk_is_refused(example: Example, old: bytes, new: bytes, code: str) -> None:
    request, signature = request_of(example)
    if old not in request.body:
        assert example is PLAIN
        return
    changed = msgspec.structs.replace(request, body=request.body.replace(old, new, 1))
    with pytest.raises(S3Refusal) as raised:
        payload_of(changed, signature, SECRET)
    assert raised.value.code == code


@pytest.mark.parametrize("kept", [0, 10, 66_700, -3, -90])
def test_a_body_that_ends_early_is_refused(kept: int) -> None:
    request, signature = request_of(TRAILED)
    # The empty line at the end is no part of what is signed.
    body = request.body[: kept - 2] if kept < 0 else request.body[:kept]
    cut = msgspec.structs.replace(request, body=body)
    with pytest.raises(S3Refusal):
        payload_of(cut, signature, SECRET)


def in_chunks(content: bytes, trailer: str) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + f"\r\n0\r\n{trailer}\r\n".encode()


def test_unsigned_chunks_with_a_trailer_are_read(stage: Stage) -> None:
    """So AWS's own clients send files, over TLS."""
    target = f"/lake/{stage.own}/chunked"
    headers = {
        "X-Amz-Content-Sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        "X-Amz-Decoded-Content-Length": "5",
        "Content-Encoding": "aws-chunked",
        "X-Amz-Trailer": "x-amz-checksum-crc32",
    }
    body = in_chunks(b"hello", "x-amz-checksum-crc32:NhCmhg==\r\n")
    assert stage.holder.ask("PUT", target, body, headers).status == 200
    found = stage.holder.ask("GET", target)
    assert found.body == b"hello"
    assert "content-encoding" not in {name.lower() for name in found.headers}
    for changed in (body.replace(b"5\r\n", b"4\r\n"), body[:-12], body + b"more", b""):
        assert stage.holder.ask("PUT", target, changed, headers).status == 400
    other_length = headers | {"X-Amz-Decoded-Content-Length": "6"}
    assert stage.holder.ask("PUT", target, body, other_length).code == "IncompleteBody"
    assert stage.holder.ask("GET", target).body == b"hello"
    assert stage.holder.ask("DELETE", target).status == 204


def test_a_payload_may_be_unsigned(stage: Stage) -> None:
    target = f"/lake/{stage.own}/unsigned"
    headers = {"X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"}
    assert stage.holder.ask("PUT", target, b"anything", headers).status == 200
    assert stage.holder.ask("GET", target).body == b"anything"
    assert stage.holder.ask("DELETE", target).status == 204
    odd = {"X-Amz-Content-Sha256": hashlib.sha256(b"other").hexdigest()}
    assert stage.holder.ask("PUT", target, b"anything", odd).code == "XAmzContentSHA256Mismatch"
