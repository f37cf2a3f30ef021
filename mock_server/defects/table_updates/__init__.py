"""Ways in which servers get the updates of a table wrong."""
