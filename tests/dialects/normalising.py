"""What was heard of a client as a recording: names and server-made values are placeholders."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.dialects.measuring import Needs, is_empty
from tests.dialects.recorder import WAREHOUSE, Heard, operation_of

KEPT_HEADERS = ("accept", "content-type", "x-iceberg-access-delegation", "if-none-match")
ASSUMED = ("format-version", "last-column-id", "current-schema-id", "default-spec-id")
"""What of a new table's metadata the requests that follow are built upon."""
_SNAPSHOT_ID_BASE = 3_051_729_675_574_597_000
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_LOCAL_APP = re.compile(r"local-\d+")
_NAME = re.compile(r"recorded_([a-z]+)")
_MADE_BY_THE_SERVER = {
    "table-uuid": ("metadata", "table-uuid"),
    "view-uuid": ("metadata", "view-uuid"),
    "location": ("metadata", "location"),
    "metadata-location": ("metadata-location",),
}


def recording(
    client: Mapping[str, Any],
    heard: Sequence[Heard],
    workflows: Mapping[str, str],
    needs: Needs,
) -> dict[str, Any]:
    """Return the recording as JSON: ``client`` says whose it is, ``workflows`` what each does.

    A needed member that the client did without where it was empty is noted at that request.
    """
    made = _made_by_the_server(heard)
    usual = Counter(tuple(_headers(each).items()) for each in heard).most_common(1)[0][0]
    written: dict[str, list[dict[str, Any]]] = {name: [] for name in workflows}
    last: Any = None
    for each in heard:
        row = _request(each, made, dict(usual))
        operation = row["operation"]
        empty = [p for o, p in sorted(needs.unless_empty) if o == operation]
        empty = [p for p in empty if each.status < 300 and is_empty(each.answer, p)]
        if empty:
            row["empty"] = empty
        steps = written[each.workflow]
        if not steps or steps[-1]["step"] != each.step:
            steps.append({"step": each.step, "requests": []})
            last = None
        if row == last and each.method in {"GET", "HEAD"}:
            continue  # asked again in the same breath: once is enough to know
        steps[-1]["requests"].append(row)
        last = row
    listed = [
        {"workflow": name, "does": does, "steps": written[name]} for name, does in workflows.items()
    ]
    return {
        **client,
        "headers": dict(usual),
        "needs": needs.members,
        "shrugs-off": [*needs.shrugs_off],
        "stops-at": needs.stops_at,
        "workflows": settled(listed),
    }


def settled(workflows: Any) -> Any:
    """Return workflows with what a client draws at random counted instead.

    Snapshot ids and UUIDs in names of files: so that recording again changes what has changed.
    """
    snapshots: dict[int, int] = {}
    uuids: dict[str, str] = {}

    def counted(match: re.Match[str]) -> str:
        return uuids.setdefault(match[0], f"00000000-0000-4000-8000-{len(uuids) + 1:012}")

    def walk(value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {k: walk(v, k) for k, v in value.items()}
            case list():
                return [walk(v) for v in value]
            case int() if key.endswith("snapshot-id"):
                return snapshots.setdefault(value, _SNAPSHOT_ID_BASE + len(snapshots) + 1)
            case str():
                drawn = _UUID.sub(counted, value)
                for drawn_id, number in snapshots.items():
                    drawn = drawn.replace(str(drawn_id), str(number))
                return drawn
            case _:
                return value

    return walk(workflows)


def text_of(recorded: Mapping[str, Any]) -> str:
    """Return a recording as JSON with one line for each request."""
    lines = json.dumps({**recorded, "workflows": []}, indent=1).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(' "workflows"'))
    rows = []
    for workflow in recorded["workflows"]:
        steps = [_step_text(step) for step in workflow["steps"]]
        head = json.dumps({k: v for k, v in workflow.items() if k != "steps"})[:-1]
        rows.append(f'  {head}, "steps": [\n' + ",\n".join(steps) + "\n  ]}")
    end = "," if lines[place].endswith(",") else ""
    lines[place] = ' "workflows": [\n' + ",\n".join(rows) + f"\n ]{end}"
    return "\n".join(lines) + "\n"


def _step_text(step: Mapping[str, Any]) -> str:
    requests = ",\n".join(f"    {json.dumps(request)}" for request in step["requests"])
    return f'   {{"step": {json.dumps(step["step"])}, "requests": [\n{requests}\n   ]}}'


def _headers(heard: Heard) -> dict[str, str]:
    return {name: heard.headers[name] for name in KEPT_HEADERS if name in heard.headers}


def _request(heard: Heard, made: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, Any]:
    operation, names = operation_of(heard)
    row: dict[str, Any] = {"operation": operation}
    if names:
        row["names"] = {kind: _NAME.sub(r"\1", name) for kind, name in names.items()}
    if heard.query:
        row["query"] = [[k, _replaced(v, made)] for k, v in heard.query]
    headers = _headers(heard)
    other = {k: headers.get(k, "") for k in {*headers, *usual} if headers.get(k) != usual.get(k)}
    if other:
        row["headers"] = dict(sorted(other.items()))
    if "idempotency-key" in heard.headers:
        row["keyed"] = True
    if heard.body is not None:
        row["body"] = _replaced(heard.body, made)
    row["answer"] = heard.status
    if operation == "createTable" and heard.status == 200:
        row["assumes"] = {name: heard.answer["metadata"].get(name) for name in ASSUMED}
    return row


def _made_by_the_server(heard: Iterable[Heard]) -> dict[str, str]:
    """Return value -> placeholder; the longest values first, for they contain each other."""
    found: dict[str, str] = {}
    for each in heard:
        if not isinstance(each.answer, dict) or "metadata" not in each.answer:
            continue
        names = operation_of(each)[1]
        name = names.get("table") or names.get("view") or each.body["name"]
        for what, path in _MADE_BY_THE_SERVER.items():
            value: Any = each.answer
            for part in path:
                value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, str):
                placeholder = "{" + _NAME.sub(r"\1", name) + ":" + what + "}"
                found.setdefault(value, placeholder)
                # As Hadoop writes it.
                found.setdefault(value.replace("file:///", "file:/"), placeholder)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _replaced(value: Any, made: Mapping[str, str], key: str = "") -> Any:
    match value:
        case dict():
            return {k: _replaced(v, made, k) for k, v in value.items()}
        case list():
            return [_replaced(v, made) for v in value]
        case int() if key == "timestamp-ms":
            return "{now}"
        case str() if key == "owner":
            return "somebody"
        case str():
            for text, placeholder in made.items():
                value = value.replace(text, placeholder)
            value = "{warehouse}" if value == WAREHOUSE else _LOCAL_APP.sub("local-1", value)
            return _NAME.sub(r"{\1}", value)
        case _:
            return value
