"""`icecheck serve` as a process: ready in one line, stopped by a signal, nothing left behind."""

import json
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from tests.mock.objects.asking import Sender


def ready(process):
    line = process.stdout.readline()
    announced = json.loads(line)
    assert announced["event"] == "ready"
    assert announced["pid"] == process.pid
    return announced["uri"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_is_ready_and_stops_cleanly(start_icecheck, number):
    process = start_icecheck("serve", "--port", "0")
    uri = ready(process)
    answer = httpx.get(f"{uri}/v1/config", params={"warehouse": "any"}, trust_env=False)
    assert answer.status_code == 200
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (0, "")
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} 200 getConfig any \d+\.\d ms\n", stderr)


def test_it_tells_of_requests_as_it_is_asked_to(start_icecheck, tmp_path):
    for options, said in ((("--quiet",), ""), (("--log", "off"), ""), (("--log", "json"), "{")):
        process = start_icecheck(
            "serve", "--port", "0", *options, "--journal-file", tmp_path / "requests.jsonl"
        )
        httpx.get(f"{ready(process)}/v1/config", params={"warehouse": "w"}, trust_env=False)
        process.terminate()
        _, stderr = process.communicate(timeout=60)
        assert stderr[:1] == said
    assert json.loads(stderr)["operation"] == "getConfig"
    lines = (tmp_path / "requests.jsonl").read_text().splitlines()
    assert [json.loads(line)["warehouse"] for line in lines] == ["w"] * 3


def test_nobody_has_to_read_what_it_tells(start_icecheck):
    """A pipe that is not read is full after some hundred lines."""
    process = start_icecheck("serve", "--port", "0")
    with httpx.Client(base_url=ready(process), trust_env=False) as client:
        for number in range(2_000):
            assert client.get(f"/v1/{'n' * 90}{number}").status_code == 404
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_strict_fault_that_never_happens_is_an_error_at_the_end(start_icecheck):
    for strict, code in (("true", 1), ("false", 0)):
        fault = f"commit-conflict,table=db.t,strict={strict}"
        process = start_icecheck("serve", "--port", "0", "--fault", fault)
        ready(process)
        process.terminate()
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == code
        assert ("commit-conflict (f-1, 0 requests matched)" in stderr) == (code == 1)


def test_the_administration_is_where_it_is_said_to_be(start_icecheck):
    for options, statuses in (
        ((), (200, 200)), (("--no-admin",), (404, 404)), (("--admin-token", "boss"), (401, 200)),
    ):  # fmt: skip
        process = start_icecheck("serve", "--port", "0", *options)
        uri = f"{ready(process)}/_mock/v1/health"
        answers = [
            httpx.get(uri, headers=headers, trust_env=False)
            for headers in ({}, {"authorization": "Bearer boss"})
        ]
        assert tuple(answer.status_code for answer in answers) == statuses
        process.terminate()
        process.wait()


def test_its_options_reach_the_mock(start_icecheck, tmp_path):
    process = start_icecheck(
        "serve", "--port", "0", "--warehouse", "one", "--warehouse", "two=file:///tmp/elsewhere",
        "--token", "serve-token", "--seed", "5", "--root", tmp_path / "root",
        "--page-size-max", "2", "--ready-file", "ready.json",
    )  # fmt: skip
    uri = ready(process)
    assert json.loads((tmp_path / "ready.json").read_text())["uri"] == uri
    with httpx.Client(base_url=uri, trust_env=False) as client:
        assert client.get("/v1/config", params={"warehouse": "one"}).status_code == 401
        client.headers["Authorization"] = "Bearer serve-token"
        assert client.get("/v1/config", params={"warehouse": "none"}).status_code == 400
        for warehouse in ("one", "two"):
            config = client.get("/v1/config", params={"warehouse": warehouse}).json()
            prefix = config["overrides"]["prefix"]
            for name in ("a", "b", "c"):
                body = {"namespace": [name]}
                assert client.post(f"/v1/{prefix}/namespaces", json=body).status_code == 200
            page = client.get(f"/v1/{prefix}/namespaces", params={"pageToken": ""}).json()
            assert len(page["namespaces"]) == 2


@pytest.mark.parametrize("option", ["--root", "--state"])
def test_a_root_is_found_again_and_had_by_one_server_at_a_time(
    start_icecheck, icecheck, tmp_path, option
):
    body = {"name": "t", "schema": {"type": "struct", "fields": []}}
    for number in range(2):
        process = start_icecheck("serve", "--port", "0", option, tmp_path / "root")
        with httpx.Client(base_url=f"{ready(process)}/v1", trust_env=False) as client:
            assert client.post("/namespaces", json={"namespace": ["a"]}).is_success == (number == 0)
            assert client.get("/namespaces/a/tables/t").is_success == (number == 1)
            if number == 0:
                client.post("/namespaces/a/tables", json=body).raise_for_status()
        refused = icecheck("serve", "--port", "0", option, tmp_path / "root")
        assert refused.exit_code == 2
        assert len(refused.stderr.splitlines()) == 1
        assert f"process {process.pid}" in refused.stderr
        process.kill()
        process.wait()


