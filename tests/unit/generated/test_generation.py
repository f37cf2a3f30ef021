"""The generated cases: what they are, and that they are the same everywhere."""

import os
import subprocess
import sys

import pytest

from icecheck.conformance.generated.flaws import Flaw, spots_in
from icecheck.conformance.generated.generation import cases_of
from icecheck.conformance.generated.sample_values import sampled_schemas, seeded
from icecheck.conformance.generated.test_generated import BODIES, OPERATIONS
from icecheck.contract import SPEC_VERSIONS, load
from icecheck.contract.releases import newest
from icecheck.replies.schema import schema_judge
from tests.kit.contracts import CONTRACT

NEWEST = load(newest(SPEC_VERSIONS))
DIGEST = """
import hashlib, itertools, sys
sys.path[:0] = [{folder!r}]
import {module}
from icecheck.client.catalog import Catalog
from icecheck.conformance.fuzzed.drawing import drawn
from icecheck.conformance.generated.generated_requests import judge_refused
from icecheck.conformance.generated.generation import cases_of
from icecheck.conformance.generated.test_generated import OPERATIONS
from icecheck.contract import DEFAULT_SPEC_VERSION, load
from icecheck.mock_server import MockCatalog
from icecheck.client.opening import open_session
from icecheck.targets.target import Target
order = {order}
CONTRACT = load(DEFAULT_SPEC_VERSION)
found = {{o: repr(cases_of(o, CONTRACT)) for o in order(OPERATIONS)}}
mock = MockCatalog(seed=1, clock=1_700_000_000_000, root="s3://icecheck-tests")
session = open_session(
    Target("http://catalog.invalid"), run_id="t1", seed=5, transport=mock.httpx_transport()
)
catalog = Catalog(session, "generated.updateTable.refused")
judge_refused(catalog, "updateTable")
sent = [(e.method, e.url, e.request_headers, e.request_body) for e in catalog.exchanges]
DRAWN = ("createTable", "updateTable", "planTableScan")
cases = {{o: repr([*itertools.islice(drawn(o, CONTRACT, 5), 9)]) for o in order(DRAWN)}}
sent += [cases[o] for o in DRAWN]
print(len(sent), hashlib.sha256(repr(([found[o] for o in OPERATIONS], sent)).encode()).hexdigest())
"""


def start(hash_seed, order, folder, work, module):
    script = DIGEST.format(order=order, folder=str(folder), module=module)
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment,
        cwd=work,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.complete("starts two processes; golden files of the usual command would change too")
def test_cases_and_requests_depend_neither_on_hashing_nor_on_order_nor_on_other_modules(tmp_path):
    modules, work = tmp_path / "modules", tmp_path / "work"
    modules.mkdir()
    work.mkdir()
    (modules / "few.py").write_text("")
    constants = [f"a{i} = {i * 977 + 101}\nb{i} = {i / 7 + 1}\nc{i} = 'text{i}'" for i in range(90)]
    (modules / "many.py").write_text("\n".join(constants))
    one = start("1", "list", modules, work, "few")
    other = start("2", "lambda o: list(reversed(o))", modules, work, "many")
    (said, _), (said_other, _) = one.communicate(), other.communicate()
    assert (one.returncode, other.returncode) == (0, 0)
    assert int(said.split()[0]) > 40
    assert said == said_other
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_operation_has_allowed_cases_which_our_validator_accepts(operation_id):
    allowed = [c for c in cases_of(operation_id, CONTRACT) if c.flaw is None]
    assert allowed
    for case in allowed:
        assert not case.has_body or schema_judge(CONTRACT).request_is_valid(operation_id, case.body)


@pytest.mark.parametrize("operation_id", BODIES)
def test_every_flawed_body_is_one_that_our_validator_refuses(operation_id):
    flawed = [c for c in cases_of(operation_id, CONTRACT) if c.flawed_part == "body" and c.has_body]
    assert len(flawed) > 10
    for case in flawed:
        if not case.cut_off:
            assert not schema_judge(CONTRACT).request_is_valid(operation_id, case.body), case


@pytest.mark.parametrize("operation_id", BODIES)
def test_each_body_comes_without_being_sent_and_cut_off(operation_id):
    unusable = [c for c in cases_of(operation_id, CONTRACT) if c.flaw is Flaw.UNUSABLE]
    assert any(not c.has_body for c in unusable)
    assert any(c.cut_off for c in unusable)


def test_no_case_carries_a_header_that_the_operation_does_not_name():
    for operation_id in OPERATIONS:
        parameters = CONTRACT.operations[operation_id].parameters
        known = {p.name.lower() for p in parameters if p.location == "header"}
        sent = {name.lower() for c in cases_of(operation_id, CONTRACT) for name, _ in c.headers}
        assert sent <= known


def test_commits_are_generated_for_every_update_and_every_requirement():
    cases = [c for c in cases_of("updateTable", CONTRACT) if c.flaw is None]
    updates = {u["action"] for c in cases for u in c.body["updates"]}
    requirements = {r["type"] for c in cases for r in c.body["requirements"]}
    assert updates == set(CONTRACT.table_updates)
    assert requirements == set(CONTRACT.table_assertions)


def test_a_flawed_commit_has_one_flawed_update_in_an_otherwise_usable_body():
    flawed = [
        c for c in cases_of("updateTable", CONTRACT) if c.flaw is Flaw.UNUSABLE and c.has_body
    ]
    what = "updates -> Array with invalid items: Missing required property: uuid"
    (case,) = [c for c in flawed if c.description.endswith(what)]
    assert case.body == {"requirements": [], "updates": [{"action": "assign-uuid"}]}


def test_the_samples_satisfy_the_schemas_they_stand_in():
    import jsonschema_rs

    document = seeded(CONTRACT.corrected(("repair", "strict")))
    for name, schema in document["components"]["schemas"].items():
        if "example" in schema:
            rooted = {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "components": document["components"],
                "$ref": f"#/components/schemas/{name}",
            }
            errors = [e.message for e in jsonschema_rs.iter_errors(rooted, schema["example"])]
            assert errors == [], name


def test_every_sample_is_of_a_schema_of_the_newest_document():
    assert sampled_schemas() <= NEWEST.raw["components"]["schemas"].keys()


def test_a_document_that_lacks_the_schema_of_a_sample_gets_the_others():
    document = NEWEST.corrected(("repair", "strict"))
    schemas = document["components"]["schemas"]
    older = {name: each for name, each in schemas.items() if name != "RemoveEncryptionKeyUpdate"}
    copied = seeded({**document, "components": {**document["components"], "schemas": older}})
    shown = {n for n, each in copied["components"]["schemas"].items() if "example" in each}
    assert shown >= sampled_schemas() - {"RemoveEncryptionKeyUpdate"}


@pytest.mark.parametrize("operation_id", BODIES)
def test_a_case_has_the_one_flaw_that_it_is_told_for(operation_id):
    operation = CONTRACT.operations[operation_id]
    for case in cases_of(operation_id, CONTRACT):
        # Such a case breaks what the schema says of members together.
        together = case.description == "Valid object"
        if case.flawed_part == "body" and case.has_body and not case.cut_off and not together:
            paths = {spot.path for spot in spots_in(operation, CONTRACT, case.body)}
            assert len(paths) <= 1, case.description


def test_a_spec_or_order_beside_another_flaw_is_over_columns_that_are_there():
    def sources(body):
        parts = [body.get(part) for part in ("partition-spec", "write-order")]
        listed = [part.get("fields") for part in parts if isinstance(part, dict)]
        fields = [field for each in listed if isinstance(each, list) for field in each]
        found = [field.get("source-id") for field in fields if isinstance(field, dict)]
        return {each for each in found if type(each) is int and each == 1}

    seen = 0
    for case in cases_of("createTable", CONTRACT):
        if not isinstance(case.body, dict) or "name" not in case.body:
            continue
        schema = case.body.get("schema")
        columns = schema.get("fields") if isinstance(schema, dict) else None
        known = [c.get("id") for c in columns if isinstance(c, dict)] if columns else []
        if 1 not in known:
            seen += 1
            assert sources(case.body) == set(), case.description
    assert seen > 20
