"""Reads what a run.json and its exchanges tell of the session in which they were made."""

from collections.abc import Iterable, Mapping
from typing import Any

from icecheck.client.session import SessionSummary
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json


def stated_summary(document: Mapping[str, Any], exchanges: Iterable[Exchange]) -> SessionSummary:
    """Return what a report and its exchanges tell of the session, for the end of its run."""
    configs = (e for e in exchanges if e.operation == "getConfig" and e.status == 200)
    first = next(configs, None)
    try:
        config = read_json(first.response_body) if first is not None else {}
    except ValueError:
        config = {}
    safety, target = document["safety"], document["target"]
    return SessionSummary(
        config=config if isinstance(config, dict) else {},
        isolation=document["config"]["isolation"],
        owner=safety["namespace_prefix"],
        server_header=target["fingerprint"]["server_header"],
        requests=document["timing"]["requests"],
        latencies_ms={},
        created=safety["created"],
        deleted=safety["deleted"],
        residue=[str(each) for each in safety["residue"]],
        foreign=[],
    )
