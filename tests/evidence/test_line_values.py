"""What is read of a line of exchanges: exactly what it says, or a reason; in bounded memory."""

import tracemalloc
from pathlib import Path

import zstandard

from icecheck.reports.evidence import lines


def test_what_is_inflated_at_once_is_bounded(tmp_path: Path) -> None:
    """A quarter of a GiB of one character is some KiB in the file."""
    packer = zstandard.ZstdCompressor().compressobj()
    block = b"x" * (1 << 20)
    packed = [*(packer.compress(block) for _ in range(256)), packer.compress(b"\n")]
    content = b"".join([*packed, packer.flush()])
    assert len(content) < 1 << 16
    (tmp_path / "bomb.jsonl.zst").write_bytes(content)
    tracemalloc.start()
    try:
        ((line, peak),) = [
            (line, tracemalloc.get_traced_memory()[1])
            for line in lines.lines_of(f"file://{tmp_path}/bomb.jsonl.zst")
        ]
    finally:
        tracemalloc.stop()
    assert f"{256 << 20} bytes, more than 64 MiB" in line.problem
    assert len(line.content) == 200
    # The beginning of the line, once more while it is put together, and what was inflated at once.
    assert peak < 2 * lines.LINE_BYTES_MAX + (40 << 20)
