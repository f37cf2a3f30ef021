"""What may stand in files, and the plugin's own spelling of the same."""

import json

import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.pytest.run import CatalogRun
from icecheck.targets.sources import from_environment, from_pyiceberg, from_toml
from icecheck.targets.target import Given, Principal, SigV4, Target, UsageError

pytest_plugins = ("pytester",)

CHECKS = "--pyargs icecheck.conformance.security.test_second_principal"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[targte]\nurl = "x"', "no table [targte]: did you mean 'target'?"),
        ("[[expectations]]\n", "did you mean 'expectation'?"),
        ("[whatever]\n", "there are expectation, given, target"),
        ('url = "x"', "no table [url]"),
        ('[given]\ntabel = "a.t"', "did you mean 'table'?"),
        ('[target]\nlocation_root = "x"', "did you mean 'location-root'?"),
        ('[target.second]\nsecret = "x"', "token or credential"),
        ("[target.second]\ntoken = 1", "strings"),
        ("[target]\nsecond = 1", "token or credential"),
        ('[target]\nsigv4 = "a/b/c"', "REGION/SERVICE"),
        ('[target]\nurll = "x"', "did you mean 'url'"),
        ("[target]\ntimeout = true", "must be a number"),
        ('[target]\naccept-residue = "yes"', "true or false"),
        ("[target]\nurl = 1", "string"),
        ('target = "x"', "[target]"),
        ("[target", "no valid TOML"),
    ],
)
def test_what_cannot_be_read_in_a_file_is_one_line(icecheck, tmp_path, text, words):
    (tmp_path / "icecheck.toml").write_text(text)
    result = icecheck("run", "http://127.0.0.1:9", "--only", "checks")
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_says_all_that_flags_can_say():
    text = """
    [target]
    url = "http://a"
    location-root = "s3://b/c"
    sigv4 = "eu-west-1/glue"
    [target.second]
    credential = "id:secret"
    [given]
    table = "a.t"
    """
    assert from_toml(text, "f") == {
        "url": "http://a",
        "location_root": "s3://b/c",
        "sigv4": SigV4("eu-west-1", "glue"),
        "second": Principal(credential="id:secret"),
        "given": Given(table=(("a",), "t")),
    }


def test_the_environment_names_a_second_principal():
    given = {"CATALOG_URI": "http://a", "CATALOG_SECOND__TOKEN": "t2"}
    assert from_environment(given) == {"url": "http://a", "second": Principal("t2")}


@pytest.mark.parametrize(
    ("auth", "facts"),
    [
        (
            {"type": "oauth2", "client_id": "i", "client_secret": "s", "token_url": "http://t"},
            {"credential": "i:s", "oauth2_server_uri": "http://t"},
        ),
        (
            {"type": "basic", "username": "u", "password": "p"},
            {"headers": {"Authorization": "Basic dTpw"}},
        ),
    ],
)
def test_pyicebergs_ways_to_authenticate_are_read(tmp_path, monkeypatch, auth, facts):
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    kind = auth.pop("type")
    lines = ["catalog:", "  mine:", "    uri: http://a", "    auth:", f"      type: {kind}"]
    lines += [f"      {kind}:", *(f"        {name}: {value}" for name, value in auth.items())]
    (tmp_path / ".pyiceberg.yaml").write_text("\n".join(lines))
    assert from_pyiceberg("mine") == {"url": "http://a", **facts}


def test_two_ways_to_be_second_or_none_are_misuse(icecheck):
    both = ("--second-token", "t2", "--second-credential", "i:s")
    result = icecheck("run", "http://127.0.0.1:9", *both)
    assert result.exit_code == 2
    assert "second" in result.stderr
    with pytest.raises(UsageError):
        from_toml("[target.second]\n", "f")


