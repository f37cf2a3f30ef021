"""Runs action.yml as a runner of GitHub does; steps that use other actions are recorded."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROGRAMS = str(Path(sys.executable).parent)

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_NOT_EMPTY = re.compile(r"([\w.-]+) != ''")
_COMMAND = re.compile(r"::([a-z-]+)( [^:]*)?::(.*)")
_KEPT = ("PATH", "PYTHONPATH", "HOME", "TMPDIR", "LANG")


def action():
    """Return action.yml as data."""
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@dataclass
class Done:
    """What a job was seen to do: the code of the step that failed, what each step gave and said."""

    code: int = 0
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    @property
    def outputs(self):
        """The outputs of the action."""
        return {
            name: _put_in(output["value"], {}, self.steps)
            for name, output in action()["outputs"].items()
        }

    @property
    def commands(self):
        """The commands that the runner takes from the log, as (name, message)."""
        found, stopped = [], ""
        for line in self.log.splitlines():
            if stopped:
                stopped = "" if line.strip() == f"::{stopped}::" else stopped
            elif match := _COMMAND.match(line.strip()):
                if match[1] == "stop-commands":
                    stopped = match[3]
                else:
                    found.append((match[1], match[3]))
        return found


def run_action(workspace, inputs, *, programs=PROGRAMS, environment=(), timeout=120):
    """Run the steps in order until one fails.

    With ``programs`` icecheck is installed there, and the step that installs it is left out.
    """
    known = action()["inputs"]
    assert set(inputs) <= set(known), "action.yml has no such input"
    given = {name: str(row.get("default", "")) for name, row in known.items()} | inputs
    done = Done()
    if programs:
        done.steps["install"] = {"programs": str(programs)}
    for number, step in enumerate(action()["runs"]["steps"]):
        if step.get("id") in done.steps or not _holds(step.get("if", ""), given, done.steps):
            continue
        if "uses" in step:
            withs = step.get("with", {}).items()
            done.used[step["uses"]] = {k: _put_in(str(v), given, done.steps) for k, v in withs}
            continue
        done.code = _run_step(number, step, given, done, workspace, dict(environment), timeout)
        if done.code:
            break
    return done


def _run_step(number, step, given, done, workspace, environment, timeout):
    temporary = workspace.parent / f"{workspace.name}.runner"
    temporary.mkdir(exist_ok=True)
    script, output, summary = (temporary / f"{number}.{each}" for each in ("sh", "out", "md"))
    script.write_text(step["run"], encoding="utf-8")
    output.write_text("")
    summary.write_text("")
    env = {name: os.environ[name] for name in _KEPT if name in os.environ} | environment
    env |= {name: _put_in(value, given, done.steps) for name, value in step["env"].items()}
    env |= {
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(temporary),
    }
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=workspace / _put_in(step.get("working-directory", "."), given, done.steps),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    done.log += ran.stdout
    done.summary += summary.read_text(encoding="utf-8")
    if "id" in step:
        done.steps[step["id"]] = read_outputs(output.read_text(encoding="utf-8"))
    return ran.returncode


def read_outputs(text):
    """Return what a step wrote into GITHUB_OUTPUT, read by the runner's rules."""
    outputs = {}
    lines = iter(text.split("\n"))
    for line in lines:
        name, mark, rest = line.partition("=")
        if "<<" in line and "<<" not in rest:
            name, _, end = line.partition("<<")
            value = []
            for each in lines:
                if each == end:
                    break
                value.append(each)
            else:
                raise AssertionError(f"the value of {name} has no end")
            outputs[name] = "\n".join(value)
        elif mark:
            outputs[name] = rest
        else:
            assert line == "", f"no output: {line}"
    return outputs


def _put_in(text, given, steps):
    return _EXPRESSION.sub(lambda match: _value(match[1], given, steps), text)


def _value(name, given, steps):
    match name.split("."):
        case ["inputs", each]:
            return given[each]
        case ["steps", step, "outputs", each]:
            return steps.get(step, {}).get(each, "")
    raise AssertionError(f"an expression that these tests do not know: {name}")


def _holds(condition, given, steps):
    if not condition:
        return True
    inner = condition.removeprefix("${{").removesuffix("}}").strip()
    names = [_NOT_EMPTY.fullmatch(part.strip()) for part in inner.split("&&")]
    assert all(names), f"a condition that these tests do not know: {condition}"
    return all(_value(name[1], given, steps) != "" for name in names)
