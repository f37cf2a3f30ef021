"""Canaries in every place that holds a secret, before a catalog that tells all it knows.

With ``ICECHECK_HOSTILE`` set every check is run, and every command meets every refusal.
"""

import json
import os
import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from tests.hostile.echoing import Echo, echoing
from tests.hostile.seen import Seen, expect_none

_LETTERS = string.ascii_letters + string.digits
_WHOLE = bool(os.environ.get("ICECHECK_HOSTILE"))
_FEW = ("*",) if _WHOLE else ("loadTable.succeeds", "listTables.all", "loadCredentials.*")
_REFUSALS = (307, 400, 401, 418, 500) if _WHOLE else (307,)


def canary(number: int) -> str:
    """A secret as random as real ones, with characters that every encoding writes otherwise."""
    drawn = random.Random(f"canary {number}")  # noqa: S311 - the same in every run
    head = "".join(drawn.choices(_LETTERS, k=14))
    return f"{head}+/{''.join(drawn.choices(_LETTERS, k=17))}"


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.fixture
def canaries() -> dict[str, str]:
    names = (
        "secret", "second-secret", "token", "second-token", "header", "dull-header", "told-header",
        "told-odd", "vended-odd", "vended-signer", "vended-sas", "signed-credential",
        "signed-signature", "key-id", "key", "session", "given-token", "given-second",
    )  # fmt: skip
    return {name: canary(number) for number, name in enumerate(names)}


@pytest.fixture
def echo(canaries: dict[str, str]) -> Iterator[Echo]:
    mock = MockCatalog(seed=1)
    known = Echo(
        tokens={"first": canaries["token"], "second": canaries["second-token"]},
        told={
            "header.X-Canary-Told": canaries["told-header"],
            "polaris.some.odd.setting": canaries["told-odd"],
        },
        vended={
            "s3.signer.token": canaries["vended-signer"],
            "my.company.thing": canaries["vended-odd"],
            "adls.sas-token.account": f"sv=2026&sig={canaries['vended-sas']}&se=2026-01-01",
        },
        signed=(canaries["signed-credential"], canaries["signed-signature"]),
    )
    with echoing(mock, known):
        yield known
    mock.stop()


def few(*options: str) -> list[str]:
    return [part for glob in _FEW for part in ("--check", glob)] + list(options)


def with_credentials(canaries: dict[str, str]) -> list[str]:
    return [
        "--credential", f"first:{canaries['secret']}",
        "--second-credential", f"second:{canaries['second-secret']}",
        "--header", f"X-Canary-Api-Key: {canaries['header']}",
        "--header", f"X-Canary-Mode: {canaries['dull-header']}",
    ]  # fmt: skip


def test_no_artefact_of_a_run_tells_a_secret(
    seen: Seen, echo: Echo, canaries: dict[str, str]
) -> None:
    access = with_credentials(canaries)
    foreseen = ("--expectations", "foreseen.toml", "--update-expectations") if _WHOLE else ()
    told = few("-v", "--output", "report", *foreseen)
    assert seen.run("icecheck", "run", echo.url, *access, *told) != 3
    if _WHOLE:
        seen.run("icecheck", "compare", "report", "report", "--format", "json")
    assert (seen.directory / "report" / "exchanges.jsonl.zst").stat().st_size > 1000
    given = ("secret", "second-secret", "token", "header", "dull-header", "told-odd")
    due = {canaries[name] for name in (*given, "vended-odd", "vended-signer", "signed-signature")}
    assert due <= echo.echoed
    expect_none(seen.leaks(canaries))


def test_no_signing_key_of_the_environment_is_told(
    seen: Seen, echo: Echo, canaries: dict[str, str]
) -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": canaries["key-id"].translate({43: "A", 47: "B"}),
        "AWS_SECRET_ACCESS_KEY": canaries["key"],
        "AWS_SESSION_TOKEN": canaries["session"],
    }
    scope = ("--sigv4", "eu-west-1/glue")
    chosen = few("--output", "report") if _WHOLE else ["--check", "listTables.all"]
    assert seen.run("icecheck", "run", echo.url, *scope, *chosen, **keys) != 3
    assert canaries["session"] in echo.echoed
    expect_none(seen.leaks(canaries | keys))


def test_no_command_tells_a_secret_when_the_catalog_refuses(
    seen: Seen, echo: Echo, canaries: dict[str, str]
) -> None:
    access = with_credentials(canaries)
    ledger = seen.directory / "ledger.jsonl"
    for refusing in _REFUSALS:
        echo.refusing = refusing
        seen.run("icecheck", "run", echo.url, "--warehouse", "w", *access, "--output", "report")
        seen.run("icecheck", "doctor", echo.url, "--warehouse", "w", *access)
    seen.run("icecheck", "plan", echo.url, *access, "--check", "getConfig.*")
    echo.refusing = 0
    seen.run("icecheck", "doctor", echo.url, *access)
    header = {"format": "icecheck-ledger/1", "owner": "icecheck_r1", "url": echo.url}
    entry = {"made": ["namespace", ["icecheck_r1_x"], ""]}
    lines = [header | {"warehouse": None, "prefix": None}, entry]
    ledger.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    seen.run("icecheck", "clean", echo.url, *access, "--ledger", str(ledger))
    expect_none(seen.leaks(canaries))


@pytest.mark.complete("the plugin writes the reports that the command writes")
def test_the_plugin_of_pytest_tells_no_secret(
    seen: Seen, echo: Echo, canaries: dict[str, str]
) -> None:
    access = [
        "--catalog-url", echo.url,
        "--catalog-credential", f"first:{canaries['secret']}",
        "--catalog-header", f"X-Canary-Mode: {canaries['dull-header']}",
    ]  # fmt: skip
    chosen = ["--pyargs", "icecheck.conformance"]
    if not _WHOLE:
        chosen = [
            "--pyargs",
            "icecheck.conformance.security.test_credentials",
            "-k",
            "test_load_credentials",
        ]
    report = ["--conformance-report", "report", "--junitxml", "pytest.xml", "--showlocals", "-rA"]
    report += ["-v", "--log-level=DEBUG"]
    seen.run("pytest", *chosen, *access, *report, "-p", "no:randomly", "-p", "no:cacheprovider")
    assert (seen.directory / "report" / "run.json").exists()
    expect_none(seen.leaks(canaries))
