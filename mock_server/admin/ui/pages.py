"""The pages below `/_mock/ui`, made on the server; they work without script, by forms and links."""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from icecheck.mock_server.admin.declared import Parts, Refusal, no_such
from icecheck.mock_server.admin.warehouses import warehouse_named, warehouse_shown
from icecheck.mock_server.core.journal_entry import JournalEntry
from icecheck.mock_server.core.journal_files import entry_document
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.switching import UnknownDefect
from icecheck.mock_server.metadata.encoding import to_builtins
from icecheck.mock_server.protocol.names import NAMESPACE_SEPARATOR
from icecheck.mock_server.protocol.wire import Reply, Request
from icecheck.mock_server.serving.fault_rules import PRESETS, UnknownFault, rule_of

ROOT = "/_mock/ui"
_REQUESTS_SHOWN = 50
_FORM_BYTES_MAX = 64_000
_TEMPLATES = Path(__file__).parent / "templates"


def page(parts: Parts, request: Request) -> Reply:
    """Answer a request below `ROOT`; Refusal for what is not there."""
    name = request.raw_path.removeprefix(ROOT).strip("/")
    values = _pairs(request.query_string)
    if request.method == "POST":
        act = _ACTS.get(name)
        if act is None:
            raise Refusal(404, "There is no such page")
        return _done(act, parts, _form(request))
    show = _SHOWS.get(name)
    if show is None or request.method not in ("GET", "HEAD"):
        raise Refusal(404, "There is no such page")
    return show(parts, values)


def _done(act: Callable[[Parts, Mapping[str, str]], None], parts: Parts, form: Any) -> Reply:
    """Do what a form asks for, and lead back to the first page, which tells of a mistake."""
    told = ""
    try:
        act(parts, form)
    except (UnknownFault, UnknownDefect, Refusal) as error:
        told = f"?{urlencode({'told': str(error)})}"
    return Reply(303, (("location", f"{ROOT}{told}"),))


def _overview(parts: Parts, values: Mapping[str, str]) -> Reply:
    return _rendered(
        "overview.html",
        parts,
        told=values.get("told", ""),
        warehouses=[warehouse_shown(each) for each in parts.warehouses.known()],
        faults=parts.faults.rules,
        presets={name: preset.words for name, preset in PRESETS.items()},
        operations=sorted(parts.registries.operations),
        gates=parts.gates.all(),
        active=[(name, defects()[name].title) for name in parts.defects.active],
        defects=defects(),
        entries=_latest(parts),
    )


def _journal(parts: Parts, _values: Mapping[str, str]) -> Reply:
    """Return only the rows of the journal, which the first page fetches again and again."""
    return _rendered("journal.html", parts, entries=_latest(parts))


def _one_request(parts: Parts, values: Mapping[str, str]) -> Reply:
    for entry in parts.journal.find():
        if str(entry.sequence) == values.get("sequence"):
            return _rendered("request.html", parts, entry=entry_document(entry))
    raise no_such("request", values.get("sequence", ""))


def _one_warehouse(parts: Parts, values: Mapping[str, str]) -> Reply:
    warehouse = warehouse_named(parts, values.get("warehouse", ""))
    namespaces = [
        {
            "name": ".".join(levels),
            "key": NAMESPACE_SEPARATOR.join(levels),
            "properties": entry.properties,
            "tables": [name for name, _ in entry.tables.after()],
            "views": [name for name, _ in entry.views.after()],
        }
        for levels, entry in warehouse.state.namespaces.after()
    ]
    return _rendered("warehouse.html", parts, warehouse=warehouse.name, namespaces=namespaces)


