"""The options of a run: the target, the selection of checks, and how it proceeds."""

from dataclasses import dataclass, field
from pathlib import Path

from icecheck.contract import DEFAULT_SPEC_VERSION, Contract, contract_for
from icecheck.contract.frozen import RequirementSet
from icecheck.findings.expected_failures import Expectation
from icecheck.findings.replay import Replays
from icecheck.findings.verdict import Group
from icecheck.targets.target import Target
from icecheck.wire.redaction import Redactor


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how.

    ``globs`` select by check id, ``spark_options`` go to the launcher, ``ledger`` is the file in
    which every object of the run is recorded. Checks that the document of ``spec`` does not demand
    are skipped; ``spec_reason`` says why it was chosen, if the user did not name it. What older
    releases ``beside`` it say of the same answers is told too, and decides nothing.

    ``fail_fast`` ends the run at the first failure of a MUST check that is none of the
    ``foreseen``; the rest is skipped as excluded by the user. With several ``workers`` so many
    checks are judged at a time, each over its own connections; those with real clients one after
    the other. ``redactor`` is told every secret that comes up. ``replays`` are histories that
    checks run again. With a ``requirement_set`` the verdict is that of a frozen set: checks that it
    does not have are shown and not scored.
    """

    target: Target
    run_id: str
    seed: int = 0
    spec: str = DEFAULT_SPEC_VERSION
    spec_reason: str = ""
    beside: tuple[str, ...] = ()
    groups: tuple[Group, ...] = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
    globs: tuple[str, ...] = ()
    command: str = ""
    implementation: str = ""
    spark_options: dict[str, str] = field(default_factory=dict)
    ledger: Path | None = None
    fail_fast: bool = False
    witnessed_only: bool = False
    requirement_set: RequirementSet | None = None
    foreseen: tuple[Expectation, ...] = ()
    workers: int = 1
    redactor: Redactor = field(default_factory=Redactor, compare=False)
    replays: Replays = field(default_factory=Replays)

    @property
    def contract(self) -> Contract:
        """The contract that tells what the document of ``spec`` demands."""
        return contract_for(self.spec)
