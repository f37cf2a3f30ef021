"""A catalog that wants a certificate from its clients, and files that are none."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.targets.sources import from_pyiceberg, from_toml
from icecheck.targets.target import Target, UsageError
from tests.kit.serving import gateway
from tests.unit.access.certificates import Authority, Certified

FEW = ("--only", "checks", "--check", "getConfig.*", "--check", "loadTable.succeeds")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def catalog(authority: Authority) -> Iterator[str]:
    mock = MockCatalog(seed=1)
    with gateway(mock, lambda _: True, authority.demanding()) as url:
        yield url
    mock.stop()


def test_a_catalog_behind_mutual_tls_is_verified(
    icecheck, authority: Authority, catalog: str, tmp_path: Path
) -> None:
    mine = authority.certify("client")
    files = ("--ca-bundle", authority.bundle, "--client-cert", mine.cert, "--client-key", mine.key)
    result = icecheck("run", catalog, *files, *FEW, "--output", "out")
    assert result.exit_code == 0, result.output
    facts = json.loads((tmp_path / "out" / "run.json").read_text())["target"]
    assert facts["auth"]["client_certificate"] is True


def test_one_file_may_hold_both_and_be_named_in_a_file(
    icecheck, authority: Authority, catalog: str, tmp_path: Path
) -> None:
    mine = authority.certify("client")
    (tmp_path / "both.pem").write_bytes(mine.cert.read_bytes() + mine.key.read_bytes())
    text = f'[target]\nurl = "{catalog}"\nca-bundle = "{authority.bundle}"\n'
    (tmp_path / "icecheck.toml").write_text(f'{text}client-cert = "both.pem"\n')
    assert icecheck("run", *FEW).exit_code == 0


def test_without_a_certificate_one_line_says_what_is_missing(
    icecheck, authority: Authority, catalog: str
) -> None:
    result = icecheck("run", catalog, "--ca-bundle", authority.bundle, *FEW)
    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert "--client-cert" in result.stderr


def _missing(authority: Authority) -> Certified:
    return Certified(authority.bundle.with_name("missing.pem"), authority.bundle)


def _not_matching(authority: Authority) -> Certified:
    return Certified(authority.certify("client").cert, authority.certify("other").key)


def _with_a_password(authority: Authority) -> Certified:
    return authority.certify("client", b"secret")


def _no_pem(authority: Authority) -> Certified:
    path = authority.bundle.with_name("text.pem")
    path.write_text("nothing")
    return Certified(path, path)


@pytest.mark.parametrize("make", [_missing, _not_matching, _with_a_password, _no_pem])
def test_files_that_cannot_be_shown_are_one_line(icecheck, authority: Authority, make) -> None:
    files = make(authority)
    given = ("--client-cert", files.cert, "--client-key", files.key)
    result = icecheck("run", "https://localhost:1", *given, *FEW)
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1
    assert str(files.cert) in result.stderr


def test_a_key_without_a_certificate_is_misuse() -> None:
    with pytest.raises(UsageError, match="--client-cert"):
        Target("https://c", client_key="k.pem")


def test_pyicebergs_settings_and_ours_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    text = "catalog:\n  mine:\n    uri: https://c\n    ssl:\n      cabundle: a.pem\n"
    client = "      client:\n        cert: c.pem\n        key: k.pem\n"
    (tmp_path / ".pyiceberg.yaml").write_text(text + client)
    due = {"client_cert": "c.pem", "client_key": "k.pem", "ca_bundle": "a.pem"}
    assert from_pyiceberg("mine") == {"url": "https://c", **due}
    ours = '[target]\nclient-cert = "c.pem"\nclient-key = "k.pem"\nca-bundle = "a.pem"\n'
    assert from_toml(ours, "f") == due
