"""Ways in which servers mangle names, mix them up, or remember them for too long."""