def test_the_bundled_mock_has_a_second_principal(icecheck, tmp_path):
    result = icecheck("run", "--mock", "--check", "auth.second-*", "--check", "auth.reader-*")
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "icecheck-report" / "run.json").read_text())
    outcomes = {c["id"]: c["outcome"] for c in report["checks"] if "second" in c["id"]}
    assert outcomes.keys() > {f"auth.second-principal-{w}" for w in ("is-told", "reads-nothing")}
    assert {*outcomes.values()} == {"pass"}
    assert report["target"]["auth"]["principals"] == 3
    [profile] = [p for p in report["profiles"] if p["id"] == "authorization"]
    assert profile["status"] == "conformant"


@pytest.fixture
def mock(tmp_path_factory):
    clients = (
        Client("me", "my-secret"),
        Client("you", "your-secret", permissions=Permissions.nothing()),
    )
    with MockCatalog(
        oauth2=OAuth2Settings(clients=clients),
        warehouses=["wh"],
        allow_locations=[tmp_path_factory.getbasetemp()],
    ) as catalog:
        yield catalog


def run_plugin(pytester, *arguments):
    return pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", "no:randomly", "-q", "--conformance-report", "report",
        *CHECKS.split(), *arguments,
    )  # fmt: skip


def facts_in(pytester):
    return json.loads((pytester.path / "report" / "run.json").read_text())


def test_the_plugin_takes_the_same_options(pytester, mock):
    given = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh")
    given += ("--catalog-credential", "me:my-secret", "--catalog-second-credential")
    given += ("you:your-secret", "--catalog-location-root", (pytester.path / "placed").as_uri())
    given += ("--catalog-rate-limit", "5000", "--catalog-claim", "loadTable")
    run_plugin(pytester, *given).assert_outcomes(passed=_count(pytester))
    report = facts_in(pytester)
    assert report["target"]["auth"]["principals"] == 2
    assert all(c["outcome"] == "pass" for c in report["checks"] if "second" in c["id"])


def _count(pytester):
    return sum(not check["passive"] for check in facts_in(pytester)["checks"])


def target_of(pytester, *arguments):
    return CatalogRun.from_config(pytester.parseconfig(*arguments)).options.target


def test_keys_of_the_ini_file_say_the_same(pytester):
    pytester.makeini(
        """
        [pytest]
        catalog_url = http://ini
        catalog_warehouse = wh
        catalog_credential = me:my-secret
        catalog_timeout = 20
        catalog_read_only = true
        catalog_given_table = a.b.t
        catalog_header =
            X-One: 1
            X-Two: 2
        """
    )
    found = target_of(pytester, "--catalog-warehouse", "other")
    assert (found.url, found.warehouse, found.credential) == ("http://ini", "other", "me:my-secret")
    assert (found.timeout_seconds, found.read_only) == (20.0, True)
    assert found.given == Given(table=(("a", "b"), "t"))
    assert found.headers == {"X-One": "1", "X-Two": "2"}


def test_the_plugin_reads_environment_and_file_too(pytester, monkeypatch):
    text = '[target]\nurl = "http://a"\ntoken = "t"\nlocation-root = "s3://b"\n'
    pytester.path.joinpath("icecheck.toml").write_text(text)
    monkeypatch.setenv("CATALOG_WAREHOUSE", "wh")
    found = target_of(pytester, "--catalog-url", "http://a/")
    assert (found.token, found.warehouse, found.location_root) == ("t", "wh", "s3://b")
    assert target_of(pytester, "--catalog-url", "http://other").token is None


def test_nothing_said_is_what_the_command_line_does_without(pytester):
    assert target_of(pytester, "--catalog-url", "http://a") == Target("http://a")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--catalog-second-token", "a", "--catalog-second-credential", "b:c"), "second"),
        (("--catalog-sigv4", "/"), "REGION/SERVICE"),
        (("--catalog-given-table", "t"), "needs a namespace"),
        (("--catalog-client-key", "k"), "--client-cert"),
        (("--catalog-config", "missing.toml"), "missing.toml"),
        (("--catalog-namespace", "a..b"), "empty level"),
        (("-o", "catalog_timeout=soon"), "no number"),
    ],
)
def test_a_bad_option_is_pytests_usage_error(pytester, given, words):
    with pytest.raises(pytest.UsageError, match=words):
        target_of(pytester, "--catalog-url", "http://127.0.0.1:9", *given)
