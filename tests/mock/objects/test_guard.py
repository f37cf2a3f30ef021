"""What the object store lets through: requests that are signed, by whom they may be sent."""

import re
from urllib.parse import quote

import pytest

from icecheck.mock_server.objects.access import Grant
from icecheck.mock_server.objects.places import Place
from tests.mock.objects.asking import Answered, Sender, send
from tests.mock.objects.conftest import SECONDS, Stage, sender

CONTENT = b"not for everybody"


def refused(answer: Answered, code: str = "AccessDenied", status: int = 403) -> bool:
    """A HEAD has no body to say it."""
    return answer.status == status and answer.code in (code, "")


def escaped(text: str) -> str:
    return quote(text, safe="")


@pytest.fixture
def victim(stage: Stage) -> str:
    """The target of an object of the other table."""
    target = f"/lake/{stage.other}/data/file"
    assert stage.root.ask("PUT", target, CONTENT).status == 200
    return target


# --------------------------------------------------------------------------- what is permitted


def test_a_tables_credentials_do_all_that_writers_need(stage: Stage) -> None:
    target = f"/lake/{stage.own}/data/a%20b%2Bc%252F%C3%BC"
    key = f"{stage.own}/data/a b+c%2Fü"
    holder = stage.holder
    assert holder.ask("PUT", target, CONTENT).status == 200
    assert holder.ask("GET", target).body == CONTENT
    assert holder.ask("GET", target, headers={"Range": "bytes=4-6"}).body == CONTENT[4:7]
    head = holder.ask("HEAD", target)
    assert (head.status, head.headers["content-length"]) == (200, str(len(CONTENT)))
    listed = holder.ask("GET", f"/lake?list-type=2&prefix={escaped(stage.own)}%2Fdata%2F")
    assert f"<Key>{key}</Key>".encode() in listed.body
    copied = {"x-amz-copy-source": target}
    assert holder.ask("PUT", f"/lake/{stage.own}/copy", headers=copied).status == 200
    assert holder.ask("GET", f"/lake/{stage.own}/copy").body == CONTENT
    assert holder.ask("DELETE", target).status == 204
    assert refused(holder.ask("GET", target), "NoSuchKey", 404)
    body = f"<Delete><Object><Key>{stage.own}/copy</Key></Object></Delete>".encode()
    assert holder.ask("POST", "/lake?delete", body).status == 200
    assert holder.ask("HEAD", f"/lake/{stage.own}/copy").status == 404


def started(who: Sender, target: str) -> str:
    answer = who.ask("POST", f"{target}?uploads=")
    assert answer.status == 200
    return answer.body.split(b"<UploadId>")[1].split(b"</UploadId>")[0].decode()


def completion(tag: str) -> bytes:
    return (
        f"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part>"
        "</CompleteMultipartUpload>"
    ).encode()


def test_it_uploads_in_parts(stage: Stage) -> None:
    target = f"/lake/{stage.own}/parts"
    upload = started(stage.holder, target)
    part = stage.holder.ask("PUT", f"{target}?partNumber=1&uploadId={upload}", CONTENT)
    assert part.status == 200
    done = stage.holder.ask("POST", f"{target}?uploadId={upload}", completion(part.headers["etag"]))
    assert (done.status, stage.holder.ask("GET", target).body) == (200, CONTENT)
    again = started(stage.holder, target)
    assert stage.holder.ask("GET", f"{target}?uploadId={again}").status == 200
    assert stage.holder.ask("DELETE", f"{target}?uploadId={again}").status == 204


def test_the_server_has_credentials_for_everything(stage: Stage) -> None:
    assert b"<Name>lake2</Name>" in stage.root.ask("GET", "/").body
    assert stage.root.ask("PUT", "/another-bucket").status == 200
    assert stage.root.ask("PUT", "/another-bucket").status == 409
    assert stage.root.ask("HEAD", "/another-bucket").status == 200
    assert stage.root.ask("DELETE", "/another-bucket").status == 204
    assert stage.root.ask("GET", "/lake?versioning").status == 200


# --------------------------------------------------------------------------- other places

