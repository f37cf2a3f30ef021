"""`icecheck doctor`: what stands in the way of a run, and what helps."""

import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.mock_server.defects.kit.rewriting import forget_effect, refuse_as, wrap
from icecheck.mock_server.protocol.problem import Problem
from tests.unit.access.test_expired_token import opened


def lines_of(result):
    return [line for line in result.output.splitlines() if line]


def test_a_catalog_that_is_well_is_said_to_be(icecheck):
    with MockCatalog(token="t0ken") as mock:
        result = icecheck("doctor", mock.uri, "--token", "t0ken")
        assert result.exit_code == 0, result.output
        *found, command = lines_of(result)
        assert all(line.startswith("ok") for line in found)
        assert command == f'run it: icecheck run {mock.uri} --token "$CATALOG_TOKEN"'
        assert len(mock.journal.find()) <= 8
        assert len(mock.state().namespaces) == 0
        assert "the catalog wants credentials" in result.output
        assert (
            icecheck("doctor", mock.uri, "--token", "t0ken", "--namespace", "none").exit_code == 4
        )


@pytest.mark.parametrize("given", [(), ("--token", "wrong-token-1")], ids=["none", "wrong"])
def test_missing_credentials_are_named_and_not_repeated(icecheck, given):
    with MockCatalog(token="t0ken") as mock:
        result = icecheck("doctor", mock.uri, *given)
    assert result.exit_code == 4
    assert "--token" in result.output
    assert "wrong-token-1" not in result.output


def test_who_may_not_write_is_told_whether_he_may_read(icecheck):
    clients = tuple(
        Client(name, "my-secret", permissions=may)
        for name, may in (
            ("reader", Permissions(read_only=True)),
            ("nobody", Permissions.nothing()),
        )
    )
    with MockCatalog(oauth2=OAuth2Settings(clients=clients)) as mock:
        for name, words in (("reader", "can be listed"), ("nobody", "may not read")):
            result = icecheck("doctor", mock.uri, "--credential", f"{name}:my-secret")
            assert "may not write" in result.output
            assert words in result.output


@pytest.mark.parametrize("given", [(), ("--token", "anything")], ids=["none", "some"])
def test_an_open_catalog_is_asked_no_more_than_a_closed_one(icecheck, given):
    with MockCatalog() as mock:
        result = icecheck("doctor", mock.uri, *given)
        assert "namespaces can be listed" in result.output
        assert ("without credentials too" in result.output) == bool(given)
        assert len(mock.journal.find()) == 8


def test_a_catalog_that_wants_a_warehouse(icecheck):
    with MockCatalog() as mock:

        def around(faithful, state, call):
            if "warehouse" not in call.query:
                raise Problem(400, "BadRequestException", "Please specify a warehouse")
            return faithful(state, call)

        wrap(mock.registries, "getConfig", around)
        result = icecheck("doctor", mock.uri)
        assert result.exit_code == 4
        assert "--warehouse" in result.output
        assert icecheck("doctor", mock.uri, "--warehouse", "w").exit_code == 0


def test_nothing_listens_there(icecheck):
    result = icecheck("doctor", "http://127.0.0.1:9")
    assert result.exit_code == 4
    assert "check the host" in result.output


def test_a_catalog_without_endpoints_in_its_config(icecheck):
    with MockCatalog() as mock:
        from icecheck.mock_server.defects.kit.rewriting import alter_body

        def without(body):
            return {name: value for name, value in body.items() if name != "endpoints"}

        alter_body(mock.registries, "getConfig", without)
        result = icecheck("doctor", mock.uri)
        assert "14 default" in result.output
        assert "--claim" in result.output


def test_a_catalog_that_takes_no_namespaces_at_the_top(icecheck):
    with MockCatalog() as mock:
        mock.pyiceberg(in_process=True).create_namespace("given")

        def around(faithful, state, call):
            if b'["icecheck' in call.request.body:
                raise Problem(403, "ForbiddenException", "Only below given")
            return faithful(state, call)

        wrap(mock.registries, "createNamespace", around)
        assert "may not write" in icecheck("doctor", mock.uri).output
        result = icecheck("doctor", mock.uri, "--namespace", "given")
        assert "a table can be created" in result.output


def test_a_catalog_that_does_not_delete(icecheck):
    with MockCatalog() as mock:
        refuse_as(mock.registries, "dropTable", 404, 500)
        forget_effect(mock.registries, "dropTable")
        result = icecheck("doctor", mock.uri)
        assert "--accept-residue" in result.output


def test_a_second_look_does_not_meet_what_the_first_has_left(icecheck):
    with MockCatalog() as mock:
        for kind in ("dropTable", "dropNamespace"):
            refuse_as(mock.registries, kind, 501, 501)
            forget_effect(mock.registries, kind)
        looks = [icecheck("doctor", mock.uri) for _ in range(2)]
        accepted = icecheck("doctor", mock.uri, "--accept-residue")
        last = f"run it: icecheck run {mock.uri} --accept-residue"
    for look in looks:
        assert look.exit_code == 4
        assert last in look.output
        assert look.output.count("icecheck_doctor") > 1, "what is left is named"
    assert accepted.exit_code == 0, accepted.output
    assert accepted.output.count("--accept-residue\n") == 1


