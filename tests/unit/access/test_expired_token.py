"""A token that had ended before the run: one line, also where the config is open to everybody."""

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.security.bearer_tokens import is_at


def opened(registries: Registries, operation_id: str) -> None:
    faithful = registries.gates["authorization"]

    def gate(request, security):
        return None if is_at(request, operation_id) else faithful(request, security)

    registries.gates["authorization"] = gate


@pytest.mark.parametrize("config_is_open", [True, False])
def test_an_expired_token_is_one_line_and_no_verdict(icecheck, config_is_open):
    with MockCatalog(token="good-token") as mock:
        if config_is_open:
            opened(mock.registries, "getConfig")
        result = icecheck("run", mock.uri, "--token", "expired-token-1", "--only", "checks")
    assert result.exit_code == 4
    assert len(result.stderr.splitlines()) == 1
    assert "--token" in result.stderr
    assert "expired-token-1" not in result.output


def test_a_catalog_that_only_refuses_writing_so_is_judged(icecheck):
    with MockCatalog(token="good-token") as mock:
        opened(mock.registries, "listNamespaces")
        opened(mock.registries, "getConfig")
        few = ("--only", "checks", "--check", "createNamespace.created")
        result = icecheck("run", mock.uri, "--token", "other", *few)
    assert result.exit_code == 1
