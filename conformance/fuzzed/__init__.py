"""Checks of drawn requests: schemathesis' fuzzing and our own strategies, judged and shrunk."""
