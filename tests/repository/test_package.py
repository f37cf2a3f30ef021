"""What the distributions hold: everything of the five folders, under exactly one name."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("conformance", "mock_server", "scenarios", "spark_tests", "reports")


def tracked(*folders):
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if line]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    # sdist first and the wheel from it, as a user's build would be made.
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return sdist, wheel


@pytest.fixture(scope="module")
def wheel_names(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        return wheel.namelist()


def test_the_wheel_adds_exactly_one_name(wheel_names):
    tops = {name.partition("/")[0] for name in wheel_names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"icecheck"}


def test_every_file_of_the_five_folders_is_in_the_wheel_once(wheel_names):
    expected = [f"icecheck/{path}" for path in tracked(*FOLDERS)]
    assert expected
    assert [e for e in expected if wheel_names.count(e) != 1] == []


def test_every_file_of_the_engine_is_in_the_wheel_once(wheel_names):
    links = {f"src/icecheck/{folder}" for folder in FOLDERS}
    expected = [p.removeprefix("src/") for p in tracked("src/icecheck") if p not in links]
    assert [e for e in expected if wheel_names.count(e) != 1] == []


def test_nothing_but_tracked_files_is_in_the_wheel(wheel_names):
    expected = {f"icecheck/{path}" for path in tracked(*FOLDERS)}
    expected |= {p.removeprefix("src/") for p in tracked("src/icecheck")}
    extra = [n for n in wheel_names if n not in expected and ".dist-info/" not in n]
    assert extra == [], "git add what is new, and remove what is not to be in the wheel"


def test_the_sdist_holds_tests_and_documents(distributions):
    with tarfile.open(distributions[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for path in ("README.md", "LICENSE", "conftest.py", "tests/repository/test_package.py"):
        assert path in names


def test_the_wheel_registers_the_command_and_the_plugin(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith("entry_points.txt"))
        entry_points = wheel.read(name).decode()
    assert "icecheck = icecheck.cli:main" in entry_points
    assert "icecheck = icecheck.pytest.plugin" in entry_points


def test_the_wheel_works_without_the_repository(distributions, tmp_path):
    with zipfile.ZipFile(distributions[1]) as wheel:
        wheel.extractall(tmp_path / "site")  # noqa: S202 - our own wheel
    code = (
        "import icecheck.conformance, icecheck.contract, icecheck.reports\n"
        "from icecheck.run.collect import collect\n"
        "from icecheck.contract import load\n"
        "from icecheck.findings.verdict import Group\n"
        "print(icecheck.conformance.__file__, len(collect([Group.CHECKS], load('1.10.0'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    home, count = done.stdout.split()
    assert home.startswith(str(tmp_path))
    assert int(count) > 50


def test_the_links_lead_to_the_folders():
    for folder in FOLDERS:
        link = ROOT / "src" / "icecheck" / folder
        assert link.is_symlink()
        assert link.resolve() == (ROOT / folder).resolve()
