"""Judges one answer: expectations of its status and body, and its documented schema."""
