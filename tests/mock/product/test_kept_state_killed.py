"""A server is killed at random moments; its successor has what was acknowledged, whole or not."""

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from tests.mock.product.test_kept_state import SCHEMA, view_body

Content: TypeAlias = dict[tuple[str, ...], str]
"""What there is, by kind, namespace and name, with the property `n` that it had last."""

NAMESPACES = ("a", "b")
NAMES = {"table": ("t0", "t1", "t2"), "view": ("v0", "v1")}
COMMAND = [sys.executable, "-m", "icecheck", "serve", "--port", "0", "--quiet", "--state"]


class Step(NamedTuple):
    """A request that a faithful server accepts, and what there is after it."""

    method: str
    path: str
    body: dict[str, Any] | None
    after: Content


def steps(content: Content, n: str) -> Iterator[Step]:
    """Yield the requests that can be sent: whatever they touch has the property `n` then."""
    for space in NAMESPACES:
        key = ("namespace", space)
        path = f"namespaces/{space}"
        if key not in content:
            body = {"namespace": [space], "properties": {"n": n}}
            yield Step("POST", "namespaces", body, content | {key: n})
            continue
        body = {"updates": {"n": n}, "removals": []}
        yield Step("POST", f"{path}/properties", body, content | {key: n})
        if not any(each[0] != "namespace" and each[1] == space for each in content):
            yield Step("DELETE", path, None, without(content, key))
        for kind, names in NAMES.items():
            for name in names:
                yield from steps_of_object(content, (kind, space, name), n)
    tables = [each for each in content if each[0] == "table"]
    for one, other in pairwise(tables):
        changes = [
            {"identifier": {"namespace": [space], "name": name}, **commit(n)}
            for _, space, name in (one, other)
        ]
        after = content | {one: n, other: n}
        yield Step("POST", "transactions/commit", {"table-changes": changes}, after)


def steps_of_object(content: Content, key: tuple[str, str, str], n: str) -> Iterator[Step]:
    """Yield the requests about a table or view, or the one that makes it."""
    kind, space, name = key
    path = f"namespaces/{space}/{kind}s"
    if key not in content:
        table = {"name": name, "schema": SCHEMA, "properties": {"n": n}}
        body = table if kind == "table" else view_body(name) | {"properties": {"n": n}}
        yield Step("POST", path, body, content | {key: n})
        return
    yield Step("POST", f"{path}/{name}", commit(n), content | {key: n})
    yield Step("DELETE", f"{path}/{name}", None, without(content, key))
    for other in NAMES[kind]:
        for home in NAMESPACES:
            if ("namespace", home) in content and (kind, home, other) not in content:
                ends = {
                    "source": {"namespace": [space], "name": name},
                    "destination": {"namespace": [home], "name": other},
                }
                after = without(content, key) | {(kind, home, other): content[key]}
                yield Step("POST", f"{kind}s/rename", ends, after)


def commit(n: str) -> dict[str, Any]:
    return {
        "requirements": [],
        "updates": [{"action": "set-properties", "updates": {"n": n}}],
    }


def without(content: Content, key: tuple[str, ...]) -> Content:
    return {each: n for each, n in content.items() if each != key}


def shown(root: Path) -> Content:
    """Return what the next server finds; it ends at once."""
    mock = MockCatalog(root=root, keep=True)
    found: Content = {}
    for (space,), entry in mock.state("wh").namespaces.after():
        found["namespace", space] = entry.properties["n"]
        for name, table in entry.tables.after():
            found["table", space, name] = table.metadata.properties["n"]
        for name, view in entry.views.after():
            found["view", space, name] = view.metadata.properties["n"]
    mock.stop()
    return found


def changed_until_killed(root: Path, content: Content, chance: random.Random) -> int:
    """Serve, send changes until the server is killed, and return how many were acknowledged.

    Its successor shows all of these, and of the request that got no answer everything or nothing.
    """
    process = subprocess.Popen([*COMMAND, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ready = process.stdout.readline()
    uri = ready.partition('"uri": "')[2].partition('"')[0]
    killed_at, after = chance.randrange(1, 40), content
    with httpx.Client(base_url=f"{uri}/v1/wh/", trust_env=False) as http:
        http.get(f"{uri}/v1/config", params={"warehouse": "wh"}).raise_for_status()
        for number in range(1000):
            if number == killed_at:
                threading.Timer(chance.random() / 50, process.kill).start()
            n = f"{killed_at}-{chance.random()}"
            method, path, body, after = chance.choice([*steps(content, n)])
            try:
                answer = http.request(method, path, json=body)
            except httpx.TransportError:
                break
            assert answer.is_success, answer.text
            content = after
    process.wait()
    process.stdout.close()
    assert shown(root) in (content, after)
    return number


@pytest.mark.parametrize(
    "times", [4, pytest.param(200, marks=pytest.mark.complete("more moments of the same"))]
)
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, times: int) -> None:
    chance = random.Random(times)  # noqa: S311 - the same requests each time
    done = [changed_until_killed(tmp_path, shown(tmp_path), chance) for _ in range(times)]
    assert all(done)
