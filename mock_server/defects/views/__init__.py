"""Ways in which servers mishandle views."""