BOTH = "<Delete><Object><Key>{own}/x</Key></Object><Object><Key>{victim}</Key></Object></Delete>"
COPIED = "x-amz-copy-source"
ELSEWHERE: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "read": ("GET", "/lake/{victim}", "", {}),
    "read a version": ("GET", "/lake/{victim}?versionId=null", "", {}),
    "look": ("HEAD", "/lake/{victim}", "", {}),
    "write": ("PUT", "/lake/{victim}", "mine", {}),
    "write beside": ("PUT", "/lake/{own}2/x", "mine", {}),
    "write at the prefix itself": ("PUT", "/lake/{own}", "mine", {}),
    "write above": ("PUT", "/lake/wh/ns/x", "mine", {}),
    "delete": ("DELETE", "/lake/{victim}", "", {}),
    "delete several": ("POST", "/lake?delete=", BOTH, {}),
    "copy from": ("PUT", "/lake/{own}/stolen", "", {COPIED: "/lake/{victim}"}),
    "copy from, escaped": ("PUT", "/lake/{own}/stolen", "", {COPIED: "lake%2F{victim_}"}),
    "copy to": ("PUT", "/lake/{victim}", "", {COPIED: "/lake/{own}/x"}),
    "list": ("GET", "/lake?list-type=2&prefix={other_}%2F", "", {}),
    "list all": ("GET", "/lake?list-type=2", "", {}),
    "list all, as before": ("GET", "/lake", "", {}),
    "list what begins alike": ("GET", "/lake?prefix={own_}", "", {}),
    "list the level": ("GET", "/lake?delimiter=%2F&prefix=wh%2F", "", {}),
    "list versions": ("GET", "/lake?prefix={own_}%2F&versions=", "", {}),
    "list uploads": ("GET", "/lake?prefix={own_}%2F&uploads=", "", {}),
    "list buckets": ("GET", "/", "", {}),
    "look at the bucket": ("HEAD", "/lake", "", {}),
    "make a bucket": ("PUT", "/mine", "", {}),
    "delete a bucket": ("DELETE", "/lake2", "", {}),
    "open the bucket": ("PUT", "/lake?acl=", "<x/>", {}),
    "set a policy": ("PUT", "/lake?policy=", "{}", {}),
    "another bucket": ("PUT", "/lake2/{own}/x", "mine", {}),
    "post a form": ("POST", "/lake", "key=a&file=b", {}),
    "upload": ("POST", "/lake/{victim}?uploads=", "", {}),
    "open an object": ("PUT", "/lake/{own}/x?acl=", "", {}),
    "select": ("POST", "/lake/{victim}?select=&select-type=2", "<x/>", {}),
}


def everything(stage: Stage) -> list[tuple[bytes, bytes]]:
    """Return key and tag of every object; their order and the rest of the list say nothing."""
    listed = stage.root.ask("GET", "/lake?list-type=2").body
    keys = re.findall(rb"<Key>(.*?)</Key>", listed)
    return sorted(zip(keys, re.findall(rb"<ETag>(.*?)</ETag>", listed), strict=True))


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_a_tables_credentials_do_nothing_elsewhere(stage: Stage, victim: str, wanted: str) -> None:
    stage.holder.ask("DELETE", f"/lake/{stage.own}/x")  # another test may have left it
    before = everything(stage)
    assert stage.holder.ask("PUT", f"/lake/{stage.own}/x", b"own").status == 200
    names = {"own": stage.own, "other": stage.other, "victim": victim.removeprefix("/lake/")}
    names |= {f"{name}_": escaped(key) for name, key in names.items()}
    method, target, body, headers = ELSEWHERE[wanted]
    sent = {name: value.format(**names) for name, value in headers.items()}
    content = body.format(**names) if body != "{}" else body
    answer = stage.holder.ask(method, target.format(**names), content.encode(), sent)
    assert refused(answer)
    assert stage.holder.ask("GET", f"/lake/{stage.own}/x").body == b"own"
    assert stage.holder.ask("DELETE", f"/lake/{stage.own}/x").status == 204
    assert stage.root.ask("GET", victim).body == CONTENT
    assert everything(stage) == before
    assert stage.root.ask("HEAD", "/lake2").status == 200


@pytest.mark.parametrize(
    "spelled", ["/../", "/%2e%2e/", "/%2E./", "%2F..%2F", "/./../", "/x/../../"]
)
def test_no_spelling_of_dots_leads_elsewhere(stage: Stage, victim: str, spelled: str) -> None:
    """A reader that resolved them, and not the guard, would be led to the other table."""
    name = victim.rpartition("/ns/")[2]
    raw = f"/lake/{stage.own}{spelled}{name}"
    decoded = raw.replace("%2e", ".").replace("%2E", ".").replace("%2F", "/")
    for method in ("GET", "PUT", "DELETE"):
        assert refused(stage.holder.ask(method, decoded, sent_as=raw), "InvalidURI", 400)
    source = {"x-amz-copy-source": raw}
    copied = stage.holder.ask("PUT", f"/lake/{stage.own}/stolen", headers=source)
    assert refused(copied, "InvalidURI", 400)
    assert stage.root.ask("GET", victim).body == CONTENT


