"""Each check against the faithful mock and against the defects that it must notice."""
