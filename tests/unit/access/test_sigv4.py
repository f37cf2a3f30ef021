"""Requests signed for AWS: a server that computes the signature itself takes all of them."""

import re
import sys
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from icecheck.findings.verdict import Group, Outcome
from icecheck.mock_server import MockCatalog
from icecheck.reports import run_json
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.sources import from_environment, from_toml
from icecheck.targets.target import Principal, SigV4, Target, UsageError
from icecheck.wire.connection import Connection
from icecheck.wire.exchange import Exchange, Step, as_curl
from icecheck.wire.redaction import Redactor
from icecheck.wire.signing import Signer
from tests.kit.contracts import CONTRACT
from tests.kit.serving import Sent, gateway

KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY", "temporary-token-1")
SCOPE = SigV4("eu-west-1", "glue")
FEW = ("createTable.*", "loadTable.*", "list*", "name*", "update*", "auth.*")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS.secret_key)
    monkeypatch.setenv("AWS_SESSION_TOKEN", KEYS.token)


def is_signed(sent: Sent) -> bool:
    """Compute the signature from what arrived, and compare."""
    said = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-west-1/glue/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        sent.headers.get("authorization", ""),
    )
    if said is None or not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(
        said[1].split(";")
    ):
        return False
    path, _, query = sent.path.partition("?")
    request = AWSRequest(
        sent.method,
        f"http://{sent.headers['host']}{path}",
        headers={name: sent.headers[name] for name in said[1].split(";")},
        data=sent.body,
        params=parse_qsl(query, keep_blank_values=True),
    )
    request.context["timestamp"] = sent.headers["x-amz-date"]
    signer = SigV4Auth(KEYS, "glue", "eu-west-1")
    is_honest = sent.headers["x-amz-content-sha256"] == signer.payload(request)
    canonical = signer.canonical_request(request)
    due = signer.signature(signer.string_to_sign(request, canonical), request)
    return is_honest and due == said[2] and sent.headers["x-amz-security-token"] == KEYS.token


@pytest.fixture
def seen() -> list[Sent]:
    return []


@pytest.fixture
def catalog(seen: list[Sent]) -> Iterator[str]:
    mock = MockCatalog(seed=1, warehouses=["w h"])

    def allows(sent: Sent) -> bool:
        seen.append(sent)
        return is_signed(sent)

    with gateway(mock, allows) as url:
        yield url
    mock.stop()


@pytest.mark.usefixtures("keys")
def test_a_server_that_wants_signatures_is_verified_like_any_other(
    catalog: str, seen: list[Sent]
) -> None:
    target = Target(catalog, warehouse="w h", sigv4=SCOPE)
    recorded: list[Exchange] = []
    run = run_checks(
        RunOptions(target, "r1", groups=(Group.CHECKS,), globs=FEW), on_exchange=recorded.append
    )
    wrong = [v for v in run.verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert [(v.check, v.summary) for v in wrong] == []
    assert sum(v.outcome is Outcome.PASS for v in run.verdicts) > 40
    assert any("%" in sent.path.partition("?")[0] for sent in seen)
    assert any("?" in sent.path for sent in seen)
    assert run.facts["target"]["auth"]["method"] == "sigv4"
    told = run_json.render(run) + repr(recorded)
    signed = [sent.headers["authorization"] for sent in seen if is_signed(sent)]
    signatures = {each.rpartition("=")[2] for each in signed}
    assert not [each for each in (*signatures, KEYS.secret_key, KEYS.token) if each in told]


@pytest.mark.usefixtures("keys")
def test_who_is_not_signed_is_a_stranger(catalog: str) -> None:
    """Taking the credentials away takes the signature away: a catalog that answers then leaks."""
    options = RunOptions(
        Target(catalog, sigv4=SCOPE), "r1", globs=("auth.no-success-without-credentials",)
    )
    [verdict] = [v for v in run_checks(options).verdicts if not v.passive]
    assert verdict.outcome is Outcome.PASS


@pytest.mark.usefixtures("keys")
def test_a_bearer_token_moves_and_is_signed(seen: list[Sent]) -> None:
    signed = Signer(SCOPE).signed(
        "POST", "http://c:8181/v1/a%1Fb?x=%20+", {"Authorization": "Bearer tok", "A": "b"}, b"{}"
    )
    sent = {name.lower(): value for name, value in signed.items()}
    assert sent["original-authorization"] == "Bearer tok"
    assert sent["authorization"].startswith("AWS4-HMAC-SHA256 ")
    assert "original-authorization" in sent["authorization"]
    assert is_signed(Sent("POST", "/v1/a%1Fb?x=%20+", {**sent, "host": "c:8181"}, b"{}"))
    assert not is_signed(Sent("POST", "/v1/a%1Fb?x=y", {**sent, "host": "c:8181"}, b"{}"))
    assert not is_signed(Sent("POST", "/v1/a%1Fc?x=%20+", {**sent, "host": "c:8181"}, b"{}"))


@pytest.mark.usefixtures("keys")
def test_curl_signs_again_with_the_users_own_keys() -> None:
    headers = Signer(SCOPE).signed(
        "GET", "http://c/v1/config", {"Authorization": "Bearer tok", "X": "y"}, None
    )
    exchange = Exchange(
        "c", 1, Step.DO, "getConfig", "GET", "http://c/v1/config", tuple(headers.items()), None
    )
    redactor = Redactor(["tok"])
    recorded = redactor.exchange(exchange)
    # The exchanges that a report shows are those that were recorded, redacted once more.
    assert redactor.exchange(recorded) == recorded
    line = as_curl(recorded)
    assert "--aws-sigv4 aws:amz:eu-west-1:glue" in line
    assert '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"' in line
    assert '"x-amz-security-token: $AWS_SESSION_TOKEN"' in line
    assert "AKIDEXAMPLE" not in line
    assert "Signature=" not in line


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("token", "own"), [("first-1", True), ("second-2", False), ("reader-3", False)]
)
def test_a_signed_request_with_the_token_of_another_is_not_the_runs_own(
    token: str, own: bool
) -> None:
    others = {"second": Principal("second-2"), "reader": Principal("reader-3")}
    connection = Connection(Target("http://c", token="first-1", sigv4=SCOPE, **others), CONTRACT)
    connection.close()
    shown = {"Authorization": f"Bearer {token}"}
    sent = tuple(Signer(SCOPE).signed("GET", "http://c", shown, None).items())
    exchange = Exchange("c", 1, Step.DO, "loadTable", "GET", "http://c", sent, None)
    assert connection.shows_own(exchange) is own