def test_an_escape_is_decoded_once(stage: Stage) -> None:
    """`%252F` is the text `%2F`: a key of its own, not a way past the end of a prefix."""
    for raw, key in (("a%252Fb", "a%2Fb"), ("a%2Fb", "a/b"), ("a%20b", "a b"), ("a+b", "a+b")):
        signed_as = f"/lake/{stage.own}/{quote(key, safe='/')}"
        put = stage.holder.ask("PUT", signed_as, b"x", sent_as=f"/lake/{stage.own}/{raw}")
        assert put.status == 200
        listed = stage.holder.ask("GET", f"/lake?list-type=2&prefix={escaped(stage.own)}%2Fa")
        assert listed.body.count(f"<Key>{stage.own}/{key}</Key>".encode()) == 1
        assert stage.holder.ask("DELETE", signed_as).status == 204
    beside = f"/lake/{stage.own}%2Fx"
    assert stage.holder.ask("PUT", f"/lake/{stage.own}/x", b"x", sent_as=beside).status == 200
    assert stage.holder.ask("DELETE", f"/lake/{stage.own}/x").status == 204


def test_an_upload_belongs_to_its_key(stage: Stage, victim: str) -> None:
    """moto asks for the id of an upload alone, and not for its key."""
    upload = started(stage.root, victim)
    own = f"/lake/{stage.own}/x"
    for method, target, body in (
        ("PUT", f"{own}?partNumber=1&uploadId={upload}", b"mine"),
        ("GET", f"{own}?uploadId={upload}", b""),
        ("POST", f"{own}?uploadId={upload}", completion("x")),
        ("DELETE", f"{own}?uploadId={upload}", b""),
    ):
        assert refused(stage.holder.ask(method, target, body), "NoSuchUpload", 404)
    assert stage.root.ask("DELETE", f"{victim}?uploadId={upload}").status == 204


def test_a_form_has_no_parameters_to_add(stage: Stage, victim: str) -> None:
    """moto reads the parameters of a form beside those of the query."""
    upload, theirs = started(stage.holder, f"/lake/{stage.own}/x"), started(stage.root, victim)
    target = f"/lake/{stage.own}/x?partNumber=1&uploadId={upload}"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert stage.holder.ask("PUT", target, f"uploadId={theirs}".encode(), form).status == 200
    listed = stage.root.ask("GET", f"{victim}?uploadId={theirs}").body
    assert b"<Part>" not in listed
    assert stage.root.ask("DELETE", f"{victim}?uploadId={theirs}").status == 204
    assert stage.holder.ask("DELETE", f"/lake/{stage.own}/x?uploadId={upload}").status == 204


def test_no_other_host_is_another_bucket(stage: Stage, victim: str) -> None:
    """With the bucket in the host, the path of the own table would be a key of that bucket."""
    target = f"/lake/{stage.own}/hosted"
    put = stage.holder.ask("PUT", target, b"x", {"Host": "lake2.s3.amazonaws.com"})
    assert put.status == 200
    assert b"hosted" not in stage.root.ask("GET", "/lake2?list-type=2").body
    assert stage.root.ask("GET", target).body == b"x"
    assert stage.holder.ask("DELETE", target).status == 204


# --------------------------------------------------------------------------- who it is


def test_a_wrong_secret_is_refused(stage: Stage) -> None:
    target = f"/lake/{stage.own}/x"
    wrong = stage.holder._replace(secret_access_key="0" * 40)
    assert refused(wrong.ask("PUT", target, b"x"), "SignatureDoesNotMatch")
    assert refused(
        stage.root._replace(secret_access_key="x").ask("GET", "/"), "SignatureDoesNotMatch"
    )


def test_an_unknown_key_is_refused(stage: Stage) -> None:
    target = f"/lake/{stage.own}/x"
    unknown = stage.holder._replace(access_key_id="ICECHECKNOBODY000000")
    assert refused(unknown.ask("GET", target), "InvalidAccessKeyId")
    assert refused(unknown._replace(session_token=None).ask("GET", target), "InvalidAccessKeyId")


