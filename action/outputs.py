"""Writes the outputs of the action, and what there is to say without a report or a comparison."""

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

_WITHOUT_A_REPORT = {2: "usage", 3: "suite-error", 4: "target-unusable", 130: "interrupted"}
_SUITE_ERROR = 3
_CHARACTERS_MAX = 1_000
_IN_A_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


def main(work: Path, report: Path, code: int) -> None:
    """Tell what a run with this exit code has left in the directory of the step and in its report.

    The directory holds `log`, and where they apply: `reported`, `comparison.json`, `not-compared`
    (why there is no comparison), `no-baseline`.
    """
    outputs = {"verdict": "no-verdict", "exit-code": code, "report-path": "", "regressions": ""}
    if (work / "reported").exists():
        verdict = _read(report / "run.json")["verdict"]
        outputs |= {"verdict": verdict["status"], "exit-reason": verdict["exit_reason"]}
        outputs |= {"report-path": report}
    else:
        # An exit code of 0 without a report, as of `--help`, has verified nothing.
        outputs["exit-code"] = code = code or _SUITE_ERROR
        outputs["exit-reason"] = _WITHOUT_A_REPORT.get(code, "no-report")
        _tell_without_a_report(work, outputs["exit-reason"], code)
    if (work / "comparison.json").exists():
        changes = _read(work / "comparison.json")["changes"]
        outputs["regressions"] = sum(change["lost"] for change in changes)
    elif (work / "no-baseline").exists():
        _command("notice", "there is no baseline yet, so nothing was compared")
    elif (work / "not-compared").exists():
        _command("warning", _last_line(work / "not-compared") or "nothing could be compared")
    _write(outputs)


def _tell_without_a_report(work: Path, reason: str, code: int) -> None:
    said = _last_line(work / "log") or "the run has written no report"
    _command("error", said)
    # Indented text is shown as it is: nothing in it is Markdown.
    lines = [f"## icecheck: no report ({reason}, exit {code})", "", f"    {said}", ""]
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write("\n".join(lines))


def _command(kind: str, message: str) -> None:
    print(f"::{kind} title=icecheck::{message.translate(_IN_A_MESSAGE)}", flush=True)


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    said = [line for line in lines if line.strip()]
    printable = (c if c.isprintable() else " " for c in said[-1]) if said else ()
    return "".join(printable).strip()[:_CHARACTERS_MAX]


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _write(outputs: dict[str, object]) -> None:
    """Append the outputs, each between two lines that no value can foresee."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        for name, value in outputs.items():
            end = uuid.uuid4().hex
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
