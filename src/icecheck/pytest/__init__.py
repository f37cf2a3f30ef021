"""The pytest plugin: options, fixtures, and checks as test items."""