@pytest.mark.usefixtures("keys")
def test_the_token_of_each_other_principal_is_a_variable_of_its_own() -> None:
    others = {"second": Principal("second-2"), "reader": Principal("reader-3")}
    connection = Connection(Target("http://c", token="first-1", **others), CONTRACT)
    connection.close()
    lines = []
    for token in ("first-1", "second-2", "reader-3"):
        sent = (("Authorization", f"Bearer {token}"),)
        exchange = Exchange("c", 1, Step.DO, "getConfig", "GET", "http://c", sent, None)
        lines.append(as_curl(connection.redactor.exchange(exchange)))
    assert '"Authorization: Bearer $ICECHECK_TOKEN"' in lines[0]
    assert '"Authorization: Bearer $ICECHECK_SECOND_TOKEN"' in lines[1]
    assert '"Authorization: Bearer $ICECHECK_READER_TOKEN"' in lines[2]


def test_signing_is_found_where_clients_are_told_of_it() -> None:
    properties = {
        "CATALOG_URI": "http://a",
        "CATALOG_REST_SIGV4__ENABLED": "true",
        "CATALOG_REST_SIGNING__REGION": "eu-west-1",
        "CATALOG_REST_SIGNING__NAME": "glue",
    }
    assert from_environment(properties)["sigv4"] == SCOPE
    assert "sigv4" not in from_environment({**properties, "CATALOG_REST_SIGV4__ENABLED": "false"})
    assert from_environment({"CATALOG_REST_AUTH_TYPE": "sigv4"})["sigv4"] == SigV4()
    assert from_toml('[target]\nsigv4 = "eu-west-1/glue"', "f") == {"sigv4": SCOPE}
    assert SigV4.read("us-east-1") == SigV4("us-east-1", "execute-api")


@pytest.mark.parametrize("scope", ["", "/", "us-east-1/", "/s3", "a b/c", "a/b/c"])
def test_a_scope_that_is_none_is_misuse(icecheck, scope: str) -> None:
    result = icecheck("run", "http://127.0.0.1:9", "--sigv4", scope)
    assert result.exit_code == 2
    assert "REGION/SERVICE" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("keys")
def test_without_keys_region_or_botocore_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs a region"):
        Signer(SigV4())
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(UsageError, match="no AWS credentials"):
        Signer(SCOPE)
    assert Signer(SigV4("r", "s", "id", "secret"))
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(UsageError, match=r"\[sigv4\]"):
        Signer(SCOPE)
