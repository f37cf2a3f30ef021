"""Settle the claim "this catalog speaks the Apache Iceberg REST protocol"."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Look the version up only when asked: reading package metadata costs start-up time."""
    if name == "__version__":
        from importlib.metadata import version

        return version("icecheck")
    raise AttributeError(name)
