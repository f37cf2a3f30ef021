"""The share of a run that is spent on checking answers by their schemas, and the cost of each."""

import time
from collections.abc import Callable
from typing import Any

import jsonschema_rs

from icecheck.findings.verdict import Group
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.replies.schema import SchemaJudge
from icecheck.run import runner as assembly
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target

CREDENTIAL = "bench:bench-secret"


class Stopwatch:
    """Adds up the CPU time spent inside a function, and how often it was called."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self._depth = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its CPU time added up; nested calls count once."""

        def timed(*given: Any, **named: Any) -> Any:
            self.calls += 1
            self._depth += 1
            begin = time.thread_time()
            try:
                return function(*given, **named)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.thread_time() - begin

        return timed


def main() -> None:
    passive, schemas, compiling = Stopwatch(), Stopwatch(), Stopwatch()
    assembly.observe = passive.around(assembly.observe)  # type: ignore[attr-defined]
    SchemaJudge.judge = schemas.around(SchemaJudge.judge)  # type: ignore[method-assign]
    jsonschema_rs.validator_for = compiling.around(jsonschema_rs.validator_for)
    client_id, _, secret = CREDENTIAL.partition(":")
    with MockCatalog(
        oauth2=OAuth2Settings(clients=(Client(client_id, secret),)),
        vending=VendingSettings(storage="s3"),
        warehouses=["bench"],
    ) as mock:
        target = Target(mock.uri, warehouse="bench", credential=CREDENTIAL)
        begin = time.process_time()
        run_checks(RunOptions(target, run_id="bench", groups=(Group.CHECKS,)))
        whole = time.process_time() - begin
    print(f"{'the checks and the mock':34} {whole:7.2f} s CPU")
    for name, watch in (
        ("everything passive", passive),
        ("of it, schemas", schemas),
        ("of it, compiling the schemas", compiling),
    ):
        share = watch.seconds / whole
        print(f"{name:34} {watch.seconds:7.2f} s  {share:6.1%}  {watch.calls:5} calls")


if __name__ == "__main__":
    main()
