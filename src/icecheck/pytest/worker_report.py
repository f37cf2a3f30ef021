"""The report of a pytest process to the controlling one at its end: builtins, as xdist sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from icecheck.client.session import SessionSummary
from icecheck.findings.verdict import Evidence, Finding
from icecheck.judging.observed import Observed
from icecheck.run.finish import ProcessReport


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one worker of xdist, or the only process, knows beside the verdicts.

    ``asked`` are the ids of the checks that pytest selected. ``process`` is None if there was no
    session. ``misused``: there was none because of a mistake of the user.
    """

    asked: list[str]
    process: ProcessReport | None
    misused: bool = False

    def to_builtins(self) -> dict[str, Any]:
        """Return the report in builtins."""
        sent: dict[str, Any] = {"asked": self.asked, "misused": self.misused}
        if self.process is not None:
            sent["process"] = {
                "session": msgspec.to_builtins(self.process.session),
                "observed": _sent(self.process.observed),
                "observed_beside": {
                    version: _sent(found) for version, found in self.process.observed_beside.items()
                },
                "tripped": self.process.tripped,
                "unwritten": self.process.unwritten,
                "preflight": msgspec.to_builtins(self.process.preflight),
                "engine": self.process.engine,
            }
        return sent

    @classmethod
    def from_builtins(cls, sent: Mapping[str, Any]) -> "WorkerReport":
        """Read a report that ``to_builtins`` returned."""
        told = sent.get("process")
        process = None
        if told is not None:
            process = ProcessReport(
                msgspec.convert(told["session"], SessionSummary),
                _received(told["observed"]),
                told["tripped"],
                told["unwritten"],
                msgspec.convert(told["preflight"], tuple[Evidence, ...]),
                told["engine"],
                {version: _received(each) for version, each in told["observed_beside"].items()},
            )
        return cls([*sent["asked"]], process, sent["misused"])


def _sent(observed: Mapping[str, Observed]) -> dict[str, Any]:
    return {
        check: msgspec.to_builtins([seen.seen, list(seen.findings.items()), seen.evidence])
        for check, seen in observed.items()
    }


def _received(observed: Mapping[str, Any]) -> dict[str, Observed]:
    return {check: _observed(*seen) for check, seen in observed.items()}


def _observed(seen: int, findings: list[Any], evidence: Any) -> Observed:
    return Observed(
        seen=seen,
        findings={tuple(key): msgspec.convert(found, Finding) for key, found in findings},
        evidence=None if evidence is None else msgspec.convert(evidence, Evidence),
    )
