"""Requests to the object store that cannot be understood, or could be read in two ways."""

from urllib.parse import quote

import pytest

from tests.mock.objects.asking import send
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
