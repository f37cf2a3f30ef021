"""Ways in which servers mishandle namespaces."""
