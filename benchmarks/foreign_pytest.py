"""The cost of our pytest plugin in a run of other tests: CPU with it against without."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 9


def cpu_seconds(directory: str, *more: str) -> float:
    """Return the user and system seconds of one pytest run of one trivial test."""
    # Other plugins of this environment are disabled on both sides.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    process = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        cpu_seconds(directory)
        pairs = [
            (cpu_seconds(directory, "-p", "icecheck.pytest.plugin"), cpu_seconds(directory))
            for _ in range(ROUNDS)
        ]
    ratio = statistics.median(w / o for w, o in pairs)
    added = statistics.median((w - o) * 1000 for w, o in pairs)
    print(f"{ROUNDS} rounds: ratio {ratio:.3f}, {added:.0f} ms of CPU added")


if __name__ == "__main__":
    main()
