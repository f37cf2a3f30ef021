"""``python -m icecheck``: the same command line as ``icecheck``."""

from icecheck.cli import main

if __name__ == "__main__":
    main(prog_name="icecheck")
