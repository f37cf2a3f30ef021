"""Requests sent by several clients at once, and what their answers contradict."""
