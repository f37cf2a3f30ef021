"""Reports of a finished run: every format is a module with ``render(run) -> str``."""