def test_tables_lie_where_their_names_say_if_it_is_told_so(start_icecheck, tmp_path):
    root = ("--root", tmp_path / "root")
    process = start_icecheck("serve", "--port", "0", "--table-locations", "by-name", *root)
    body = {"name": "t", "schema": {"type": "struct", "fields": []}}
    with httpx.Client(base_url=f"{ready(process)}/v1", trust_env=False) as client:
        client.post("/namespaces", json={"namespace": ["a"]}).raise_for_status()
        made = client.post("/namespaces/a/tables", json=body).json()["metadata"]
    assert made["location"] == f"file://{tmp_path}/root/warehouse/a/t"


def test_it_starts_without_the_libraries_of_clients_and_of_the_suite():
    serve = ("icecheck", "serve", "--quiet", "--run", "--", sys.executable, "-c", "")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", *serve],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "uvicorn" in loaded
    assert {"httpx", "rich", "requests", "pyiceberg", "openapi_core", "yaml"} & loaded == set()


def test_tables_may_lie_where_it_is_told_to_allow_them(start_icecheck, tmp_path):
    process = start_icecheck("serve", "--port", "0", "--allow-location", f"file:{tmp_path}/mine")
    with httpx.Client(base_url=f"{ready(process)}/v1", trust_env=False) as client:
        client.post("/namespaces", json={"namespace": ["a"]}).raise_for_status()
        for place, status in (("mine", 200), ("other", 400)):
            location = f"file:{tmp_path}/{place}/t"
            body = {"name": "t", "schema": {"type": "struct", "fields": []}, "location": location}
            assert client.post("/namespaces/a/tables", json=body).status_code == status
            assert (tmp_path / place).exists() == (status == 200)


def test_it_has_the_defects_that_it_is_told_to_have(start_icecheck):
    process = start_icecheck(
        "serve", "--port", "0", "--defect", "namespace-drop-cascades", "--defect", "status-listV*"
    )
    with httpx.Client(base_url=ready(process), trust_env=False) as client:
        client.post("/v1/namespaces", json={"namespace": ["a"]}).raise_for_status()
        body = {"name": "t", "schema": {"type": "struct", "fields": []}}
        client.post("/v1/namespaces/a/tables", json=body).raise_for_status()
        assert client.get("/v1/namespaces/a/views").status_code in {202, 500}
        assert client.delete("/v1/namespaces/a").status_code == 204


def test_a_port_in_use_is_one_line(icecheck):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = icecheck("serve", "--port", port)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert f"127.0.0.1:{port}" in result.stderr


def test_a_ready_file_that_cannot_be_written_is_one_line(icecheck):
    result = icecheck("serve", "--port", "0", "--ready-file", "no/such/directory/ready")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "--ready-file" in result.stderr


