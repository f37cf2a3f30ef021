"""The catalog under test: its address, what it offers, and how requests to it are built."""
