"""The object store in a process whose user has moto too."""

import gc
import warnings

import boto3
import pytest
from moto import mock_aws
from moto.s3.models import FakeKey, FakeMultipart, s3_backends

from tests.mock.objects.asking import Sender
from tests.mock.objects.conftest import Stage
from tests.mock.objects.test_guard import completion, started


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "user")


def test_a_users_own_mock_of_aws_takes_nothing_away(stage: Stage) -> None:
    target = f"/lake/{stage.own}/kept"
    assert stage.holder.ask("PUT", target, b"before").status == 200
    upload = started(stage.holder, f"{target}-parts")
    at = f"{target}-parts?uploadId={upload}"
    part = stage.holder.ask("PUT", f"{at}&partNumber=1", b"part")
    with mock_aws():
        assert stage.holder.ask("GET", target).body == b"before"
        assert stage.holder.ask("PUT", f"{target}-within", b"within").status == 200
        user = boto3.client("s3", region_name="us-east-1")
        user.create_bucket(Bucket="mine")
        user.put_object(Bucket="mine", Key="k", Body=b"theirs")
        assert user.get_object(Bucket="mine", Key="k")["Body"].read() == b"theirs"
        assert len(FakeKey.instances_tracked) == 1  # type: ignore[attr-defined]
    assert stage.holder.ask("GET", target).body == b"before"
    assert stage.holder.ask("GET", f"{target}-within").body == b"within"
    assert stage.holder.ask("POST", at, completion(part.headers["etag"])).status == 200
    with mock_aws():
        pass
    assert stage.holder.ask("GET", f"{target}-parts").body == b"part"


def test_what_is_overwritten_or_deleted_is_let_go(stage: Stage) -> None:
    target = f"/lake/{stage.own}/often"
    gc.collect()
    before = _living()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(5):
            assert stage.holder.ask("PUT", target, b"x" * 1000).status == 200
            assert stage.holder.ask("GET", target).status == 200
        upload = started(stage.holder, target)
        stage.holder.ask("PUT", f"{target}?uploadId={upload}&partNumber=1", b"x")
        assert stage.holder.ask("DELETE", f"{target}?uploadId={upload}").status == 204
        assert stage.holder.ask("DELETE", target).status == 204
        gc.collect()
    assert _living() == before
    assert [each for each in warned if "dispose" in str(each.message)] == []


def _living() -> int:
    kinds = {FakeKey, FakeMultipart}  # to ask for instances of them would take seconds
    return sum(type(each) in kinds for each in gc.get_objects())


def test_a_users_bucket_is_not_reached_through_the_store(stage: Stage) -> None:
    root: Sender = stage.root
    with mock_aws():
        user = boto3.client("s3", region_name="us-east-1")
        user.create_bucket(Bucket="theirs")
        user.put_object(Bucket="theirs", Key="k", Body=b"theirs")
        assert root.ask("GET", "/theirs/k").code == "NoSuchBucket"
        assert root.ask("PUT", "/theirs/k", b"changed").code == "NoSuchBucket"
        copied = {"x-amz-copy-source": "/theirs/k"}
        assert root.ask("PUT", f"/lake/{stage.own}/k", headers=copied).code == "NoSuchBucket"
        assert user.get_object(Bucket="theirs", Key="k")["Body"].read() == b"theirs"
        assert root.ask("PUT", "/theirs").status == 200
        assert root.ask("DELETE", "/theirs").status == 204
        assert "theirs" in s3_backends.bucket_accounts
