"""The law behind the attacks: one module decides which files the mock touches, and all ask it."""

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import icecheck.mock_server
from tests.hostile.attacks import NAMING, WRITING, client, server
from tests.mock.limits.locations import ANY_SPELLING, TABLES, Ground

Send = Callable[[httpx.Client], object]

MOCK_SERVER = icecheck.mock_server.__path__[0]

ON_FILES = {"storage/files", "storage/places", "storage/root", "storage/state_file"}
"""The modules of the mock that touch files: the two that decide, the place of the root, and the
file there that keeps the names of tables."""

TYPES_ONLY = {"mock", "serving/kept_state", "core/journal", "serving/states"}
"""Those that hand paths of their starter on."""
OF_THE_STARTER = {
    "clients/connections",
    "core/journal_files",
    "serving/seed_files",
    "admin/ui/pages",
}
"""They find the jar that is installed here, write a journal and read a seed where the program says,
and read their own templates: no request names a file to them."""

# The law: no request makes the process open, make or remove a foreign file.

_EVENTS = ("open", "os.", "shutil.", "tempfile.")
_listening: list[list[tuple[str, str]]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for heard in _listening:
        if event.startswith(_EVENTS):
            heard.extend((event, str(each)) for each in arguments if isinstance(each, str | Path))


sys.addaudithook(_hear)  # it cannot be taken away again, and so hears nothing by itself


@contextmanager
def listening() -> Iterator[list[tuple[str, str]]]:
    """Every path that this process opens, makes, moves or removes within the block."""
    heard: list[tuple[str, str]] = []
    _listening.append(heard)
    try:
        yield heard
    finally:
        _listening.remove(heard)


def sent_to(name_it: Callable[[httpx.Client, str], None], location: str) -> Send:
    return lambda http: name_it(http, location)


def test_no_request_makes_the_process_touch_a_foreign_file(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    for spelling in ANY_SPELLING:
        location = ground.spelled(spelling, "/precious.metadata.json")
        sending = [sent_to(name_it, location) for name_it in NAMING]
        for send in (*sending, *(way(location) for way in WRITING.values())):
            with client(server(ground)) as http:
                with listening() as touched:
                    send(http)
                    http.post(f"{TABLES}/t/plan", json={"snapshot-id": 1})
                    http.delete(f"{TABLES}/t?purgeRequested=true")
                resolved = [(event, str(Path(path).resolve())) for event, path in touched]
            foreign = [each for each in resolved if Path(each[1]).is_relative_to(ground.foreign)]
            assert foreign == []


def test_no_other_module_of_the_mock_touches_files() -> None:
    touching = set()
    for module in Path(MOCK_SERVER).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            match node:
                case ast.Import(names=[*imported]):
                    names = {each.name.partition(".")[0] for each in imported}
                case ast.ImportFrom(module=str(source)):
                    names = {source.partition(".")[0]}
                case ast.Call(func=ast.Name(id="open")):
                    names = {"open"}
                case _:
                    continue
            if names & {"open", "os", "io.open", "pathlib", "shutil", "tempfile", "glob"}:
                touching.add(module.relative_to(MOCK_SERVER).with_suffix("").as_posix())
    assert touching == ON_FILES | TYPES_ONLY | OF_THE_STARTER


def test_only_the_files_of_a_server_make_paths_out_of_locations() -> None:
    users = {
        module.relative_to(MOCK_SERVER).with_suffix("").as_posix()
        for module in Path(MOCK_SERVER).rglob("*.py")
        if "local_path(" in module.read_text() or ".path_of(" in module.read_text()
    }
    assert users == ON_FILES - {"storage/state_file"}


def test_the_law_hears_what_the_process_touches(tmp_path: Path) -> None:
    with listening() as touched:
        (tmp_path / "made").mkdir()
        (tmp_path / "made" / "file").write_text("x")
        (tmp_path / "made" / "file").unlink()
    assert {event for event, _ in touched} >= {"os.mkdir", "open", "os.remove"}
