"""Whatever is wrong with the input is said in one line, with the exit code that tells its kind."""

import json

import pytest

from icecheck.installing import install_command
from icecheck.run.output import EXCHANGES_FILE, FORMATS
from tests.kit.serving import json_answer

MISUSE = [
    (["run"], "URL or --mock"),
    (["run", "--mock", "http://127.0.0.1:1"], "URL or --mock"),
    (["run", "--mock", "--no-such-option"], "--no-such-option"),
    (["run", "--mock", "--only", "everything"], "everything"),
    (["run", "--mock", "--check", "no.such.check"], "no.such.check"),
    (["run", "--mock", "--run-id", "Not Valid"], "run id"),
    (["run", "--mock", "--seed", "x"], "--seed"),
    (["run", "--mock", "--token", "t"], "leave yours out"),
    (["run", "--mock", "-q", "-v"], "contradict"),
    (["run", "--mock", "--pyiceberg-catalog", "mine"], "leave yours out"),
    (["run", "--mock", "--spark-catalog", "mine"], "leave yours out"),
    (["run", "--mock", "--smoke", "--only", "scenarios"], "--only checks"),
    (["run", "ftp://catalog.test"], "http(s)"),
    (["run", "catalog.test:8181"], "http(s)"),
    (["run", "http://user:password@catalog.test"], "holds a user"),
    (["run", "http://catalog.test/v1?x=1"], "'?'"),
    (["run", "http://[::1"], "cannot be read"),
    (["run", "http://a.test", "--catalog-url", "http://b.test"], "two catalogs"),
    (["run", "http://127.0.0.1:1", "--token", "t", "--credential", "a:b"], "not both"),
    (["run", "http://127.0.0.1:1", "--header", "no-colon"], "NAME:VALUE"),
    (["run", "http://127.0.0.1:1", "--header", "A: b\r\nC: d"], "printable"),
    (["run", "http://127.0.0.1:1", "--header", "A(: b"], "forbidden character"),
    (["run", "http://127.0.0.1:1", "--timeout", "0"], "timeout"),
    (["run", "http://127.0.0.1:1", "--timeout", "nan"], "timeout"),
    (["run", "http://127.0.0.1:1", "--timeout", "inf"], "timeout"),
    (["run", "http://127.0.0.1:1", "--race-rounds", "0"], "--race-rounds 20"),
    (["run", "http://127.0.0.1:1", "--fuzz-cases", "-1"], "--fuzz-cases 100"),
    (["run", "http://127.0.0.1:1", "--fuzz-cases", "many"], "--fuzz-cases"),
    (["run", "http://127.0.0.1:1", "--fuzz-seconds", "0"], "--fuzz-seconds 60"),
    (["run", "http://127.0.0.1:1", "--fuzz-seconds", "nan"], "--fuzz-seconds 60"),
    (["run", "http://127.0.0.1:1", "--token", "t\u00fc"], "the token cannot be sent"),
    (["run", "http://127.0.0.1:1", "--token", "t "], "the token cannot be sent"),
    (["run", "http://127.0.0.1:1", "--second-token", " t"], "the second token cannot be sent"),
    (["run", "http://127.0.0.1:1", "--warehouse", "\udcff"], "the warehouse cannot be sent"),
    (["run", "http://a..test"], "cannot be read"),
    (["run", "http://127.0.0.1:1/\x01"], "cannot be read"),
    (["run", "http://127.0.0.1:1", "--oauth2-server-uri", "http://[::1"], "OAuth2"),
    (["run", "http://127.0.0.1:1", "--oauth2-server-uri", "nonsense"], "OAuth2"),
    (["run", "http://127.0.0.1:1", "--namespace", "a..b"], "empty level"),
    (["run", "http://127.0.0.1:1", "--isolation", "parent"], "--namespace"),
    (["run", "http://127.0.0.1:1", "--ca-bundle", "/no/such/file"], "--ca-bundle"),
    (["run", "--mock", "--spark", "--iceberg-jar", "a", "--iceberg-packages", "b"], "not both"),
    (["run", "--mock", "--spark", "--iceberg-jar", "/no/such.jar"], "/no/such.jar"),
    (["serve", "--port", "99999"], "99999"),
    (["serve", "--warehouse", "a", "--warehouse", "a"], "declared twice"),
    (["list", "operations", "--group", "checks"], "--group"),
    (["list", "everything"], "everything"),
    (["list", "requirements", "--diff", "1.11.0", "1.10.0"], "name the older release first"),
    (["list", "requirements", "--diff", "1.10.0", "1.10.0"], "name the older release first"),
    (["list", "requirements", "--diff", "1.10.0", "9.0.0"], "1.6.0 to"),
    (["list", "requirements", "--diff", "1.10.0"], "--diff"),
    (["list", "checks", "--diff", "1.8.0", "1.9.0"], "--diff"),
    (["explain"], "ID"),
    (["explain", "createNamespace.408"], "createNamespace.409"),
    (["no-such-command"], "no-such-command"),
]


