"""Ways in which servers create, load, move and drop tables wrongly."""
