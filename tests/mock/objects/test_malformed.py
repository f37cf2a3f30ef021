"""Requests to the object store that cannot be understood, or could be read in two ways."""

import time
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

import pytest

from icecheck.mock_server.objects.signatures import TIME_FORM, Signature, signed
from tests.mock.objects.asking import REGION, send
from tests.mock.objects.conftest import Stage

DELETE = "<Delete>{}</Delete>"
ENTITY = '<!DOCTYPE d [<!ENTITY e "{own}/x">]><Delete><Object><Key>&e;</Key></Object></Delete>'


@pytest.mark.parametrize(
    "body",
    [
        "", "<Delete", "<Delete/>", "<Other/>", DELETE.format("<Object/>"), ENTITY,
        DELETE.format("<Object><Key></Key></Object>"),
        DELETE.format("<Object><Key>{own}/x</Key><Key>{own}/y</Key></Object>"),
        DELETE.format("<Object><Key>{own}<b>/x</b></Key></Object>"),
        DELETE.format("<Object><Key>{own}/x</Key></Object>" * 1001),
        "<a>" * 5000,
    ],
)  # fmt: skip
def test_a_body_is_read_in_one_way(stage: Stage, body: str) -> None:
    target = f"/lake/{stage.own}/x"
    assert stage.holder.ask("PUT", target, b"kept").status == 200
    sent = body.replace("{own}", stage.own).encode()
    answer = stage.holder.ask("POST", "/lake?delete=", sent)
    assert (answer.status, answer.code) == (400, "MalformedXML")
    assert stage.holder.ask("GET", target).body == b"kept"


def test_what_is_deleted_is_what_was_judged(stage: Stage) -> None:
    """White space, namespaces and CDATA are read once, and written again for moto."""
    keys = ("a b", " c ", "d&e", "f/ü")
    for key in keys:
        assert stage.root.ask("PUT", f"/lake/{stage.own}/{quote(key)}", b"x").status == 200
    body = (
        '<?xml version="1.0"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\n'
        f"<Object>\n<Key>{stage.own}/a b</Key>\n</Object><Quiet>true</Quiet>"
        f"<Object><Key>{stage.own}/ c </Key></Object>"
        f"<Object><Key><![CDATA[{stage.own}/d&e]]></Key></Object>"
        f"<Object><Key>{stage.own}/f/&#252;</Key></Object></Delete>"
    )
    assert stage.holder.ask("POST", "/lake?delete=", body.encode()).status == 200
    for key in keys:
        assert stage.root.ask("HEAD", f"/lake/{stage.own}/{quote(key)}").status == 404


@pytest.mark.parametrize(
    ("method", "target", "code"),
    [
        ("GET", "/lake?prefix={own}%2F&prefix=", "InvalidRequest"),
        ("GET", "/lake/{own}/x?versionId=null&versionId=null", "InvalidRequest"),
        ("GET", "/No-Bucket/x", "InvalidBucketName"),
        ("GET", "/127.0.0.1/x", "InvalidBucketName"),
        ("GET", "//lake/x", "InvalidURI"),
        ("GET", "/lake/" + "k" * 1025, "KeyTooLongError"),
        ("POST", "/lake/{own}/x?uploadId=x", "MalformedXML"),
        ("PATCH", "/lake/{own}/x", "NotImplemented"),
    ],
)  # fmt: skip
def test_a_bad_target_is_refused(stage: Stage, method: str, target: str, code: str) -> None:
    answer = stage.root.ask(method, target.replace("{own}", _own(stage, target)))
    assert answer.code == code
    assert answer.status in {400, 501}


@pytest.mark.parametrize("raw", ["/lake/%ZZ", "/lake/%", "/lake/%FF", "/lake?prefix=%C3"])
def test_a_bad_escape_is_refused(stage: Stage, raw: str) -> None:
    answer = send(stage.root.endpoint, "GET", raw, b"", stage.root.signed("GET", raw))
    assert (answer.status, answer.code) == (400, "InvalidURI")


@pytest.mark.parametrize(
    "source", ["", "/", "lake", "/lake/", "/lake/{own}/x?acl", "/lake/{own}/%", "/No/x"]
)
def test_a_bad_copy_source_is_refused(stage: Stage, source: str) -> None:
    headers = {"x-amz-copy-source": source.replace("{own}", stage.own)}
    assert stage.holder.ask("PUT", f"/lake/{stage.own}/y", headers=headers).status == 400
    assert stage.holder.ask("HEAD", f"/lake/{stage.own}/y").status == 404


def test_no_parameter_becomes_a_header(stage: Stage) -> None:
    target = f"/lake/{stage.own}/x"
    assert stage.holder.ask("PUT", target, b"x").status == 200
    asked = f"{target}?response-content-type=a%0D%0AX-Made-Up%3A%20b"
    answer = stage.holder.ask("GET", asked)
    assert answer.status == 200
    assert "x-made-up" not in {name.lower() for name in answer.headers}


def _own(stage: Stage, target: str) -> str:
    """Return the key of the table as a path has it, or a query."""
    return _escaped(stage.own) if "=" in target.partition("{own}")[0] else stage.own


def _escaped(text: str) -> str:
    return quote(text, safe="")


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/lake?prefix={own}%2F&max-keys=abc"),
        ("GET", "/lake?prefix={own}%2F&max-keys="),
        ("GET", "/lake?prefix={own}%2F&max-keys=-1"),
        ("GET", "/lake?list-type=2&prefix={own}%2F&max-keys=" + "9" * 5000),
        ("GET", "/lake?list-type=2&prefix={own}%2F&continuation-token=x"),
        ("GET", "/lake?list-type=2&prefix={own}%2F&continuation-token="),
        ("GET", "/lake/{own}/numbers?partNumber=abc"),
        ("HEAD", "/lake/{own}/numbers?partNumber=-1"),
        ("PUT", "/lake/{own}/numbers?uploadId=x&partNumber=10001"),
        ("GET", "/lake/{own}/numbers?uploadId=x&max-parts=x"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_no_number_is_refused(stage: Stage, method: str, target: str) -> None:
    assert stage.holder.ask("PUT", f"/lake/{stage.own}/numbers", b"x").status == 200
    answer = stage.holder.ask(method, target.replace("{own}", _own(stage, target)))
    assert answer.status == 400
    assert answer.code or method == "HEAD"


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "²", "10001", "9" * 5000])
def test_a_part_that_cannot_be_is_refused(stage: Stage, number: str) -> None:
    target = f"/lake/{stage.own}/part"
    answer = stage.holder.ask("POST", f"{target}?uploads=")
    upload = answer.body.split(b"<UploadId>")[1].split(b"<")[0].decode()
    part = f"<Part><PartNumber>{number}</PartNumber><ETag>x</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
    answer = stage.holder.ask("POST", f"{target}?uploadId={upload}", body)
    assert (answer.status, answer.code) == (400, "MalformedXML")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Range", "abc"), ("Range", "bytes"), ("Range", "bytes=1=2"), ("Range", "bytes=a-b"),
        ("If-Modified-Since", "garbage"), ("If-Unmodified-Since", "garbage"),
    ],
)  # fmt: skip
def test_a_malformed_condition_is_ignored_as_http_says(stage: Stage, name: str, value: str) -> None:
    target = f"/lake/{stage.own}/conditions"
    assert stage.holder.ask("PUT", target, b"hello", {name: value}).status == 200
    answer = stage.holder.ask("GET", target, headers={name: value})
    assert (answer.status, answer.body) == (200, b"hello")
    assert stage.holder.ask("HEAD", target, headers={name: value}).status == 200
    assert stage.holder.ask("DELETE", target, headers={name: value}).status == 204


def test_a_write_has_no_range(stage: Stage) -> None:
    target = f"/lake/{stage.own}/whole"
    assert stage.holder.ask("PUT", target, b"hello", {"Range": "bytes=99-"}).status == 200
    assert stage.holder.ask("GET", target, headers={"Range": "bytes=99-"}).status == 416
    since = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
    assert stage.holder.ask("GET", target, headers=since).status == 304


@pytest.mark.parametrize("name", ["acl", "policy", "tagging", "versioning", "cors", "lifecycle"])
@pytest.mark.parametrize("body", [b"", b"<x/>", b"{}", b"\xff"])
def test_a_setting_that_is_none_is_no_failure_of_the_server(
    stage: Stage, name: str, body: bytes
) -> None:
    stage.root.ask("PUT", "/of-its-own")
    for target in (f"/of-its-own?{name}=", f"/of-its-own/x?{name}="):
        answer = stage.root.ask("PUT", target, body)
        assert answer.status < 500 or answer.status == 501, (target, answer)


def test_a_digest_that_is_no_ascii_is_refused(stage: Stage) -> None:
    target, digest = f"/lake/{stage.own}/x", "é"
    given = {"host": urlsplit(stage.root.endpoint).netloc, "x-amz-content-sha256": digest}
    given["x-amz-date"] = datetime.now(UTC).strftime(TIME_FORM)
    keys = stage.root
    blank = Signature(keys.access_key_id, REGION, given["x-amz-date"], tuple(sorted(given)), digest)
    made = signed("PUT", target, "", given, blank, keys.secret_access_key)
    given["Host"] = given.pop("host")
    given["authorization"] = made.authorization
    answer = send(keys.endpoint, "PUT", target, b"", given)
    assert (answer.status, answer.code) == (400, "XAmzContentSHA256Mismatch")


@pytest.mark.parametrize(
    ("elements", "code"), [(100_000, "MalformedXML"), (2_000_000, "MaxMessageLengthExceeded")]
)
def test_a_document_is_not_read_beyond_a_limit(stage: Stage, elements: int, code: str) -> None:
    body = b"<Delete>" + b"<a/>" * elements + b"</Delete>"
    began = time.process_time()
    answer = stage.holder.ask("POST", "/lake?delete=", body)
    assert (answer.status, answer.code) == (400, code)
    assert b"too many" in answer.body or b"at most" in answer.body
    assert time.process_time() - began < 5
    other = stage.holder._replace(secret_access_key="another")
    assert other.ask("POST", "/lake?delete=", body).code == "SignatureDoesNotMatch"