def one_line_of(result):
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("icecheck: ")
    return lines[0]


def test_a_bundle_without_a_certificate_is_misuse(icecheck, tmp_path):
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("nothing")
    result = icecheck("run", "http://127.0.0.1:1", "--ca-bundle", str(bundle))
    assert result.exit_code == 2
    assert "give a PEM file" in one_line_of(result)


def test_a_key_that_nobody_knows_is_no_less_wrong_with_the_mock(icecheck, tmp_path):
    (tmp_path / "icecheck.toml").write_text('[target]\nurll = "http://catalog.test"\n')
    result = icecheck("run", "--mock", "--smoke", "--config", str(tmp_path / "icecheck.toml"))
    assert result.exit_code == 2
    assert "did you mean 'url'?" in one_line_of(result)


@pytest.mark.parametrize(("arguments", "words"), MISUSE, ids=lambda a: " ".join(a)[:50])
def test_misuse_is_one_line_and_exit_2(icecheck, tmp_path, arguments, words):
    result = icecheck(*arguments)
    assert result.exit_code == 2
    assert words in one_line_of(result)
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_is_a_file_is_misuse(icecheck, tmp_path):
    (tmp_path / "file").write_text("kept")
    result = icecheck("run", "--mock", "--output", "file")
    assert result.exit_code == 2
    assert "--output" in one_line_of(result)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("modules", "arguments", "extra"),
    [
        ({"jinja2"}, ["run", "--mock"], "suite"),
        ({"zstandard", "schemathesis"}, ["run", "http://127.0.0.1:1"], "suite"),
        ({"hypothesis"}, ["plan", "http://127.0.0.1:1"], "suite"),
        ({"pandas"}, ["run", "--mock", "--spark"], "spark"),
        ({"pyiceberg"}, ["run", "--mock", "--clients"], "clients"),
        ({"pyarrow"}, ["run", "--mock", "--only", "clients"], "clients"),
    ],
)
def test_a_missing_extra_is_named(icecheck, monkeypatch, modules, arguments, extra):
    from icecheck.run import extras

    find = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda m: None if m in modules else find(m))
    result = icecheck(*arguments)
    assert result.exit_code == 2
    line = one_line_of(result)
    assert install_command(extra) in line
    assert all(module in line for module in modules)


# no catalog at the URL: exit 4


def unusable(result, tmp_path):
    assert result.exit_code == 4, result.output
    assert result.stdout == "report: icecheck-report/index.html\n"
    report = tmp_path / "icecheck-report"
    assert {path.name for path in report.iterdir()} == {*FORMATS, EXCHANGES_FILE}
    line = one_line_of(result)
    headline = json.loads((report / "run.json").read_text())["verdict"]["headline"]
    assert line == f"icecheck: {headline}"
    return line


def test_an_unreachable_url(icecheck, tmp_path):
    result = icecheck("run", "http://127.0.0.1:1")
    assert "cannot be reached" in unusable(result, tmp_path)


def test_html_answers(icecheck, tmp_path, serve):
    page = (200, {"Content-Type": "text/html"}, b"<html><body>Welcome</body></html>")
    url = serve(lambda _: page)
    assert "no Iceberg REST catalog" in unusable(icecheck("run", url), tmp_path)


@pytest.mark.parametrize("status", [301, 404, 500])
def test_a_server_of_something_else(icecheck, tmp_path, serve, status):
    url = serve(lambda _: (status, {"Location": "/login"}, b"nothing here"))
    line = unusable(icecheck("run", url), tmp_path)
    assert str(status) in line
    assert "no Iceberg REST catalog" in line