def test_nobody_makes_a_token(stage: Stage, victim: str) -> None:
    """Neither by changing one, nor by taking that of another table, nor with other keys."""
    assert stage.holder.session_token is not None
    content, _, digest = stage.holder.session_token.partition(".")
    other = sender(stage.vended("other"))
    assert other.session_token is not None
    forged = [
        f"{other.session_token.partition('.')[0]}.{digest}", f"{content}.", content, "x.y",
        f"{content}x.{digest}", f".{digest}",
    ]  # fmt: skip
    for token in forged:
        assert refused(stage.holder._replace(session_token=token).ask("GET", victim))
    mixed = stage.holder._replace(session_token=other.session_token)
    assert refused(mixed.ask("GET", victim), "InvalidAccessKeyId")
    both = mixed._replace(access_key_id=other.access_key_id)
    assert refused(both.ask("GET", victim), "SignatureDoesNotMatch")
    assert other.ask("GET", victim).body == CONTENT


def test_without_a_signature_nothing_is_answered(stage: Stage, victim: str) -> None:
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "AWS a:b"}):
        assert refused(send(stage.root.endpoint, "GET", victim, b"", headers))
    presigned = f"{victim}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature={'0' * 64}"
    assert refused(send(stage.root.endpoint, "GET", presigned, b"", {}))


@pytest.mark.parametrize(
    ("sent_as", "added"),
    [
        ("/lake/{own}/y", {}),
        ("/lake/{own}/x?partNumber=1", {}),
        ("", {"x-amz-copy-source": "/lake/{own}/y"}),
        ("", {"x-amz-meta-a": "b"}),
        ("", {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}),
    ],
)
def test_a_signed_request_cannot_be_made_another(
    stage: Stage, sent_as: str, added: dict[str, str]
) -> None:
    added = {name: value.format(own=stage.own) for name, value in added.items()}
    signed = stage.holder.signed("PUT", f"/lake/{stage.own}/x", b"x")
    target = sent_as.format(own=stage.own) or f"/lake/{stage.own}/x"
    kept = {name: value for name, value in signed.items() if name.lower() not in added}
    answer = send(stage.holder.endpoint, "PUT", target, b"x", {**kept, **added})
    assert answer.status == 403


def test_another_body_is_refused(stage: Stage) -> None:
    target = f"/lake/{stage.own}/x"
    signed = stage.holder.signed("PUT", target, b"one")
    answer = send(stage.holder.endpoint, "PUT", target, b"two", signed)
    assert refused(answer, "XAmzContentSHA256Mismatch", 400)


@pytest.mark.parametrize("seconds", [-16 * 60, 16 * 60])
def test_an_old_signature_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    from datetime import UTC, datetime, timedelta

    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda **_: moment)
    assert refused(stage.holder.ask("GET", f"/lake/{stage.own}/x"), "RequestTimeTooSkewed")


def test_credentials_end_by_the_clock_of_the_server(stage: Stage, victim: str) -> None:
    other = sender(stage.vended("other"))
    stage.clock.advance(SECONDS * 1000 - 1 - stage.clock.now_ms() % (SECONDS * 500))
    assert other.ask("GET", victim).body == CONTENT
    stage.clock.advance(1)
    answer = other.ask("GET", victim)
    assert refused(answer)
    assert b"time of these credentials is over" in answer.body
    assert sender(stage.vended("other")).ask("GET", victim).body == CONTENT


def test_whoever_may_only_read_gets_credentials_for_reading(stage: Stage, victim: str) -> None:
    reader = sender(stage.vended("other", "reader"))
    assert reader.ask("GET", victim).body == CONTENT
    assert reader.ask("GET", f"/lake?list-type=2&prefix={escaped(stage.other)}%2F").status == 200
    for method, target in (
        ("PUT", victim), ("DELETE", victim), ("POST", f"{victim}?uploads="),
    ):  # fmt: skip
        assert b"do not permit to write" in reader.ask(method, target).body
    with stage.http("reader") as http:
        again = http.get("/namespaces/ns/tables/other/credentials").json()["storage-credentials"]
    assert refused(sender(again[0]["config"]).ask("DELETE", victim))
    assert stage.root.ask("GET", victim).body == CONTENT


def test_places_hold_what_is_below_them_only() -> None:
    place = Place("lake", "wh/t")
    assert place.holds("lake", "wh/t/x")
    for bucket, key in (("lake", "wh/t"), ("lake", "wh/t2/x"), ("lake2", "wh/t/x"), ("lake", "")):
        assert not place.holds(bucket, key)


def test_keys_show_no_secret(stage: Stage) -> None:
    assert stage.mock.objects is not None
    keys = stage.mock.objects.root
    assert keys.secret_access_key not in repr(keys)
    grant = Grant((Place("lake", "wh/t"),), True, 0)
    assert "lake" in repr(grant)
