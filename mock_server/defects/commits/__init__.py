"""Ways in which servers get commits wrong as a whole: requirements, transactions, races."""