@pytest.mark.parametrize("body", [b"[]", b"null", b"{", b"[" * 100_000, b"\xff\xfe"])
def test_a_configuration_that_is_no_json_object(icecheck, tmp_path, serve, body):
    url = serve(lambda _: (200, {"Content-Type": "application/json"}, body))
    assert "no JSON object" in unusable(icecheck("run", url), tmp_path)


def test_a_certificate_that_nobody_knows(icecheck, tmp_path, serve, self_signed):
    context, certificate = self_signed
    url = serve(lambda _: json_answer({}), context)
    assert "--ca-bundle" in unusable(icecheck("run", url), tmp_path)
    known = icecheck(
        "run", url, "--ca-bundle", certificate, "--check", "getConfig.answered", "--only", "checks"
    )
    assert known.exit_code == 1


def test_plain_http_where_tls_is_spoken_and_the_reverse(icecheck, tmp_path, serve, self_signed):
    tls = serve(lambda _: json_answer({}), self_signed[0])
    plain = serve(lambda _: json_answer({}))
    for url in (tls.replace("https:", "http:"), plain.replace("http:", "https:")):
        assert "cannot be reached" in unusable(icecheck("run", url), tmp_path)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_token(icecheck, tmp_path, serve, status):
    body = {"error": {"message": "not you", "type": "NotAuthorizedException", "code": status}}
    url = serve(lambda _: json_answer(body, status))
    line = unusable(icecheck("run", url, "--token", "wrong-token-canary"), tmp_path)
    assert "credentials were refused" in line
    assert "canary" not in line


def test_an_unknown_warehouse(icecheck, tmp_path, serve):
    body = {"error": {"message": "no such warehouse", "type": "BadRequestException", "code": 400}}
    url = serve(lambda _: json_answer(body, 400))
    line = unusable(icecheck("run", url, "--warehouse", "nope"), tmp_path)
    assert "--warehouse 'nope'" in line
    assert "no such warehouse" in line


def test_a_credential_that_the_token_endpoint_refuses(icecheck, tmp_path, serve):
    url = serve(lambda _: json_answer({"error": "invalid_client"}, 401))
    line = unusable(icecheck("run", url, "--credential", "me:secret-canary"), tmp_path)
    assert "invalid_client" in line
    assert "canary" not in line


def test_a_server_that_echoes_the_token_in_its_refusal(icecheck, tmp_path, serve):
    def echo(sent):
        message = f"bad header {sent.headers.get('Authorization')}"
        return json_answer({"error": {"message": message, "type": "X", "code": 400}}, 400)

    result = icecheck("run", serve(echo), "--warehouse", "w", "--token", "echo-canary-1")
    line = unusable(result, tmp_path)
    assert "bad header Bearer <redacted:" in line
    assert "canary" not in line


def test_a_hostile_refusal_stays_one_legible_line(icecheck, tmp_path, serve):
    message = "a\r\nicecheck: all good\x1b[2J\u202e" + "x" * 5_000
    body = {"error": {"message": message, "type": "X", "code": 400}}
    url = serve(lambda _: json_answer(body, 400))
    line = unusable(icecheck("run", url, "--warehouse", "w"), tmp_path)
    assert line.isprintable()
    assert len(line) < 1_000


# a catalog that answers, and is wrong in everything


def test_a_catalog_that_answers_nothing_to_everything(icecheck, tmp_path, nothing_catalog):
    result = icecheck("run", nothing_catalog, "--only", "checks")
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert result.stderr == ""
    document = json.loads((tmp_path / "icecheck-report" / "run.json").read_text())
    assert document["complete"]
    assert document["verdict"]["status"] == "not-conformant"
    assert 1 <= len(document["causes"]) <= 10
    statuses = {(p["claimed"], p["status"]) for p in document["profiles"]}
    assert statuses == {(True, "not-conformant"), (False, "not-claimed")}
    assert document["totals"]["error"] == 0
    assert document["totals"]["fail"] > 0
    assert document["safety"]["touched_foreign"] == []


def test_a_reader_that_goes_away_is_no_error_of_the_suite(start_icecheck, tmp_path):
    process = start_icecheck("list", "requirements")
    process.stdout.close()  # as `head` does when it has seen enough
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []
