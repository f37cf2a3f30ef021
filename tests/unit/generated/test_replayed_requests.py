"""Drawn requests that failed are sent again from replay files, and nothing else of them is."""

import json

import pytest

from icecheck.conformance.fuzzed import test_fuzzed as fuzzed
from icecheck.conformance.fuzzed.replaying import OPERATION_OF, body_in, to_json
from icecheck.conformance.generated.sample_values import TABLE_LOCATION
from icecheck.findings.replay import Replay, Replays
from icecheck.judging.check import declaration_of
from icecheck.mock_server.defects import defects
from tests.kit.findings import told

CHECKS = {declaration_of(f).id: f for f in vars(fuzzed).values() if declaration_of(f) is not None}
ADDED = {"action": "set-properties", "updates": {"a": "1"}}


def replays(operation_id, steps, *, alone=True):
    return Replays.of(Replay(f"generated.{operation_id}.fuzzed", "1.10.0", steps), alone=alone)


def posted(sent, end):
    return [body for method, path, body in sent if method == "POST" and path.endswith(end)]


def test_every_check_of_drawn_requests_can_be_run_again():
    assert OPERATION_OF.keys() == CHECKS.keys()


@pytest.mark.parametrize("operation_id", ["createNamespace", "updateTable", "replaceView"])
def test_a_finding_is_found_again_from_its_steps_and_gone_where_it_is_mended(
    operation_id, run_check, new_mock
):
    check = CHECKS[f"generated.{operation_id}.fuzzed"]

    def breaking():
        mock = new_mock()
        defects()[f"drawn-breakdown-{operation_id}"].install(mock.registries)
        return mock

    found, _ = run_check(check, mock=breaking())
    steps = found.findings[0].steps
    assert steps
    again, sent = run_check(check, mock=breaking(), replays=replays(operation_id, steps))
    assert told(again.findings[0]) == told(found.findings[0])
    assert again.findings[0].steps == steps
    assert len(sent) < 40
    mended, _ = run_check(check, replays=replays(operation_id, steps))
    assert mended.outcome == "pass", mended.summary


def test_what_is_kept_is_sent_before_anything_is_drawn(run_check):
    body = {"requirements": [], "updates": [ADDED]}
    kept = replays("updateTable", to_json("updateTable", body), alone=False)
    check = CHECKS["generated.updateTable.fuzzed"]
    verdict, sent = run_check(check, replays=kept, fuzz_cases=0)
    assert verdict.outcome == "pass"
    assert any(b'"a":"1"' in body.replace(b" ", b"") for _, _, body in sent)
    _, more = run_check(check, replays=kept)
    assert len(more) > len(sent)


def test_a_request_that_cannot_be_sent_gives_no_verdict(run_check):
    """A catalog might take 7 for the name of a namespace, and that would be somebody else's."""
    steps = to_json("createNamespace", {"namespace": 7})
    assert steps
    check = CHECKS["generated.createNamespace.fuzzed"]
    verdict, sent = run_check(check, replays=replays("createNamespace", steps))
    assert verdict.outcome == "skip"
    assert not [body for body in posted(sent, "/namespaces") if b":7" in body.replace(b" ", b"")]


@pytest.mark.parametrize(
    "body",
    [
        {"location": "s3://theirs/table"},
        {"updates": [{"updates": {"write.data.path": "file:///theirs"}}]},
        {"a": f"{TABLE_LOCATION}/../theirs"},
        {"a": f"{TABLE_LOCATION}x/theirs"},
        {"a": f"{TABLE_LOCATION}/s3://theirs"},
        {"a": "..%2Ftheirs"},
        {"a/b": 1},
        "\\\\theirs",
        "\ud800",
    ],
)
def test_a_body_that_may_lead_elsewhere_is_neither_kept_nor_read(body):
    assert to_json("updateTable", body) == ""
    with pytest.raises(ValueError, match=r".+"):
        body_in("updateTable", json.dumps([["updateTable", [], [body]]]))


def test_a_body_of_many_levels_is_neither_kept_nor_read():
    deep = "[" * 200 + "]" * 200
    assert to_json("updateTable", json.loads(deep)) == ""
    with pytest.raises(ValueError, match="levels"):
        body_in("updateTable", f'[["updateTable", [], [{deep}]]]')


@pytest.mark.parametrize("place", ["", "/metadata/snap-9.avro"])
def test_what_lies_in_the_table_of_the_run_is_kept(place):
    body = {"updates": [{"snapshot": {"manifest-list": f"{TABLE_LOCATION}{place}"}}]}
    assert body_in("updateTable", to_json("updateTable", body)) == body
