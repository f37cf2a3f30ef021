"""A recording catalog: no request of any group names an object that is not the run's own."""

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
import pytest

from icecheck.findings.verdict import Group, Outcome, Run
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Given, Target
from tests.hostile.failing_catalogs.chaos import ADDRESS, TOKEN, WAREHOUSE, namespaces_on, new_mock
from tests.hostile.failing_catalogs.naming import OWNER, strays
from tests.kit.contracts import CONTRACT
from tests.kit.shares import JUDGES, in_shares, share, some

PARENT = "theirs"
ISOLATIONS = ("flat", "parent", "read-only")
GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
GIVEN = Given(("prod",), (("prod",), "orders"), (("prod",), "recent"))
# Spark looks for the metadata tables of a table in a namespace of the table's name.
BELOW_GIVEN = {"prod", "prod.orders", "prod\x1forders.snapshots"}


@dataclass
class Recording(httpx.BaseTransport):
    """Lets everything through, and keeps what was asked and what was answered."""

    inner: httpx.BaseTransport
    heard: list[tuple[httpx.Request, int]] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self.inner.handle_request(request)
        self.heard.append((request, answer.status_code))
        return answer


def recorded(isolation: str) -> tuple[Run, Recording, tuple[tuple[str, ...], ...]]:
    """Return such a run, made once of shares and once of everything."""
    return _recorded(isolation, JUDGES.get())


@cache
def _recorded(isolation: str, _judged: str) -> tuple[Run, Recording, tuple[tuple[str, ...], ...]]:
    """A run with four workers; a parent that was given, and what is read, is made before.

    Below a root of its own ("nested") everything bears the token anyway. Of the generated checks
    the usual command has a share.
    """
    checks = share(collect(GROUPS, CONTRACT), ISOLATIONS.index(isolation), 3)
    mock = new_mock()
    recording = Recording(mock.httpx_transport())
    target: dict[str, Any] = {"isolation": isolation}
    with httpx.Client(transport=recording.inner, base_url=f"{ADDRESS}/v1/{WAREHOUSE}") as theirs:
        theirs.headers["Authorization"] = f"Bearer {TOKEN}"
        # Neighbours whose names are more than the run's, or less.
        for name in (PARENT, "prod", OWNER[:-1], f"{OWNER}x", f"{OWNER}x_1", "icecheck"):
            theirs.post("/namespaces", json={"namespace": [name]}).raise_for_status()
        schema = {"type": "struct", "schema-id": 0, "fields": []}
        table = {"name": "orders", "schema": schema}
        theirs.post("/namespaces/prod/tables", json=table).raise_for_status()
    if isolation == "parent":
        target |= {"namespace": (PARENT,)}
    if isolation == "read-only":
        target = {"read_only": True, "given": Given(("prod",), (("prod",), "orders"))}
    before = tuple(namespaces_on(mock))
    run = run_checks(
        RunOptions(
            Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN, **target),
            run_id=OWNER.removeprefix("icecheck_"),
            groups=GROUPS,
            globs=tuple(check.id for check in checks),
            workers=4,
        ),
        transport=recording,
    )
    assert tuple(namespaces_on(mock)) == before
    mock.stop()
    return run, recording, before


@in_shares
@pytest.mark.parametrize("isolation", some(["flat", "parent"], 2))
def test_no_request_names_what_is_not_the_runs_own(isolation: str) -> None:
    run, recording, _ = recorded(isolation)
    assert len(recording.heard) > 2_000
    allowed = (PARENT,) if isolation == "parent" else ()
    wrong = [
        f"{request.method} {request.url} {stray} -> {status}"
        for request, status in recording.heard
        for stray in strays(str(request.url), request.content)
        if stray not in allowed
    ]
    assert wrong == []
    assert run.facts["safety"]["touched_foreign"] == []
    assert {v.group for v in run.verdicts} == set(GROUPS)


@in_shares
def test_a_run_that_may_only_read_names_what_was_given_besides() -> None:
    run, recording, _ = recorded("read-only")
    wrong = [
        f"{request.method} {request.url} {stray}"
        for request, status in recording.heard
        for stray in strays(str(request.url), request.content)
        if stray not in BELOW_GIVEN
    ]
    assert wrong == []
    assert any(v.outcome is Outcome.PASS for v in run.verdicts)


def test_the_recording_notices_a_stray() -> None:
    for url, body in (
        ("/v1/p/namespaces/prod", None),
        (f"/v1/p/namespaces/{OWNER}x", None),
        ("/v1/p/namespaces/prod/tables/orders", None),
        ("/v1/p/namespaces?parent=prod", None),
        ("/v1/p/namespaces", {"namespace": ["prod"], "properties": {}}),
        ("/v1/p/tables/rename", {"source": {"namespace": ["prod"], "name": "orders"}}),
        ("/v1/p/transactions/commit", {"table-changes": [{"identifier":
            {"namespace": ["prod"], "name": "orders"}}]}),
    ):  # fmt: skip
        assert strays(f"http://m{url}", json.dumps(body).encode()), (url, body)
