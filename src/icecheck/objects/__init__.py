"""Tables, views and namespaces for checks: requests about them, and what their answers show."""
