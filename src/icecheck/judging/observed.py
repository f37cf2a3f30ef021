"""What passive judgement has seen of each of its checks, while a run goes on."""

from dataclasses import dataclass, field

from icecheck.findings.verdict import Evidence, Finding
from icecheck.judging.evidence import evidence_from
from icecheck.wire.exchange import Exchange, Step, as_curl

_FINDINGS_MAX = 12


@dataclass(slots=True)
class Observed:
    """What passive judgement saw of one passive check: the number of answers, and the findings."""

    seen: int = 0
    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    evidence: Evidence | None = None

    def merge(self, other: "Observed") -> None:
        """Add the observations of another worker."""
        self.seen += other.seen
        for key, finding in other.findings.items():
            if len(self.findings) < _FINDINGS_MAX:
                self.findings.setdefault(key, finding)
        if other.evidence is not None and _shows_more(other.evidence.step, self.evidence):
            self.evidence = other.evidence

    def add(self, key: tuple[str, ...], finding: Finding, exchange: Exchange) -> None:
        """Add a finding; of several with one key the first is kept."""
        if len(self.findings) < _FINDINGS_MAX:
            self.findings.setdefault(key, finding)
        if _shows_more(exchange.step, self.evidence):
            self.evidence = evidence_from(exchange, as_curl(exchange))


def _shows_more(step: str, evidence: Evidence | None) -> bool:
    """Return whether an exchange replaces the evidence: a check's own request wins over others."""
    return evidence is None or step == Step.DO != evidence.step
