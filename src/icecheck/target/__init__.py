"""The catalog under test: where it is, what it offers, how it has to be addressed."""
