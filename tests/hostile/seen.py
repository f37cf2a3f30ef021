"""All that commands write and say, searched for secrets in every spelling."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import zstandard

from tests.mock.limits.spelling import traces


@dataclass(slots=True)
class Seen:
    """All that was written or said, by where; and the canaries that must not be in it."""

    directory: Path
    said: dict[str, bytes] = field(default_factory=dict)

    def run(self, *command: str, **environment: str) -> int:
        """Run a command in a process of its own and keep what it says; returns its exit code."""
        return self.end(self.start(*command, **environment))

    def start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a command in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=self.directory,
            env=_environment() | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def end(self, process: subprocess.Popen[bytes]) -> int:
        """Wait until a process ends and keep what it says; returns its exit code."""
        out, err = process.communicate(timeout=1200)
        name = f"{len(self.said)} process"
        self.said |= {f"{name} stdout": out, f"{name} stderr": err}
        assert b"Traceback" not in err, err.decode()
        return process.returncode

    def written(self) -> Iterator[tuple[str, bytes]]:
        """Yield all that there is to search, what is packed unpacked."""
        yield from self.said.items()
        for path in sorted(self.directory.rglob("*")):
            if not path.is_file() or path.name == "given.toml":
                continue
            content = path.read_bytes()
            if path.suffix == ".zst":
                content = zstandard.ZstdDecompressor().stream_reader(content).read()
            yield path.relative_to(self.directory).as_posix(), content
            yield path.name, path.name.encode()

    def leaks(self, canaries: dict[str, str]) -> list[str]:
        """Return where anything tells the beginning of a canary."""
        return self._found({name: traces(secret) for name, secret in canaries.items()})

    def leaks_with(self, *cores: str) -> list[str]:
        """Return where anything tells what secrets have in their middle."""
        return self._found({core: traces(core, len(core)) for core in cores})

    def _found(self, wanted: dict[str, Iterable[bytes]]) -> list[str]:
        found = []
        every = {name: [*dict.fromkeys(each)] for name, each in wanted.items()}
        for where, content in self.written():
            for name, searched in every.items():
                for trace in searched:
                    at = content.find(trace)
                    if at >= 0:
                        found.append(f"{where}: {name} in {content[max(at - 60, 0) : at + 40]!r}")
        return found


def expect_none(leaks: list[str]) -> None:
    if leaks:
        pytest.fail(f"{len(leaks)} leaks\n" + "\n".join(leaks[:200]), pytrace=False)


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "CATALOG_", "PYTEST"))}
    return kept | {"AWS_EC2_METADATA_DISABLED": "true", "NO_COLOR": "1", "COLUMNS": "120"}
