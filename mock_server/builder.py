"""The draft of the next metadata: lives for one commit."""


class Draft:
    """Mutable only in which frozen metadata it currently holds."""
