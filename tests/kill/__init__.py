"""Each check against the faithful mock and against the defects it must notice."""
