"""A finished run, rendered: every format is a module with ``render(run) -> str``."""
