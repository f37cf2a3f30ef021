"""Ways in which answers go wrong, whatever they are about."""
