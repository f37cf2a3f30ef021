"""Ways in which lists and their pages go wrong."""
