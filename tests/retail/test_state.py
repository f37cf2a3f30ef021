"""The directory of a pipeline: what is remembered, and what it refuses to go on with."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from icecheck.spark_tests.pipeline.state import State
from icecheck.targets.target import UsageError

RUN: dict[str, Any] = {"scale": 0.1, "seed": 0, "catalog": "http://127.0.0.1:1", "warehouse": "wh"}


def opened(directory: Path, run_id: str = "new", **other: Any) -> State:
    return State.opened(directory, RUN | other, run_id)


def leave_query(directory: Path, query: str) -> None:
    (directory / "checkpoint").mkdir(parents=True, exist_ok=True)
    (directory / "checkpoint" / "metadata").write_text(json.dumps({"id": query}))


def begun(directory: Path) -> None:
    state = opened(directory, "first")
    leave_query(directory, "a query")
    state.add("day 1 bronze")
    state.close()


def test_a_new_directory_is_made_and_has_nothing_done(tmp_path: Path) -> None:
    state = opened(tmp_path / "deep" / "state")
    assert (state.run_id, state.resumed, state.has_begun) == ("new", False, False)
    assert not state.has("day 1 bronze")
    state.close()


def test_a_run_goes_on_with_its_own_id_and_what_is_done(tmp_path: Path) -> None:
    begun(tmp_path)
    state = opened(tmp_path)
    assert (state.run_id, state.resumed, state.has_begun) == ("first", True, True)
    assert state.has("day 1 bronze")
    assert not state.has("day 1 orders")
    state.close()


def test_a_run_whose_stream_alone_has_begun_has_begun(tmp_path: Path) -> None:
    state = opened(tmp_path)
    leave_query(tmp_path, "a query")
    assert state.has_begun
    state.close()


def test_a_directory_that_is_forgotten_can_be_used_again(tmp_path: Path) -> None:
    begun(tmp_path)
    state = opened(tmp_path)
    state.forget()
    state.close()
    again = opened(tmp_path, seed=1)
    assert (again.run_id, again.resumed, again.has_begun) == ("new", False, False)
    again.close()


@pytest.mark.parametrize(
    "other", [{"scale": 0.2}, {"seed": 1}, {"catalog": "http://127.0.0.1:2"}, {"warehouse": None}]
)
def test_another_run_is_refused_and_named(tmp_path: Path, other: dict[str, Any]) -> None:
    begun(tmp_path)
    [(name, value)] = other.items()
    with pytest.raises(UsageError, match=f"with {name} {RUN[name]}, and not {value}") as refused:
        opened(tmp_path, **other)
    assert "--state" in str(refused.value)
    opened(tmp_path).close()


def test_the_checkpoint_of_another_query_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    leave_query(tmp_path, "another query")
    with pytest.raises(UsageError, match="checkpoint of another query"):
        opened(tmp_path)


def test_a_lost_checkpoint_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "checkpoint" / "metadata").unlink()
    with pytest.raises(UsageError, match="lost its checkpoint"):
        opened(tmp_path)


def test_a_directory_with_other_files_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    leave_query(tmp_path, "somebody's")
    with pytest.raises(UsageError, match="no run of this command and holds checkpoint"):
        opened(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "icecheck-pipeline/9"}'])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pipeline.json").write_text(text)
    with pytest.raises(UsageError, match="is no file of this command"):
        opened(tmp_path)


def test_a_directory_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("no directory")
    with pytest.raises(UsageError, match="cannot be written"):
        opened(tmp_path / "note.txt" / "state")


def test_one_process_at_a_time_has_the_directory(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; "
        "from icecheck.spark_tests.pipeline.state import State; "
        f"State.opened(Path({str(tmp_path)!r}), {RUN!r}, 'theirs'); "
        "print('has it', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "has it\n"
    with pytest.raises(UsageError, match="another process has"):
        opened(tmp_path)
    holder.kill()
    holder.communicate()
    state = opened(tmp_path)
    assert state.run_id == "theirs"
    state.close()
