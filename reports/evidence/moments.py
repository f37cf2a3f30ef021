"""Reads the times that reports state."""

from datetime import UTC, datetime


def moment(text: str) -> datetime:
    """Return the time of a text, in UTC; one without a zone is UTC. Raises ValueError for none."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
