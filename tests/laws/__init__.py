"""The laws that the repository enforces on itself (ARCHITECTURE.md)."""
