"""Which reports a path stands for; that a path with credentials is refused, and says none."""

from pathlib import Path

import pytest

from icecheck.reports.evidence import files
from icecheck.reports.evidence.files import find
from icecheck.targets.target import UsageError

NAMES = ("r[1]/run.json", "r1/run.json", "r2/deep/run.json", "r2/e?.jsonl.zst", "r2/note.txt")


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("r[1]", ["r[1]/run.json"]),
        ("r[1]/run.json", ["r[1]/run.json"]),
        ("r[1]/*.json", ["r[1]/run.json"]),
        ("r[2]", ["r2/deep/run.json", "r2/e?.jsonl.zst"]),
        ("r2/e?.jsonl.zst", ["r2/e?.jsonl.zst"]),
        ("r?", ["r1/run.json", "r2/deep/run.json", "r2/e?.jsonl.zst"]),
        ("r*/*.json", ["r1/run.json", "r2/deep/run.json", "r[1]/run.json"]),
        (".", [*sorted(NAMES[:4])]),
    ],
)
def test_a_path_that_there_is_stands_for_itself_and_any_other_is_a_pattern(
    reports: Path, path: str, names: list[str]
) -> None:
    for given in (path, f"file://{reports}/{path}".removesuffix("/.")):
        found = [each.uri.removeprefix(f"file://{reports}/") for each in find([given])]
        assert sorted(found) == sorted(names)


@pytest.mark.parametrize(
    "path",
    [
        "s3://KEY:S3CRET@bucket/x",
        "s3://KEY:S3C/RET@bucket/x",
        "s3://S3CRET@bucket/x*",
        "S3://S3CRET@bucket/x",
        "hdfs://user:S3CRET@127.0.0.1:9/x",
        "abfss://:S3CRET@account.dfs.core.windows.net/x",
    ],
)
def test_credentials_in_a_path_are_refused_and_not_told(path: str) -> None:
    with pytest.raises(UsageError, match="environment") as refused:
        find([path])
    assert "S3C" not in str(refused.value)
    assert "KEY" not in str(refused.value)


def test_a_store_that_does_not_answer_is_waited_for_as_long_as_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "_RETRY_SECONDS", 1)
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="gs://bucket/x"):
        find(["gs://bucket/x"])