def test_it_serves_clients_credentials_and_not_what_it_hides(start_icecheck):
    process = start_icecheck(
        "serve", "--port", "0", "--client", "one:first", "--client", "two:second:read,write",
        "--token-ttl", "60", "--vend", "gcs", "--hide", "listViews", "--hide", "loadView",
    )  # fmt: skip
    uri = ready(process)
    with httpx.Client(base_url=uri, trust_env=False) as client:
        assert client.get("/v1/config").status_code == 401
        for credential, scope in ((("one", "first"), "catalog"), (("two", "second"), "read write")):
            form = {"grant_type": "client_credentials"}
            answer = client.post("/v1/oauth/tokens", data=form, auth=credential).json()
            assert (answer["scope"], answer["expires_in"]) == (scope, 60)
        client.headers["Authorization"] = f"Bearer {answer['access_token']}"
        endpoints = client.get("/v1/config").json()["endpoints"]
        assert len(endpoints) == 28
        client.post("/v1/namespaces", json={"namespace": ["a"]})
        assert client.get("/v1/namespaces/a/views").status_code == 405
        schema = {"type": "struct", "fields": []}
        client.headers["X-Iceberg-Access-Delegation"] = "vended-credentials"
        body = {"name": "t", "schema": schema}
        created = client.post("/v1/namespaces/a/tables", json=body).json()
        assert "gcs.oauth2.token" in created["storage-credentials"][0]["config"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--client", "alone"), "--client number 1"),
        (("--client", "a:b", "--client", "a:c"), "only once"),
        (("--hide", "listview"), "listview"),
        (("--hide", "getConfig"), "getConfig"),
        (("--warehouse", "=file:///tmp/x"), "needs a name"),
        (("--warehouse", "wh=s3://My_Bucket/x"), "write s3://BUCKET or s3://BUCKET/PATH"),
        (("--warehouse", "wh=s3:///x"), "write s3://BUCKET or s3://BUCKET/PATH"),
        (("--warehouse", "wh=s3://lake/../x"), "can be . or .."),
        (("--defect", "namespace-drop-cascade"), "did you mean namespace-drop-cascades"),
        (("--defect", "qqq"), "icecheck list defects"),
        (
            ("--hide", "dropTable", "--defect", "drop-keeps-the-name"),
            "which is hidden",
        ),
        (("--defect", "keys-ignored-of-drops"), "only in a later document: see --spec"),
        (("--root", "/dev/null/x"), "/dev/null is no directory"),
        (("--root", "file://host/x"), "another host"),
        (("--allow-location", "s3://bucket/x"), "s3://bucket/x"),
        (("--allow-location", "file:x"), "file:x"),
        (("--allow-host", "http://mock:8181"), "without a port"),
        (("--journal-file", "no/such/directory/file"), "no/such/directory/file"),
        (("--fault", "throttled,tiems=3"), "takes no 'tiems'"),
        (("--seed-file", "no/such.yaml"), "no/such.yaml cannot be read"),
        (("--seed-file", "seed.txt"), "seed.txt"),
    ],
)
def test_options_that_mean_nothing_are_one_line(icecheck, options, said):
    result = icecheck("serve", "--port", "0", *options)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert said in result.stderr


def test_the_terminal_that_is_closed_ends_a_server_cleanly(start_icecheck, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start_icecheck("serve", "--port", "0")
    uri = ready(process)
    httpx.post(f"{uri}/v1/namespaces", json={"namespace": ["db"]}, trust_env=False)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert [*tmp_path.glob("icecheck-*")] == []


@pytest.mark.parametrize("place", ["s3://bucket/x", "memory://root"])
def test_a_state_that_cannot_be_kept_is_refused(icecheck, place):
    result = icecheck("serve", "--port", "0", "--state", place)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert place in result.stderr


def test_a_full_disk_is_told_once_and_stops_no_request(start_icecheck):
    process = start_icecheck("serve", "--port", "0", "--quiet", "--journal-file", "/dev/full")
    uri = ready(process)
    for name in ("a", "b"):
        answer = httpx.post(f"{uri}/v1/namespaces", json={"namespace": [name]}, trust_env=False)
        assert answer.status_code == 200
    process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr.count("/dev/full cannot be written")) == (0, 1)


def test_it_understands_what_is_said_to_the_test_fixture(start_icecheck, tmp_path, monkeypatch):
    monkeypatch.setenv("CATALOG_REST_PORT", "0")
    monkeypatch.setenv("CATALOG_URI", "jdbc:sqlite:/tmp/iceberg_catalog.db")
    monkeypatch.setenv("CATALOG_WAREHOUSE", f"file://{tmp_path}/place")
    process = start_icecheck("serve")
    uri = ready(process)
    httpx.post(f"{uri}/v1/namespaces", json={"namespace": ["a"]}, trust_env=False)
    body = {"name": "t", "schema": {"type": "struct", "fields": []}}
    made = httpx.post(f"{uri}/v1/namespaces/a/tables", json=body, trust_env=False).json()
    assert made["metadata-location"].startswith(f"file://{tmp_path}/place/")


def test_a_warehouse_in_an_object_store_is_served_with_it(start_icecheck):
    process = start_icecheck("serve", "--port", "0", "--warehouse", "wh=s3://lake/wh")
    with httpx.Client(base_url=f"{ready(process)}/v1/wh", trust_env=False) as http:
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        schema = {"type": "struct", "fields": []}
        asking = {"X-Iceberg-Access-Delegation": "vended-credentials"}
        table = {"name": "t", "schema": schema}
        made = http.post("/namespaces/ns/tables", json=table, headers=asking).json()
    config = made["config"]
    key = made["metadata-location"].removeprefix("s3://lake/")
    holder = Sender(
        config["s3.endpoint"],
        config["s3.access-key-id"],
        config["s3.secret-access-key"],
        config["s3.session-token"],
    )
    assert json.loads(holder.ask("GET", f"/lake/{key}").body) == made["metadata"]
    assert holder.ask("GET", "/lake").status == 403
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 0
