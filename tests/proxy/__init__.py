"""The recording proxy: what it hands on, what it judges, and what it does not."""
