"""The options of a recorded run, for its replay."""

from collections.abc import Mapping
from typing import Any

from icecheck.findings.verdict import Group
from icecheck.run.options import RunOptions
from icecheck.run.releases.demands import release_to_hold_to
from icecheck.targets.recorded import target_from
from icecheck.targets.target import UsageError
from icecheck.wire.redaction import Redactor


def options_from(document: Mapping[str, Any], secrets: Mapping[str, str]) -> RunOptions:
    """Return the options of the run that a run.json describes; its target is never spoken to.

    ``secrets`` stand for what its principals have shown. Raises UsageError for a report that does
    not say with which options it was run, or for a document that is not known here.
    """
    config = document["config"]
    facts = config.get("target")
    if not isinstance(facts, dict):
        raise UsageError("run.json does not say with which options it was run: run it again")
    kinds = facts.get("principals", {})
    own = kinds.get("own", "token")
    shown = {
        "own": secrets["credential" if own == "credential" else "token"],
        "second": _of_another("second", kinds, secrets),
        "reader": _of_another("reader", kinds, secrets),
        "headers": "<redacted:00000000>",
    }
    try:
        release = release_of(document)
        return RunOptions(
            target_from(facts, shown),
            str(document["run_id"]),
            int(config["seed"]),
            spec=release,
            groups=tuple(map(Group, config["groups"])),
            globs=tuple(map(str, config["globs"])),
            command=str(config["command"]),
            implementation=str(document["target"]["implementation"]["project"]),
            fail_fast=bool(config.get("fail_fast")),
            witnessed_only=bool(config["witnessed_only"]),
            redactor=Redactor(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"run.json does not say how it was run: {error!r}") from None


def release_of(document: Mapping[str, Any]) -> str:
    """Return the release to which a report's run held the catalog.

    Raises UsageError for one that is not known.
    """
    return release_to_hold_to(str(document["spec"]["id"]).rpartition("/")[2], "spec.id")


def _of_another(whose: str, kinds: Mapping[str, str], secrets: Mapping[str, str]) -> str:
    return f"{whose}:{secrets[whose]}" if kinds.get(whose) == "credential" else secrets[whose]