@pytest.mark.parametrize("pattern", [(), ("--name-pattern", "sales_{run}")], ids=["usual", "own"])
def test_what_runs_have_left_is_told_and_no_parent_to_work_under(icecheck, pattern):
    left = ["icecheck_doctor1a2b3c_1", "icecheck_nightly_2"] + ["sales_4d5e6f_1"] * bool(pattern)
    with MockCatalog() as mock:
        client = mock.pyiceberg(in_process=True)
        for name in (*left, "sales_2026"):
            client.create_namespace(name)

        def refuse(*_):
            raise Problem(400, "BadRequestException", "Not here")

        mock.registries.operations["createTable"] = refuse
        result = icecheck("doctor", mock.uri, *pattern)
    assert f"have left {', '.join(left)}" in result.output
    assert "there are sales_2026)" in result.output
    assert result.output.rstrip().endswith("--namespace sales_2026")


@pytest.mark.parametrize("prefix", [(), ("--prefix", "wh")])
def test_what_only_the_user_knows_is_asked_for_in_the_last_line(icecheck, prefix):
    def without(body):
        return body | {"defaults": {}, "overrides": {}}

    with MockCatalog(token="t", warehouses=["wh"]) as mock:
        from icecheck.mock_server.defects.kit.rewriting import alter_body

        alter_body(mock.registries, "getConfig", without)
        bare = icecheck("doctor", mock.uri, *prefix)
        known = icecheck("doctor", mock.uri, "--token", "t", *prefix)
        words = " ".join(("icecheck doctor", mock.uri, *prefix))
    assert bare.output.splitlines()[-1] == f'ask again: {words} --token "$CATALOG_TOKEN"'
    *_, last = known.output.splitlines()
    if prefix:
        assert last.startswith("run it: ")
    else:
        assert last == f'ask again: {words} --token "$CATALOG_TOKEN" --prefix TEXT'


@pytest.mark.parametrize(
    ("operations", "given", "needed"),
    [
        (("dropTable",), (), ("--accept-residue",)),
        (("createNamespace",), (), ("--namespace", "given")),
        (("createTable",), (), ("--namespace", "given")),
        (("createTable",), ("--namespace", "given"), None),
        (("listNamespaces", "createNamespace"), (), None),
    ],
)
def test_the_last_line_is_the_command_of_a_run_where_one_would_do(
    icecheck, operations, given, needed
):
    with MockCatalog() as mock:
        mock.pyiceberg(in_process=True).create_namespace("given")
        for operation_id in operations:
            wrap(mock.registries, operation_id, _refuse)
        result = icecheck("doctor", mock.uri, *given)
        command = f"run it: icecheck run {mock.uri} {' '.join(needed or ())}"
    assert result.exit_code == 4
    assert (lines_of(result)[-1] == command) == (needed is not None), result.output


def _refuse(_faithful, _state, _call):
    raise Problem(422, "UnprocessableEntityException", "Not like this")


def test_a_line_with_a_secret_takes_it_from_the_environment(icecheck):
    with MockCatalog() as mock:
        options = ("--credential", "me:s3cret-value", "--header", "X-Key: s3cret-key")
        result = icecheck("doctor", mock.uri, *options, "--header", "X-Tenant: blue")
    assert "s3cret" not in result.output
    assert '--credential "$CATALOG_CREDENTIAL" --header "X-Key: $CATALOG_' in result.output


@pytest.mark.parametrize(
    ("setting", "options", "hint"),
    [
        ({"token": "t0ken"}, (), "give some with --token or --credential"),
        ({"token": "t0ken"}, ("--token", "other"), "give fresh ones"),
        ({}, ("--prefix", "elsewhere"), "--prefix"),
    ],
    ids=["no-credentials", "others", "another-prefix"],
)
def test_a_run_with_the_wrong_settings_blames_nobody(icecheck, tmp_path, setting, options, hint):
    """The config is open to all; every other route refuses, or is not there."""
    with MockCatalog(**setting) as mock:
        opened(mock.registries, "getConfig")
        result = icecheck("run", mock.uri, "--only", "checks", *options, "--output", str(tmp_path))
    assert result.exit_code == 4, result.output
    assert hint in result.output
    assert "not conformant" not in result.output.lower()


@pytest.mark.parametrize("options", [(), ("--accept-residue",)])
def test_a_run_that_may_make_no_table_blames_nobody(icecheck, tmp_path, options):
    with MockCatalog() as mock:

        def around(_faithful, _state, _call):
            raise Problem(403, "ForbiddenException", "Only below bronze, silver and gold")

        wrap(mock.registries, "createTable", around)
        result = icecheck("run", mock.uri, "--only", "checks", *options, "--output", str(tmp_path))
    assert result.exit_code == 4, result.output
    assert "--namespace" in result.output