def _one_table(parts: Parts, values: Mapping[str, str]) -> Reply:
    namespace = tuple(values.get("namespace", "").split(NAMESPACE_SEPARATOR))
    name = values.get("name", "")
    warehouse = warehouse_named(parts, values.get("warehouse", ""))
    entry = warehouse.state.table(namespace, name)
    if entry is None:
        raise no_such("table", ".".join((*namespace, name)))
    metadata = to_builtins(entry.metadata)
    current = next(
        each for each in metadata["schemas"] if each["schema-id"] == metadata["current-schema-id"]
    )
    return _rendered(
        "table.html",
        parts,
        warehouse=warehouse.name,
        name=".".join((*namespace, name)),
        location=entry.metadata_location,
        metadata=metadata,
        schema=current,
        snapshots=[*reversed(metadata.get("snapshots", ()))],
    )


def _add_fault(parts: Parts, form: Mapping[str, str]) -> None:
    settings = {key: value for key, value in form.items() if value and key != "fault"}
    parts.faults.add(rule_of(form.get("fault", ""), settings, strict=False))


def _remove_fault(parts: Parts, form: Mapping[str, str]) -> None:
    rule = parts.faults.get(form.get("id", ""))
    if rule is None:
        raise no_such("fault", form.get("id", ""))
    parts.faults.remove(rule)


def _release_gate(parts: Parts, form: Mapping[str, str]) -> None:
    gate = parts.gates.get(form.get("id", ""))
    if gate is None:
        raise no_such("gate", form.get("id", ""))
    parts.gates.remove(gate)


def _switch_on(parts: Parts, form: Mapping[str, str]) -> None:
    parts.defects.switch_on(form.get("name", ""))


def _switch_off(parts: Parts, form: Mapping[str, str]) -> None:
    parts.defects.switch_off(form.get("name", ""))


_SHOWS: Mapping[str, Callable[[Parts, Mapping[str, str]], Reply]] = {
    "": _overview,
    "journal": _journal,
    "request": _one_request,
    "warehouse": _one_warehouse,
    "table": _one_table,
}
_ACTS: Mapping[str, Callable[[Parts, Mapping[str, str]], None]] = {
    "faults/add": _add_fault,
    "faults/remove": _remove_fault,
    "gates/open": _release_gate,
    "defects/on": _switch_on,
    "defects/off": _switch_off,
}


def _latest(parts: Parts) -> list[dict[str, Any]]:
    found = parts.journal.find()[-_REQUESTS_SHOWN:]
    return [_row(entry) for entry in reversed(found)]


def _row(entry: JournalEntry) -> dict[str, Any]:
    return {
        "sequence": entry.sequence,
        "time": _clock_time(entry.time_ms),
        "what": entry.operation or f"{entry.method} {entry.path[:80]}",
        "about": ".".join((*entry.namespace, *([entry.name] if entry.name else ()))),
        "warehouse": entry.warehouse,
        "status": entry.status if entry.answered else "no answer",
        "wrong": entry.status >= 400 or not entry.answered,
        "milliseconds": f"{entry.duration_us / 1000:.1f}",
        "fault": entry.fault,
    }


def _form(request: Request) -> Mapping[str, str]:
    given = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if given != "application/x-www-form-urlencoded" or len(request.body) > _FORM_BYTES_MAX:
        raise Refusal(415, "A page here sends small forms only")
    return _pairs(request.body.decode("latin-1"))


def _pairs(text: str) -> Mapping[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise Refusal(400, "The query or form cannot be read") from None


def _rendered(template: str, parts: Parts, **values: Any) -> Reply:
    from icecheck import __version__

    nonce = secrets.token_urlsafe(16)
    text = (
        _environment()
        .get_template(template)
        .render(root=ROOT, nonce=nonce, uri=parts.uri, version=__version__, **values)
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    )
    headers = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("cache-control", "no-store"),
        # Without a referrer, a browser says of a form that it comes from nowhere.
        ("referrer-policy", "same-origin"),
    )
    return Reply(200, headers, text.encode())


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ModuleNotFoundError:
        from icecheck.installing import install_command

        raise Refusal(409, f"The page needs jinja2: {install_command('ui')}") from None
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["moment"] = _moment
    made.filters["part"] = lambda text: quote(str(text), safe="")
    return made


def _moment(time_ms: int) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{time_ms} ms"


def _clock_time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%H:%M:%S")
